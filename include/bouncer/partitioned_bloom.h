// partitioned_bloom: k slices, one bit of each key in every slice. Its rate has a closed form that is exact for every
// size; it needs a little more space than the flat filter when small. docs/filters/partitioned_bloom.md
#pragma once

#include <bouncer/bloom.h>
#include <bouncer/detail/fields.h>

namespace bouncer {

// Explicit parameters: k slices (1 to 64) of `slice_bits` bits each (a multiple of 64).
struct partitioned_bloom_parameters {
    std::uint64_t slice_bits = 0;
    std::uint32_t k = 0;
    friend bool operator==(const partitioned_bloom_parameters&,
                           const partitioned_bloom_parameters&) = default;
};

namespace detail {

class partitioned_layout : public takes_any_hash,
                           public starts_empty,
                           public fields<partitioned_bloom_parameters, "slice_bits", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<partitioned_layout, Words>;
    static constexpr std::uint16_t kind_id = 5;
    static constexpr std::uint16_t layout_version = 2;
    static constexpr std::string_view kind_name = "partitioned_bloom";
    static constexpr std::uint32_t k_most = 64;
    static constexpr bool one_word = false;
    static constexpr bool one_block = false;
    static constexpr std::size_t words_per_key = k_most;

    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);

    explicit constexpr partitioned_layout(const parameters& chosen) noexcept : params_(chosen) {}

    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.slice_bits / 64 * params_.k; }
    std::uint64_t block_count() const noexcept { return 1; }
    math::geometry shape() const noexcept { return {.groups = params_.k, .sector_bits = params_.slice_bits}; }
    result<parameters> folded(std::uint64_t factor) const;

    template <class Visit>
    constexpr bool every_word(std::uint64_t hash, Visit visit) const noexcept {
        const std::uint64_t slice_words = params_.slice_bits / 64;
        return every_position(hash, params_.k, [&](std::uint32_t slice, std::uint64_t x) {
            const std::uint64_t position = fast_range(x, params_.slice_bits);
            return visit(slice * slice_words + position / 64, std::uint64_t{1} << (position % 64));
        });
    }
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        every_word(hash, [&](std::uint64_t word, std::uint64_t) { return visit(word), true; });
    }

  private:
    parameters params_;
};

} // namespace detail

template <class Words>
using basic_partitioned_bloom = bit_filter<detail::partitioned_layout, Words>;
using plain_partitioned_bloom = basic_partitioned_bloom<plain_words>;
using atomic_partitioned_bloom = basic_partitioned_bloom<atomic_words>;
using partitioned_bloom_view = basic_partitioned_bloom<const_words>;

} // namespace bouncer
