// bloom: the flat Bloom filter. k bits anywhere in m: the least space of all Bloom layouts, and up to k cache lines
// per query. docs/filters/bloom.md
#pragma once

#include <bouncer/bit_filter.h>
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

class bloom_layout : public takes_any_hash, public form_layout<flat, bloom_parameters, "bits", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<bloom_layout, Words>;
    static constexpr std::uint16_t kind_id = 1;
    static constexpr std::uint16_t layout_version = 2;
    static constexpr std::string_view kind_name = "bloom";

    using form_layout::form_layout;
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    result<parameters> folded(std::uint64_t factor) const;
};

} // namespace detail

template <class Words>
using basic_bloom = bit_filter<detail::bloom_layout, Words>;
using plain_bloom = basic_bloom<plain_words>;
using atomic_bloom = basic_bloom<atomic_words>;
using bloom_view = basic_bloom<const_words>;

} // namespace bouncer
