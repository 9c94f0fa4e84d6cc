// What the adaptor (held.h) and the few typed tests ask of a kind's type.
#pragma once

#include <bouncer/all_filters.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace bouncer::test {

// Its state is bits that only go from 0 to 1, where a layout says: suites of layouts, words, kernels, samples.
template <class F>
struct is_bit_filter : std::false_type {};
template <class Layout, class Words>
struct is_bit_filter<bit_filter<Layout, Words>> : std::true_type {};

// Adding a key again leaves the state as it is. A kind whose union is no OR says so by adds_are_idempotent.
template <class F>
constexpr bool adds_are_idempotent() {
    if constexpr (requires { F::adds_are_idempotent; }) return F::adds_are_idempotent;
    return F::union_is_or;
}
template <class F>
inline constexpr bool idempotent_adds = adds_are_idempotent<F>();

// The same keys in any order give the same state. So do counters; another kind says so by adds_commute.
template <class F>
constexpr bool adds_commute() {
    if constexpr (requires { F::adds_commute; }) return F::adds_commute;
    if constexpr (requires { F::counts_adds; }) return F::counts_adds;
    return F::union_is_or;
}
template <class F>
inline constexpr bool commuting_adds = adds_commute<F>();

// fpr_at(n) is the mean rate of filters with n keys, and not only a bound of it. Such a kind says so by rate_is_exact.
template <class F>
constexpr bool rate_is_exact() {
    if constexpr (requires { F::rate_is_exact; }) return F::rate_is_exact;
    return is_bit_filter<F>::value;
}
template <class F>
struct has_exact_rate : std::bool_constant<incremental<F> && rate_is_exact<F>()> {};

// goal.size_bytes is the size of the filter. scalable_bloom has none, and stable_bloom needs a rate as well.
template <class F>
struct has_fixed_size
    : std::bool_constant<incremental<F> && F::kind_id != basic_scalable_bloom<plain_words>::kind_id &&
                         F::kind_id != plain_stable_bloom::kind_id> {};

// A goal's rate is kept by the smallest filter that does. dcso_bloom has the size that another program gives it, by a
// formula: a little above the rate, or below.
template <class F>
struct keeps_its_goal
    : std::bool_constant<incremental<F> && F::kind_id != basic_dcso_bloom<plain_words>::kind_id> {};

// Made for several threads at once?
template <class F>
inline constexpr bool is_concurrent = F::concurrency != concurrency_level::exclusive;

struct kind_names {
    template <class F>
    static std::string GetName(int) {
        return (F::words_type::concurrent ? "atomic_" : "plain_") + std::string(F::kind_name);
    }
};

// The list of a kind's fields, which knows the size among them.
template <class F>
struct fields_of_kind {
    using type = typename F::layout_type;
};
template <class F>
struct fields_of_kind<scalable<F>> {
    using type = bouncer::detail::scalable_fields;
};

// In bits, words, blocks or cells; of a chain, the keys that its first layer is made for.
template <class F>
std::uint64_t size_of(const typename F::parameters& chosen) {
    return fields_of_kind<F>::type::size_units(chosen);
}
template <class F>
typename F::parameters with_size(const typename F::parameters& chosen, std::uint64_t size) {
    return fields_of_kind<F>::type::resized(chosen, size);
}

template <class F>
std::string describe(const typename F::parameters& chosen) {
    return std::string(F::kind_name) + ": " + F::describe(chosen);
}

// The smallest size at which these parameters keep the rate; false, and no such size, where none below 64 MiB does.
template <class F>
bool size_for(typename F::parameters& chosen, std::uint64_t keys, double rate) {
    if constexpr (is_bit_filter<F>::value) {
        if (!F::check(chosen)) return false;
        const auto sized = math::smallest(typename F::layout_type(chosen).shape(), math::growth::blocks, 1,
                                          keys, rate, std::uint64_t{1} << 30);
        if (sized) chosen = with_size<F>(chosen, sized->blocks);
        return sized.has_value();
    } else {
        chosen = with_size<F>(chosen, 1);
        const std::uint64_t unit = F::check(chosen) ? 1 : 64; // in blocks, or in cells of whole words
        const auto keeps = [&](std::uint64_t units) {
            chosen = with_size<F>(chosen, units * unit);
            return F::create(chosen, {.memory = {.prefault = false}}).value().fpr_at(keys) <= rate;
        };
        chosen = with_size<F>(chosen, unit);
        if (!F::check(chosen)) return false; // not for any size
        std::uint64_t enough = 1;
        while (!keeps(enough)) {
            if (F::size_bytes_of(chosen) >= std::uint64_t{64} << 20) return false;
            enough *= 2;
        }
        for (std::uint64_t few = enough / 2; enough - few > 1;) {
            const std::uint64_t middle = few + (enough - few) / 2;
            (keeps(middle) ? enough : few) = middle;
        }
        return keeps(enough);
    }
}

// Every way in which a kind can serve a goal: what each preference picks, and each form a kind has, also where no
// preference would pick it.
template <class F>
std::vector<typename F::parameters> variants(std::uint64_t keys, double rate) {
    using parameters = typename F::parameters;
    std::vector<parameters> out;
    for (const auto favoured : {prefer::reads, prefer::adds, prefer::space}) {
        const parameters chosen =
            F::solve({.keys = keys, .false_positive_rate = rate, .prefer = favoured}).value();
        if (std::find(out.begin(), out.end(), chosen) == out.end()) out.push_back(chosen);
    }
    if constexpr (requires(parameters p) {
                      p.form;
                      p.k;
                  }) {
        using form_type = decltype(parameters::form);
        const auto by_rate = static_cast<std::uint32_t>(std::lround(-std::log2(rate)));
        const parameters first = out.front();
        for (const std::uint32_t width : {4u, 8u, 16u, 32u})
            for (unsigned form = 0; form < 5; ++form)
                for (const std::uint32_t k : {by_rate, 8u, 16u}) {
                    parameters tried = first;
                    tried.form = static_cast<form_type>(form);
                    tried.k = static_cast<decltype(tried.k)>(k);
                    if constexpr (requires { tried.counter_bits; })
                        tried.counter_bits = width;
                    else if (width != 4)
                        continue;
                    const auto same = [&](const parameters& p) {
                        if constexpr (requires { p.counter_bits; })
                            if (p.counter_bits != width) return false;
                        return p.form == tried.form;
                    };
                    if (std::any_of(out.begin(), out.end(), same)) continue;
                    if (size_for<F>(tried, keys, rate)) out.push_back(tried);
                }
    }
    return out;
}

// How the hashes of a kind are made, unless told: prehashed, or the one hash that it fixes.
template <class F>
hash_spec default_hash_of() {
    return detail::storage_access::check_hash<F>({}) ? hash_spec{} : spec_of(typename F::default_hasher{});
}

template <class F>
using view_form = typename F::template with_words<const_words>;

} // namespace bouncer::test
