// bloom: the flat Bloom filter. k bits anywhere in m: the least space of all Bloom layouts, and up to k cache lines
// per query. docs/filters/bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/stored.h>

namespace bouncer {

// Explicit parameters of a flat filter: m = `bits` (a multiple of 64), k from 1 to 64.
struct bloom_parameters {
    std::uint64_t bits = 0;
    std::uint32_t k = 0;
    friend bool operator==(const bloom_parameters&, const bloom_parameters&) = default;
};

namespace detail {

// Position i is fast_range(hash * step^i, m), all modulo 2^64: each is a full odd multiple of the hash. Two keys share j
// given positions about as rarely as if these were independent (measured, see docs/math.md). Sums of a few mixes were no cheaper
// and had fewer free numbers than positions: with three, two keys share all k with about 1/(m k)^3, and a partitioned filter
// of two keys at 10^-7 measured 5.7 times its rate.
// It takes hashes, not ids: 0 has one position k times over, a multiple of 2^58 has few. hash_key mixes an id.
// `step` is 3 modulo 8, so that its powers do not come back to 1 early. Two chains in turn, because a multiply takes four
// cycles and nothing else here does.
template <class Visit>
constexpr bool every_position(std::uint64_t hash, std::uint32_t k, Visit visit) noexcept {
    constexpr std::uint64_t step = position_multipliers[1];
    static_assert(step % 8 == 3);
    std::uint64_t x = hash;
    std::uint64_t next = hash * step;
    for (std::uint32_t i = 0; i < k; ++i) {
        if (!visit(i, x)) return false;
        const std::uint64_t after_next = x * (step * step);
        x = next;
        next = after_next;
    }
    return true;
}

class bloom_layout : public takes_any_hash,
                     public starts_empty,
                     public fields<bloom_parameters, "bits", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<bloom_layout, Words>;
    static constexpr std::uint16_t kind_id = 1;
    static constexpr std::uint16_t layout_version = 2;
    static constexpr std::string_view kind_name = "bloom";
    static constexpr std::uint32_t k_most = 64;
    static constexpr bool one_word = false;
    static constexpr bool one_block = false;
    static constexpr std::size_t words_per_key = k_most;

    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);

    explicit constexpr bloom_layout(const parameters& chosen) noexcept : params_(chosen) {}

    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.bits / 64; }
    std::uint64_t block_count() const noexcept { return 1; }
    math::geometry shape() const noexcept {
        return {.sector_bits = params_.bits, .bits_per_group = params_.k};
    }
    result<parameters> folded(std::uint64_t factor) const;

    // visit(word index, bits of that word) for each of the k positions, until it returns false.
    template <class Visit>
    constexpr bool every_word(std::uint64_t hash, Visit visit) const noexcept {
        return every_position(hash, params_.k, [&](std::uint32_t, std::uint64_t x) {
            const std::uint64_t position = fast_range(x, params_.bits);
            return visit(position / 64, std::uint64_t{1} << (position % 64));
        });
    }
    // visit(index of a word in the line) for every line that a query may read.
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        every_word(hash, [&](std::uint64_t word, std::uint64_t) { return visit(word), true; });
    }

  private:
    parameters params_;
};

} // namespace detail

template <class Words>
using basic_bloom = bit_filter<detail::bloom_layout, Words>;
using plain_bloom = basic_bloom<plain_words>;
using atomic_bloom = basic_bloom<atomic_words>;
using bloom_view = basic_bloom<const_words>;

} // namespace bouncer
