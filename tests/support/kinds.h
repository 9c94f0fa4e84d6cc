// The types of the battery's suites. They come from all_filters.h only, chosen by concept, so that a new kind is in
// every suite it qualifies for as soon as it is in that list.
#pragma once

#include <bouncer/all_filters.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace bouncer::test {

template <class... Lists>
struct join;
template <class... A>
struct join<type_list<A...>> {
    using type = type_list<A...>;
};
template <class... A, class... B, class... Rest>
struct join<type_list<A...>, type_list<B...>, Rest...> : join<type_list<A..., B...>, Rest...> {};

template <template <class> class Holds, class List>
struct keep_if;
template <template <class> class Holds, class... F>
struct keep_if<Holds, type_list<F...>>
    : join<type_list<>, std::conditional_t<Holds<F>::value, type_list<F>, type_list<>>...> {};

using writable_kinds = join<all_filters<plain_words>, all_filters<atomic_words>>::type;

// TYPED_TEST_SUITE(name, kinds_that<is_mergeable>, kind_names): every kind, plain and atomic.
template <template <class> class Holds>
using kinds_that = typename keep_if<Holds, writable_kinds>::type::template apply<::testing::Types>;

// Every kind once, plain: for suites of what does not pass through the access (sizing, folding and scans, which read
// raw words; decorators). It halves their compile time. view_test checks that scans and folds of every access agree.
template <template <class> class Holds>
using plain_kinds_that =
    typename keep_if<Holds, all_filters<plain_words>>::type::template apply<::testing::Types>;

template <class F>
struct is_incremental : std::bool_constant<incremental<F>> {};
template <class F>
struct is_exact_about_presence : std::bool_constant<incremental<F> && F::no_false_negatives> {};
template <class F>
struct is_mergeable : std::bool_constant<incremental<F> && mergeable<F>> {};
template <class F>
struct is_foldable : std::bool_constant<incremental<F> && foldable<F>> {};
template <class F>
struct is_self_estimating : std::bool_constant<incremental<F> && self_estimating<F>> {};

// Made for several threads at once?
template <class F>
inline constexpr bool is_concurrent = F::concurrency != concurrency_level::exclusive;

struct kind_names {
    template <class F>
    static std::string GetName(int) {
        return (is_concurrent<F> ? "atomic_" : "plain_") + std::string(F::kind_name);
    }
};

// The first parameter of every kind is its size, in bits, words or blocks.
template <class Parameters>
auto& size_parameter(Parameters& chosen) {
    static_assert(std::is_standard_layout_v<Parameters> && sizeof(Parameters) % 8 == 0);
    using word = std::conditional_t<std::is_const_v<Parameters>, const std::uint64_t, std::uint64_t>;
    return *reinterpret_cast<word*>(&chosen);
}

template <class F>
std::string describe(const typename F::parameters& chosen) {
    return std::string(F::kind_name) + ": " + F::layout_type::describe(chosen);
}

// Every way in which a kind can serve a goal: what each preference picks, and each form a kind has, also where no
// preference would pick it.
template <class F>
std::vector<typename F::parameters> variants(std::uint64_t keys, double rate) {
    using parameters = typename F::parameters;
    using layout = typename F::layout_type;
    std::vector<parameters> out;
    for (const auto favoured : {prefer::reads, prefer::adds, prefer::space}) {
        const parameters chosen =
            layout::solve({.keys = keys, .false_positive_rate = rate, .prefer = favoured}).value();
        if (std::find(out.begin(), out.end(), chosen) == out.end()) out.push_back(chosen);
    }
    if constexpr (requires(parameters p) {
                      p.form;
                      p.k;
                  }) {
        using form_type = decltype(parameters::form);
        const auto by_rate = static_cast<std::uint32_t>(std::lround(-std::log2(rate)));
        for (unsigned form = 0; form < 8; ++form) {
            const auto same = [&](const parameters& p) { return p.form == static_cast<form_type>(form); };
            for (const std::uint32_t k : {by_rate, 8u, 16u}) {
                parameters tried = out.front();
                tried.form = static_cast<form_type>(form);
                tried.k = k;
                if (std::any_of(out.begin(), out.end(), same) || !layout::check(tried)) continue;
                const auto sized = math::smallest(layout(tried).shape(), math::growth::blocks, 1, keys, rate,
                                                  std::uint64_t{1} << 30);
                if (!sized) continue;
                size_parameter(tried) = sized->blocks;
                out.push_back(tried);
            }
        }
    }
    return out;
}

// The other writable access to the same kind.
template <class F>
using other_form =
    typename F::template with_words<std::conditional_t<is_concurrent<F>, plain_words, atomic_words>>;
template <class F>
using view_form = typename F::template with_words<const_words>;

} // namespace bouncer::test
