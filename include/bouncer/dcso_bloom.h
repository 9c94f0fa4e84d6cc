// dcso_bloom: the flat filter of DCSO's Go program `bloom`, bit for bit: its words are those of a file of that program.
// For sets that others publish in that form; bloom is better in every other respect. docs/filters/dcso_bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/stored.h>

namespace bouncer {

// Explicit parameters: m = `bits`, any number up to 2^50, and k from 1 to 64. Even numbers of bits, and powers of two
// most of all, raise the rate: see dcso_positions in forms.h.
struct dcso_bloom_parameters {
    std::uint64_t bits = 0;
    std::uint32_t k = 0;
    friend bool operator==(const dcso_bloom_parameters&, const dcso_bloom_parameters&) = default;
};

namespace detail {

class dcso_layout : public form_layout<dcso, dcso_bloom_parameters, "bits", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<dcso_layout, Words>;
    static constexpr std::uint16_t kind_id = 15;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "dcso_bloom";

    // The program fixes the hash: FNV-1, 64 bits, unmixed. Anything else is refused.
    using default_hasher = fnv1;
    static hash_spec default_hash() noexcept { return fnv1{}.spec(); }
    static result<void> check_hash(const hash_spec& spec);

    using form_layout::form_layout;
    // From keys and a rate: the program's own m and k, so that files can be exchanged and joined. That is the textbook
    // formula, and the exact rate may lie above the goal: by 0.4 % at 0.01, by an eighth just below 0.5.
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    // Above it there are more keys than the program's own formula puts into so many bits. The positions of a key hang
    // together, so the fill varies more than by chance: see the .cc file.
    double fill_limit(double rate) const;
};

} // namespace detail

template <class Words>
using basic_dcso_bloom = bit_filter<detail::dcso_layout, Words>;
using plain_dcso_bloom = basic_dcso_bloom<plain_words>;
using atomic_dcso_bloom = basic_dcso_bloom<atomic_words>;
using dcso_bloom_view = basic_dcso_bloom<const_words>;

} // namespace bouncer
