// Filters of a wanted size in bytes, to put a payload right at, before and behind the borders of chunks and pages.
#pragma once

#include "support/kinds.h"
#include "support/random_hashes.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace bouncer::test {

inline constexpr std::uint64_t chunk_size = std::uint64_t{1} << 20;
inline constexpr std::uint64_t page_size = 4096;

// The largest filter of at most `bytes`, the smallest there is if none fits; its size divides by `factor`. Eight bits
// per key, so that a partitioned one, whose size is a multiple of them, can have a size that is a power of two. Kinds that
// are not of bits have no size in equal units: theirs is for a key in every three bytes.
template <class F>
typename F::parameters parameters_of_bytes(std::uint64_t bytes, std::uint64_t factor = 1) {
    if constexpr (!is_bit_filter<F>::value) {
        return F::solve({.keys = std::max<std::uint64_t>(1, bytes / 3), .false_positive_rate = 0.001})
            .value();
    } else {
        auto chosen = F::solve({.keys = 1'000, .false_positive_rate = 0.01}).value();
        if constexpr (requires { chosen.k; }) {
            if (!requires { chosen.form; }) chosen.k = 8;
        }
        // The size is in bits, which must be whole words after a fold as well, or in blocks or words.
        const std::uint64_t unit = F::layout_type::one_block ? factor : 64 * factor;
        size_parameter(chosen) = unit;
        const std::uint64_t unit_bytes = F::size_bytes_of(chosen);
        if (bytes > unit_bytes) size_parameter(chosen) = bytes / unit_bytes * unit;
        return chosen;
    }
}

// Filled to about a third of the bits, whatever the size.
template <class F>
F filled(const typename F::parameters& chosen, std::uint64_t stream = 1, const hash_spec* spec = nullptr) {
    filter_options options;
    if (spec != nullptr) options.hash = *spec;
    F out = F::create(chosen, options).value();
    out.add_batch(random_hashes(static_cast<std::size_t>(out.size_bytes() / 4 + 1), stream));
    return out;
}

template <class F>
F filled_of_bytes(std::uint64_t bytes, std::uint64_t stream = 1) {
    return filled<F>(parameters_of_bytes<F>(bytes), stream);
}

} // namespace bouncer::test
