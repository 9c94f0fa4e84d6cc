// What a layout is, and what the layouts of bit filters share.
#pragma once

#include <bouncer/detail/bit_ops.h>
#include <bouncer/detail/fields.h>
#include <bouncer/goal.h>
#include <bouncer/hash.h>
#include <bouncer/math.h>
#include <bouncer/result.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::detail {

// The most 64-bit words a filter may have: 2^44, 128 TiB. Index arithmetic is exact far beyond.
inline constexpr std::uint64_t words_most = std::uint64_t{1} << 44;

// [any-thread] Refuses a goal whose values make no sense for any kind.
result<void> check_goal(const goal& wanted);

// What filter_base asks of a layout. Besides, the alias filter<Words>: the class of its filters.
template <class L>
concept filter_layout = std::constructible_from<L, const typename L::parameters&> &&
    requires(const L& layout, const typename L::parameters& chosen, const hash_spec& spec,
             const std::uint64_t* words) {
    typename L::default_hasher; // what keyed<> uses unless told otherwise
    { L::kind_id } -> std::convertible_to<std::uint16_t>;
    { L::layout_version } -> std::convertible_to<std::uint16_t>; // bumped when a bit moves
    { L::kind_name } -> std::convertible_to<std::string_view>;
    {
        L::is_static
        }
        -> std::convertible_to<bool>; // built once from a whole set; it has no create, and nothing changes it
    { L::field_count } -> std::convertible_to<std::size_t>; // of the parameters, as they are stored
    { L::fields_of(chosen) } -> std::same_as<std::vector<std::uint64_t>>;
    { L::from_fields(words) } -> std::same_as<typename L::parameters>;
    { L::default_hash() } -> std::same_as<hash_spec>;
    { L::check_hash(spec) } -> std::same_as<result<void>>;
    { L::check(chosen) } -> std::same_as<result<void>>;
    { L::describe(chosen) } -> std::same_as<std::string>;
    { layout.params() } -> std::same_as<const typename L::parameters&>;
    { layout.word_count() } -> std::same_as<std::uint64_t>;
    {
        layout.check_words(words)
        } -> std::same_as<result<void>>; // whether the kind writes such words (corrupt)
};

// What bit_filter asks of a layout: the form of its bits (forms.h).
//   usual_form    the form, or of several the one that most filters have
//   visit(visit)  visit(Form{}) of the form that this filter has
//   at(), ops()   what the form must know of the filter, and its row in the kernel table
// Optional: folded(factor), the parameters of 1/factor of the size; a layout without it cannot be folded.
template <class L>
concept bit_layout = filter_layout<L> && requires(const L& layout, const goal& wanted) {
    typename L::usual_form;
    { layout.at() } -> std::same_as<extent>;
    { layout.ops() } -> std::same_as<const bit_ops&>;
    { L::solve(wanted) } -> std::same_as<result<typename L::parameters>>;
    { layout.shape() } -> std::same_as<math::geometry>;
};

template <class L>
concept foldable_layout = bit_layout<L> && requires(const L& layout, std::uint64_t factor) {
    { layout.folded(factor) } -> std::same_as<result<typename L::parameters>>;
};

// A layout that takes any hash.
struct takes_any_hash {
    using default_hasher = xxh3;
    static constexpr hash_spec default_hash() noexcept { return {}; } // prehashed
    static result<void> check_hash(const hash_spec& spec) { return check_known_hash(spec); }
};

// A layout of filters that start empty, and of which any words are one.
struct starts_empty {
    static constexpr bool is_static = false;
    static result<void> check_words(const std::uint64_t*) noexcept { return {}; }
};

// A layout of bits in one form. Its first parameter is the number of units; k, where there is one, the bits per key.
template <class Form, class Parameters, member_name... Names>
class form_layout : public starts_empty, public fields<Parameters, Names...> {
  public:
    using usual_form = Form;
    using parameters = Parameters;

    explicit form_layout(const Parameters& chosen) noexcept : params_(chosen), ops_(&active_ops<Form>()) {}

    const Parameters& params() const noexcept { return params_; }
    extent at() const noexcept {
        if constexpr (requires { params_.k; })
            return {form_layout::size_units(params_), params_.k};
        else
            return {form_layout::size_units(params_), Form::k_max};
    }
    const bit_ops& ops() const noexcept { return *ops_; }
    template <class Visit>
    [[gnu::always_inline]] auto visit(Visit visit) const noexcept {
        return visit(Form{});
    }
    std::uint64_t word_count() const noexcept { return Form::words(at()); }
    math::geometry shape() const noexcept { return Form::shape(at()); }

  protected:
    Parameters params_;
    const bit_ops* ops_;
};

// each(word, bits) for the words of a hash; and each(word) for one word of every line that a query may read: for code
// that has time.
template <bit_layout Layout, class Each>
void each_word(const Layout& layout, std::uint64_t hash, Each each) {
    layout.visit([&]<class Form>(Form) {
        for (typename Form::key its(layout.at(), hash); its.more();) {
            const auto [word, bits] = its.next();
            each(word, bits);
        }
    });
}
template <bit_layout Layout, class Each>
void each_line(const Layout& layout, std::uint64_t hash, Each each) {
    layout.visit([&]<class Form>(Form) {
        if constexpr (Form::block_words == 0) {
            each_word(layout, hash, [&](std::uint64_t word, std::uint64_t) { each(word); });
        } else {
            const std::uint64_t first = Form::block_words * Form::block_of(hash, layout.at().units);
            for (std::size_t w = 0; w < Form::block_words; w += 8) each(first + w);
        }
    });
}

} // namespace bouncer::detail
