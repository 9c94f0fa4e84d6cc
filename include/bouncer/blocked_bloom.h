// blocked_bloom: all of a key's bits in one 64-byte cache line (two adjacent ones below 0.05 %): one memory access
// per query, a few percent more space than the flat filter. The default kind. docs/filters/blocked_bloom.md
#pragma once

#include <bouncer/bit_filter.h>

#include <string>

namespace bouncer {

// Where a key's bits lie in its block. The numbers are stored in files.
enum class block_form : std::uint8_t {
    lanes8 = 0,  // one bit in each of the 8 words of a line: k is 8; the fastest to test
    lanes16 = 2, // one bit in each of the 16 words of two adjacent lines: k is 16
    // Cache-sectorised: k / 2 bits in one of the first four words of a line and in one of the last four; or k / 4 bits
    // in one of each two neighbours. An add writes two or four words: the fastest to add to from many threads.
    sectors2 = 3, // k is even, at most 16
    sectors4 = 4, // k is a multiple of 4, at most 16
    // Dropped before the first release, and never to be used again: 1, 5, 6.
};

// [any-thread] "lanes8"; and as C++: "bouncer::block_form::lanes8".
std::string in_words(block_form form);
std::string in_code(block_form form);

// Explicit parameters: `blocks` lines (pairs of lines for lanes16).
struct blocked_bloom_parameters {
    std::uint64_t blocks = 0;
    std::uint32_t k = 8;
    block_form form = block_form::lanes8;
    friend bool operator==(const blocked_bloom_parameters&, const blocked_bloom_parameters&) = default;
};

namespace detail {

// The forms of this kind, and from the number to the type for all who need one: the only switch over forms.
using blocked_forms = form_list<lanes<1>, lanes<2>, sectors<2>, sectors<4>>;
template <class Visit>
[[gnu::always_inline]] constexpr auto visit_form(block_form form, Visit visit) {
    if (form == block_form::lanes8) [[likely]]
        return visit(lanes<1>{});
    switch (form) {
    case block_form::lanes16: return visit(lanes<2>{});
    case block_form::sectors2: return visit(sectors<2>{});
    default: return visit(sectors<4>{});
    }
}

constexpr bool is_block_form(block_form form) noexcept {
    return form == block_form::lanes8 || form == block_form::lanes16 || form == block_form::sectors2 ||
           form == block_form::sectors4;
}

class blocked_layout : public takes_any_hash,
                       public form_layout<lanes<1>, blocked_bloom_parameters, "blocks", "k", "form"> {
  public:
    template <class Words>
    using filter = bit_filter<blocked_layout, Words>;
    static constexpr std::uint16_t kind_id = 2;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "blocked_bloom";

    explicit blocked_layout(const parameters& chosen) noexcept : form_layout(chosen) {
        ops_ = visit_form(chosen.form, []<class Form>(Form) { return &active_ops<Form>(); });
    }
    template <class Visit>
    [[gnu::always_inline]] auto visit(Visit visit) const noexcept {
        return visit_form(params_.form, visit);
    }
    std::uint64_t word_count() const noexcept {
        return visit([this]<class Form>(Form) { return Form::words(at()); });
    }
    math::geometry shape() const noexcept {
        return visit([this]<class Form>(Form) { return Form::shape(at()); });
    }

    static result<parameters> solve(const goal& wanted);
    // For one of many layers that a query asks (scalable): one line is worth more there.
    static result<parameters> solve_layer(const goal& wanted);
    static result<void> check(const parameters& chosen);
    // Refuses those of forms that there were once (unknown_version).
    static result<void> check_stored(const std::uint64_t* fields);
    result<parameters> folded(std::uint64_t factor) const;
};

} // namespace detail

template <class Words>
using basic_blocked_bloom = bit_filter<detail::blocked_layout, Words>;
using plain_blocked_bloom = basic_blocked_bloom<plain_words>;
using atomic_blocked_bloom = basic_blocked_bloom<atomic_words>;
using blocked_bloom_view = basic_blocked_bloom<const_words>;

} // namespace bouncer
