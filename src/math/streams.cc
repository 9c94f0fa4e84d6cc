// One cell of a stable filter: a binomial tail.
#include "bouncer/stream_math.h"

#include "math/search.h"

#include <algorithm>
#include <cmath>

namespace bouncer::math {

namespace {

// P(Binomial(n, p) = i) for 0 < p < 1. Factor by factor, as many as a cell has values: the factorials of n = 10^15 have no
// digits left.
double binomial_weight(double n, double p, double i) {
    double log_weight = (n - i) * std::log1p(-p);
    for (double j = 0; j < i; ++j) log_weight += std::log(p * ((n - j) / (i - j)));
    return std::exp(log_weight);
}

// P(Binomial(n, p) >= at_least). The terms of the smaller side, from the border outwards until they no longer matter.
double binomial_tail(double n, double p, double at_least) {
    if (at_least <= 0) return 1;
    if (at_least > n || !(p > 0)) return 0;
    if (p >= 1) return 1;
    const double odds = p / (1 - p);
    double sum = 0;
    if (at_least > n * p) {
        double weight = binomial_weight(n, p, at_least);
        for (double i = at_least; weight > 1e-17 * sum; ++i) {
            sum += weight;
            weight *= odds * ((n - i) / (i + 1));
        }
        return std::min(1.0, sum);
    }
    double weight = binomial_weight(n, p, at_least - 1);
    for (double i = at_least - 1; weight > 1e-17 * sum; --i) {
        sum += weight;
        weight *= i / (odds * (n - i + 1));
    }
    return std::max(0.0, 1 - sum);
}

double whole(double x) {
    return x > 0 ? std::floor(std::min(x, 1e300) + 0.5) : 0;
}

// What one add does to one cell: counts it down with probability `down`, then sets it with probability `set`.
struct cell_odds {
    double down;
    double set;

    cell_odds(std::uint64_t cells, std::uint32_t k, std::uint64_t p)
        : down(cells == 0 ? 0 : std::min(1.0, static_cast<double>(p) / static_cast<double>(cells))),
          set(cells == 0 || k == 0 ? 0 : -std::expm1(k * std::log1p(-1 / static_cast<double>(cells)))) {}

    // Backwards from now: how often the next thing met is a set, for each time that it is a countdown.
    double sets_per_countdown() const { return set / ((1 - set) * down); }
    // The next one is a countdown max times in a row.
    double log_zero(std::uint32_t max) const {
        if (!(set > 0) || max == 0) return 0;
        return -std::log1p(sets_per_countdown()) * max; // -infinity where nothing counts down
    }
    // Either happens in one add.
    double event() const { return set + down - set * down; }
};

double rate_of_fill(double log_zero, std::uint32_t k) {
    return std::pow(-std::expm1(log_zero), static_cast<double>(k));
}

// log(1 - exp(x)) for x < 0. One form alone has no digits left at one end: a rate of 10^-12 would be off by 10^-4.
double log_of_rest(double x) {
    constexpr double log_half = -0.6931471805599453;
    return x > log_half ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

} // namespace

double stable_zero_fraction(std::uint64_t cells, std::uint32_t k, std::uint32_t max, std::uint64_t p) {
    return std::exp(cell_odds(cells, k, p).log_zero(max));
}

double stable_fpr(std::uint64_t cells, std::uint32_t k, std::uint32_t max, std::uint64_t p) {
    return rate_of_fill(cell_odds(cells, k, p).log_zero(max), k);
}

std::optional<std::uint64_t> stable_decrements(double fpr, std::uint64_t cells, std::uint32_t k,
                                               std::uint32_t max) {
    if (!(fpr > 0) || cells < 2 || k == 0 || max == 0) return std::nullopt;
    const auto keeps = [&](std::uint64_t p) { return stable_fpr(cells, k, max, p) <= fpr; };
    if (keeps(1)) return 1;
    if (!keeps(cells - 1)) return std::nullopt;
    // Solved for p; rounding may put it a little off.
    const cell_odds odds(cells, k, 0);
    const double log_zero = log_of_rest(std::log(fpr) / k);
    const double countdowns = odds.set / ((1 - odds.set) * std::expm1(-log_zero / max));
    const double real = std::ceil(countdowns * static_cast<double>(cells));
    return detail::first_good(detail::clamped(real, cells - 1), cells - 1, keeps);
}

// A cell that was set before the first of n adds is zero if, backwards from now, max countdowns come before a set and
// within n adds. Which of the two an event is does not depend on when it happens, so it is a product: the stable
// fraction, times the chance that there were max events at all.
double stable_zero_fraction_after(double adds, std::uint64_t cells, std::uint32_t k, std::uint32_t max,
                                  std::uint64_t p) {
    const cell_odds odds(cells, k, p);
    const double n = whole(adds);
    const double forgotten = std::exp(odds.log_zero(max)) * binomial_tail(n, odds.event(), max);
    // A cell that was empty before is zero also if no add has set it and fewer than max have counted it down.
    const double untouched =
        std::exp(n > 0 ? n * std::log1p(-odds.set) : 0.0) * (1 - binomial_tail(n, odds.down, max));
    return std::min(1.0, forgotten + untouched);
}

double stable_fpr_after(double adds, std::uint64_t cells, std::uint32_t k, std::uint32_t max,
                        std::uint64_t p) {
    if (!(whole(adds) > 0)) return 0;
    return std::pow(1 - stable_zero_fraction_after(adds, cells, k, max, p), static_cast<double>(k));
}

double stable_false_negative_rate(double distance, std::uint64_t cells, std::uint32_t k, std::uint32_t max,
                                  std::uint64_t p) {
    if (k == 0) return 0;
    const cell_odds odds(cells, k, p);
    const double zero = std::exp(odds.log_zero(max)) * binomial_tail(whole(distance), odds.event(), max);
    return -std::expm1(k * std::log1p(-zero));
}

} // namespace bouncer::math
