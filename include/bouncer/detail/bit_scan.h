// What needs all the words of a filter, written once for every layout and every access. Words are read with relaxed
// atomic loads, so a scan may run while others add: it then sees each add wholly, partly or not yet.
#pragma once

#include <bouncer/estimate.h>
#include <bouncer/math.h>

#include <cstdint>
#include <span>

namespace bouncer::detail {

// One filter's words, or the union of two of equal geometry (`other` null: none). The bits lie block by block,
// within a block group by group, within a group sector by sector.
struct bit_source {
    const std::uint64_t* words;
    const std::uint64_t* other = nullptr;

    std::uint64_t load(std::uint64_t i) const noexcept {
        std::uint64_t bits = __atomic_load_n(words + i, __ATOMIC_RELAXED);
        if (other != nullptr) bits |= __atomic_load_n(other + i, __ATOMIC_RELAXED);
        return bits;
    }
};

// The fraction of bits that are set. O(m).
double fill_of(const math::geometry& shape, bit_source bits) noexcept;

// The probability that a uniformly random hash is answered "maybe", given these very bits. O(m).
double answer_rate(const math::geometry& shape, bit_source bits) noexcept;

// The number of keys behind a fill; its bias is below 0.03 % up to the design load. All bits set: infinity.
double keys_behind(const math::geometry& shape, double fill) noexcept;

// The same from `samples` words or blocks drawn with replacement by a generator seeded with `seed`.
estimate sampled_fill(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                      std::uint64_t seed) noexcept;
estimate sampled_answer_rate(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                             std::uint64_t seed) noexcept;
estimate sampled_keys(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                      std::uint64_t seed) noexcept;

// The number of keys that two filters have in common; infinity when every bit of their union is set. Precondition:
// both.other is not null.
double keys_in_common(const math::geometry& shape, bit_source both) noexcept;
estimate sampled_keys_in_common(const math::geometry& shape, bit_source both, std::uint32_t samples,
                                std::uint64_t seed) noexcept;

// Adds to the zeroed words of a filter of 1/factor of the size what the same keys would have made there: with
// multiply-high indexing, unit i of it is the OR of units factor*i .. factor*i+factor-1. A unit is a block, or a bit where
// the filter is one block. `from` is a part of the filter, from word `first` on; `to` is the folded one's word `to_first`.
// Precondition: the factor divides.
void fold_words(const math::geometry& shape, std::uint64_t factor, std::span<const std::uint64_t> from,
                std::uint64_t first, std::uint64_t* to, std::uint64_t to_first) noexcept;
// The first word of the folded filter that still lacks something when words 0 .. `done` - 1 have been folded.
std::uint64_t first_open_word(const math::geometry& shape, std::uint64_t factor, std::uint64_t done) noexcept;

bool equal_bits(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t words) noexcept;

} // namespace bouncer::detail
