// partitioned_bloom: k slices, one bit of each key in every slice. Its rate has a closed form that is exact for every
// size; it needs a little more space than the flat filter when small. docs/filters/partitioned_bloom.md
#pragma once

#include <bouncer/bloom.h>

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
                           public form_layout<slices, partitioned_bloom_parameters, "slice_bits", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<partitioned_layout, Words>;
    static constexpr std::uint16_t kind_id = 5;
    static constexpr std::uint16_t layout_version = 2;
    static constexpr std::string_view kind_name = "partitioned_bloom";

    using form_layout::form_layout;
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    result<parameters> folded(std::uint64_t factor) const;
};

} // namespace detail

template <class Words>
using basic_partitioned_bloom = bit_filter<detail::partitioned_layout, Words>;
using plain_partitioned_bloom = basic_partitioned_bloom<plain_words>;
using atomic_partitioned_bloom = basic_partitioned_bloom<atomic_words>;
using partitioned_bloom_view = basic_partitioned_bloom<const_words>;

} // namespace bouncer
