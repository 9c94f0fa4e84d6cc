// A kind with a k that the user chose: the solved parameters with another k, grown or cut to the goal.
#pragma once

#include <bouncer/blocked_bloom.h>

#include "planner/kind_model.h"

#include <array>
#include <optional>

namespace bouncer::planner {

// One kind with one k, at every size.
template <class F>
class resizable {
  public:
    using parameters = typename F::parameters;
    using layout_type = typename F::layout_type;

    // Of several forms the smallest that has such a k; where adds count, the form of `start` if that has it.
    static std::optional<resizable> of(parameters start, std::uint32_t k, prefer favoured) {
        start.k = k;
        if constexpr (requires { start.form = block_form::lanes8; }) {
            if (favoured == prefer::adds)
                if (auto out = of_form(start)) return out;
            for (const block_form each :
                 {block_form::lanes8, block_form::lanes16, block_form::sectors4, block_form::sectors2}) {
                start.form = each;
                if (auto out = of_form(start)) return out;
            }
            return std::nullopt;
        } else {
            return of_form(start);
        }
    }

    parameters of_units(std::uint64_t units) const { return layout_type::resized(start_, units * unit_); }
    double rate(std::uint64_t units, std::uint64_t keys) const {
        return math::fpr(shape_of(layout_type(of_units(units))), static_cast<double>(keys));
    }
    bool valid(std::uint64_t units) const { return F::check(of_units(units)).has_value(); }

    // The fewest units that keep the rate.
    std::optional<std::uint64_t> fewest(std::uint64_t keys, double wanted) const {
        std::uint64_t bad = 0;
        std::uint64_t good = 1;
        while (rate(good, keys) > wanted) {
            bad = good;
            good *= 2;
            if (!valid(good)) return std::nullopt;
        }
        while (good - bad > 1) {
            const std::uint64_t middle = bad + (good - bad) / 2;
            (rate(middle, keys) <= wanted ? good : bad) = middle;
        }
        return good;
    }
    // The most that fit into so many bytes; 0: none.
    std::uint64_t most(std::uint64_t bytes) const {
        std::uint64_t good = 0;
        std::uint64_t bad = bytes * 8 + 1;
        while (bad - good > 1) {
            const std::uint64_t middle = good + (bad - good) / 2;
            const parameters tried = of_units(middle);
            (F::check(tried) && F::size_bytes_of(tried) <= bytes ? good : bad) = middle;
        }
        return good;
    }

  private:
    static std::optional<resizable> of_form(const parameters& start) {
        for (const std::uint64_t unit : {1u, 64u, 128u, 256u, 512u})
            if (const resizable out(start, unit); F::check(out.of_units(1))) return out;
        return std::nullopt;
    }
    resizable(const parameters& start, std::uint64_t unit) : start_(start), unit_(unit) {}

    parameters start_;
    std::uint64_t unit_;
};

template <class F>
concept takes_k = requires(typename F::parameters chosen, const typename F::layout_type& layout) {
    chosen.k = 1u;
    { layout.shape() } -> std::same_as<math::geometry>;
};

template <class F>
result<candidate> solved_with_k(const goal& wanted, std::uint32_t k) {
    if constexpr (!takes_k<F>) {
        return failure{error_code::unsupported, "has no k to choose"};
    } else {
        const auto start = F::solve(wanted);
        if (!start) return start.error();
        const auto sizes = resizable<F>::of(*start, k, wanted.prefer);
        if (!sizes) return failure{error_code::invalid_argument, "cannot have k = " + std::to_string(k)};
        std::uint64_t units = 0;
        if (wanted.false_positive_rate) {
            const auto found = sizes->fewest(wanted.keys, *wanted.false_positive_rate);
            if (!found)
                return failure{error_code::too_large,
                               "does not reach the rate with k = " + std::to_string(k) + " at any size"};
            units = *found;
        } else {
            units = sizes->most(*wanted.size_bytes);
            if (units == 0)
                return failure{error_code::invalid_argument,
                               std::to_string(*wanted.size_bytes) + " bytes are too few for one block"};
        }
        const auto chosen = sizes->of_units(units);
        auto out = described<F>(chosen, wanted.keys);
        if (out) out->initializer = F::layout_type::initializer(chosen);
        return out;
    }
}

} // namespace bouncer::planner
