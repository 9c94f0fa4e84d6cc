// The one list of kinds. Typed tests, benchmark rows and whatever else must know every kind read it from here.
#pragma once

#include <bouncer/binary_fuse.h>
#include <bouncer/blocked_bloom.h>
#include <bouncer/bloom.h>
#include <bouncer/cascade.h>
#include <bouncer/counting_bloom.h>
#include <bouncer/dcso_bloom.h>
#include <bouncer/detail/type_list.h>
#include <bouncer/fingerprint_set.h>
#include <bouncer/partitioned_bloom.h>
#include <bouncer/register_bloom.h>
#include <bouncer/ribbon.h>
#include <bouncer/scalable.h>
#include <bouncer/split_block_bloom.h>
#include <bouncer/stable_bloom.h>
#include <bouncer/windowed_bloom.h>
#include <bouncer/xor_filter.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace bouncer {

// The form of a kind for words of the caller's choice. Static kinds have two forms: the filter, which plain and atomic words
// both mean, and the view.
template <class F, class Words>
using in_access = typename F::template with_words<Words>;

// Every kind, with words of the caller's choice. A kind's id is never reused.
template <class Words>
using all_filters =
    type_list<basic_bloom<Words>, basic_blocked_bloom<Words>, basic_split_block_bloom<Words>,
              basic_register_bloom<Words>, basic_partitioned_bloom<Words>, basic_counting_bloom<Words>,
              basic_stable_bloom<Words>, basic_windowed_bloom<Words>, basic_scalable_bloom<Words>,
              in_access<xor_filter, Words>, in_access<binary_fuse, Words>, in_access<ribbon, Words>,
              in_access<cascade, Words>, in_access<fingerprint_set, Words>, basic_dcso_bloom<Words>>;

// [any-thread] visit.template operator()<F>() for every kind F.
template <class Words, class Visit>
constexpr void for_each_kind(Visit visit) {
    all_filters<Words>::for_each(visit);
}

struct kind_info {
    std::uint16_t id;
    std::string_view name;
};

namespace detail {

template <class... Kinds>
constexpr auto kinds_of(type_list<Kinds...>) noexcept {
    return std::array{kind_info{Kinds::kind_id, Kinds::kind_name}...};
}

} // namespace detail

// Ids and names of every kind, in the list's order.
inline constexpr auto all_kinds = detail::kinds_of(all_filters<plain_words>{});
static_assert(detail::distinct(all_kinds));

} // namespace bouncer
