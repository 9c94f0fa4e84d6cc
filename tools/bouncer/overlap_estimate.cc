#include "overlap_estimate.h"

#include "text.h"

#include <bouncer/math.h>

#include <algorithm>
#include <cmath>

namespace bouncer::tool {

namespace {

// The bias of the estimator up to the design load, which more bits do not average away.
constexpr double relative_bias = 0.0003;

// The standard error of the keys behind a fill: that of the fill, which is exact for the layout, over the slope of the
// fill at that number of keys; and the bias.
std::optional<double> error_of(const any_filter& filter, double keys) {
    return filter.visit([&]<class F>(const F& f) -> std::optional<double> {
        if constexpr (requires { f.shape(); } && F::kind_id != atomic_windowed_bloom::kind_id) {
            const math::geometry shape = f.shape();
            const double step = std::max(1.0, keys * 1e-4);
            const double below = std::max(0.0, keys - step);
            const double slope =
                (math::expected_fill(shape, keys + step) - math::expected_fill(shape, below)) /
                (keys + step - below);
            if (!(slope > 0)) return std::nullopt;
            return std::sqrt(std::max(0.0, math::fill_variance(shape, keys))) / slope + keys * relative_bias;
        } else {
            return std::nullopt;
        }
    });
}

result<measured_number> count_of(const any_filter& filter) {
    auto keys = filter.approximate_size();
    if (!keys) return keys.error();
    if (std::isinf(*keys))
        return failure{error_code::full, "a filter, or the union of both, has no zero bit left to count by"};
    return measured_number{*keys, error_of(filter, *keys)};
}

// A share of two numbers whose errors may go together in the worst way.
measured_number share(const measured_number& part, const measured_number& whole) {
    if (!(whole.value > 0)) return {0, std::nullopt};
    const double value = std::clamp(part.value / whole.value, 0.0, 1.0);
    if (!part.error || !whole.error) return {value, std::nullopt};
    return {value, (*part.error + value * *whole.error) / whole.value};
}

} // namespace

result<overlap_estimate> estimate_overlap(any_filter& a, const any_filter& b) {
    if (a.kind() == atomic_scalable_bloom::kind_id && b.kind() == a.kind())
        return failure{
            error_code::unsupported,
            "the union of two scalable_bloom holds a shared key in two layers, so its keys cannot be "
            "counted: build both with --kind blocked_bloom and one --expect"};
    overlap_estimate out;
    auto first = count_of(a);
    auto second = count_of(b);
    if (auto merged = a.merge(b); !merged) return merged.error();
    if (!first) return first.error();
    if (!second) return second.error();
    auto either = count_of(a);
    if (!either) return either.error();
    out.a = *first;
    out.b = *second;
    out.either = *either;
    out.both.value =
        std::clamp(first->value + second->value - either->value, 0.0, std::min(first->value, second->value));
    if (first->error && second->error && either->error)
        out.both.error = *first->error + *second->error + *either->error;
    out.jaccard = share(out.both, out.either);
    out.share_of_a = share(out.both, out.a);
    out.share_of_b = share(out.both, out.b);
    out.significant = out.both.error && out.both.value > 3 * *out.both.error;
    if (!out.both.error)
        out.note =
            "a key that was added in several steps of the window counts in each; the errors are not known";
    else
        out.note = "± is one standard error, from the exact variance of the fill and 0.03 % of bias; of the "
                   "intersection and the shares at most this, as if the three errors went together";
    if (out.both.error && !out.significant)
        out.note += ". The intersection is within 3 errors of nothing: it may be empty";
    return out;
}

} // namespace bouncer::tool
