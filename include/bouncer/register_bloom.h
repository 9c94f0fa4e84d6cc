// register_bloom: all of a key's bits in one 64-bit word, so that one read-modify-write decides who added a key
// first. The price is space: 12 bits per key at 1 %, 24 at 0.1 %. docs/filters/register_bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/stored.h>

namespace bouncer {

// Explicit parameters: `words` 64-bit words, k bits per key from 1 to 8.
struct register_bloom_parameters {
    std::uint64_t words = 0;
    std::uint32_t k = 0;
    friend bool operator==(const register_bloom_parameters&, const register_bloom_parameters&) = default;
};

namespace detail {

class register_layout : public takes_any_hash,
                        public form_layout<registers, register_bloom_parameters, "words", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<register_layout, Words>;
    static constexpr std::uint16_t kind_id = 4;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "register_bloom";

    using form_layout::form_layout;
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    // Refuses a k that there was once (unknown_version).
    static result<void> check_stored(const std::uint64_t* fields);
    result<parameters> folded(std::uint64_t factor) const;
};

} // namespace detail

template <class Words>
using basic_register_bloom = bit_filter<detail::register_layout, Words>;
using plain_register_bloom = basic_register_bloom<plain_words>;
using atomic_register_bloom = basic_register_bloom<atomic_words>;
using register_bloom_view = basic_register_bloom<const_words>;

} // namespace bouncer
