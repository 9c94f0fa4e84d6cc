// Means over a binomial number, for any n.
#pragma once

#include <algorithm>
#include <cmath>

namespace bouncer::math::detail {

// mean * h(x / mean - 1), h(e) = (1 + e) log(1 + e) - e: the exponent of a Poisson-like probability, without
// the cancellation between its terms when x is near the mean.
inline double deviance(double x, double mean) {
    const double e = (x - mean) / mean;
    if (std::abs(e) > 0.01) return mean * ((1 + e) * std::log1p(e) - e);
    // e^2/2 - e^3/6 + e^4/12 - ...: ten terms are exact to the last bit for |e| <= 0.01.
    double sum = 0;
    double power = e * e;
    for (int r = 2; r < 12; ++r) {
        sum += power / (r * (r - 1));
        power *= -e;
    }
    return mean * sum;
}

// E[f(I)] for I ~ Binomial(n, p); f must be within [0, 1] and not fall. Terms are taken outwards from the mode,
// by the ratio of neighbours, and normalised by their own sum, so n needs no factorials. Where the spread is
// wide (standard deviation of 16 and more) every 1/8 of a deviation is sampled: the trapezium rule converges
// faster than exponentially on a bell curve, its error there is below 1e-100. Upwards the sum goes on until
// what is left is below 1e-22 of the result, not of the probability: rare full blocks decide low rates.
template <class F>
double binomial_mean(double n, double p, F&& f) {
    if (n <= 0) return f(0.0);
    if (p >= 1) return f(n);
    if (p <= 0) return f(0.0);
    const double mean = n * p;
    if (mean > 1e15) return f(std::floor(mean)); // spread below 4e-8 of the mean
    const double deviation = std::sqrt(mean * (1 - p));
    const double step = deviation < 16 ? 1 : std::floor(deviation / 8);
    const double mode = std::min(n, std::floor((n + 1) * p));
    const auto log_weight = [&](double i) {
        return -deviance(i, mean) - deviance(n - i, n - mean) - 0.5 * (std::log(i) + std::log(n - i)) -
               1 / (12 * i) - 1 / (12 * (n - i));
    };
    const double top = step > 1 ? log_weight(mode) : 0;
    const double odds = p / (1 - p);
    // Weight of `to`, a step from `from`, relative to the mode; 0 outside [0, n].
    const auto next = [&](double weight, double from, double to) {
        if (to < 0 || to > n) return 0.0;
        if (step > 1) return to > 0 && to < n ? std::exp(log_weight(to) - top) : 0.0;
        return to > from ? weight * odds * (n - from) / to : weight * from / (odds * (n - to));
    };

    double mass = 1;
    double sum = f(mode);
    double weight = 1;
    for (double i = mode;; i -= step) {
        weight = next(weight, i, i - step);
        if (weight < 1e-22 * mass) break; // f does not rise downwards, so the rest is smaller still
        mass += weight;
        sum += weight * f(i - step);
    }
    weight = 1;
    for (double i = mode;; i += step) {
        weight = next(weight, i, i + step);
        if (weight == 0) break;
        mass += weight;
        sum += weight * f(i + step);
        if (weight < 1e-22 * sum) break;
    }
    return sum / mass;
}

} // namespace bouncer::math::detail
