// Filters of a wanted size in bytes, to put a payload right at, before and behind the borders of chunks and pages.
#pragma once

#include "support/random_hashes.h"
#include "support/subject.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bouncer::test {

inline constexpr std::uint64_t chunk_size = std::uint64_t{1} << 20;
inline constexpr std::uint64_t page_size = 4096;

// The largest filter of at most `bytes`, the smallest there is if none fits; its size divides by `factor`. Eight bits
// per key, so that a partitioned one, whose size is a multiple of them, can have a size that is a power of two. Kinds that
// are not of bits have no size in equal units: theirs is for a key in every three bytes.
inline choice parameters_of_bytes(const kind& k, std::uint64_t bytes, std::uint64_t factor = 1) {
    if (!k.is.bits)
        return k.solve({.keys = std::max<std::uint64_t>(1, bytes / 3), .false_positive_rate = 0.001}).value();
    choice chosen = k.solve({.keys = 1'000, .false_positive_rate = 0.01}).value();
    const bool has_forms = k.with_form(chosen, 0).has_value();
    if (const auto with_eight = k.with_k(chosen, 8); with_eight && !has_forms) chosen = *with_eight;
    // The size is in bits, which must be whole words after a fold as well, or in blocks or words.
    const std::uint64_t unit = k.is.one_block ? factor : 64 * factor;
    chosen = k.with_size(chosen, unit);
    const std::uint64_t unit_bytes = k.size_bytes_of(chosen);
    return bytes > unit_bytes ? k.with_size(chosen, bytes / unit_bytes * unit) : chosen;
}

// Filled to about a third of the bits, whatever the size.
inline subject filled(const kind& k, const choice& chosen, std::uint64_t stream = 1,
                      const std::optional<hash_spec>& spec = std::nullopt) {
    subject out = k.create(chosen, {.hash = spec}).value();
    out.add_batch(random_hashes(static_cast<std::size_t>(out.size_bytes() / 4 + 1), stream));
    return out;
}

inline subject filled_of_bytes(const kind& k, std::uint64_t bytes, std::uint64_t stream = 1) {
    return filled(k, parameters_of_bytes(k, bytes), stream);
}

// What most tests of files take: the format is the same for every kind.
inline const kind& plain_bloom_kind() {
    return kind_named("bloom", words_access::plain);
}
inline const kind& atomic_bloom_kind() {
    return kind_named("bloom", words_access::atomic);
}

} // namespace bouncer::test
