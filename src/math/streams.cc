// One cell of a stable filter, and one counter of a counting filter: both are binomial tails.
#include "bouncer/stream_math.h"

#include "math/binomial.h"
#include "math/log_gamma.h"

#include <algorithm>
#include <cmath>

namespace bouncer::math {

namespace {

// log(x!) - log(sqrt(2 pi x) (x/e)^x): what Stirling's formula leaves out.
double stirling_rest(double x) {
    if (x < 16) {
        constexpr double log_two_pi = 1.8378770664093453;
        return detail::log_gamma(x + 1) - (x + 0.5) * std::log(x) + x - 0.5 * log_two_pi;
    }
    const double square = x * x;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / x;
}

// P(Binomial(n, p) = i) for 0 < p < 1, without factorials: n may be 10^15.
double binomial_weight(double n, double p, double i) {
    if (i <= 0) return std::exp(n * std::log1p(-p));
    if (i >= n) return std::exp(n * std::log(p));
    constexpr double two_pi = 6.283185307179586;
    const double mean = n * p;
    return std::exp(stirling_rest(n) - stirling_rest(i) - stirling_rest(n - i) - detail::deviance(i, mean) -
                    detail::deviance(n - i, n - mean)) /
           std::sqrt(two_pi * i * ((n - i) / n));
}

// P(Binomial(n, p) >= at_least). The terms of the smaller side, from the border outwards until they no longer matter:
// some deviations, so at most 10^6 of them.
double binomial_tail(double n, double p, double at_least) {
    if (at_least <= 0) return 1;
    if (at_least > n || !(p > 0)) return 0;
    if (p >= 1) return 1;
    const double mean = n * p;
    if (const double variance = mean * (1 - p); variance > 1e10)
        return 0.5 * std::erfc((at_least - 0.5 - mean) / std::sqrt(2 * variance));
    const double odds = p / (1 - p);
    double sum = 0;
    if (at_least > mean) {
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

// The first number of [low, high] that keeps, where all after it do and high does. `near` is where it should be: steps
// from there double until they have passed it, so at most 128 calls however wrong that is.
template <class Keeps>
std::uint64_t first_that_keeps(std::uint64_t low, std::uint64_t high, std::uint64_t near, Keeps keeps) {
    if (keeps(near)) {
        high = near;
        for (std::uint64_t step = 1; high - low >= step && step != 0; step *= 2) {
            if (!keeps(high - step)) {
                low = high - step + 1;
                break;
            }
            high -= step;
        }
    } else {
        low = near + 1;
        for (std::uint64_t step = 1; high - low >= step && step != 0; step *= 2) {
            if (keeps(low + step - 1)) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    }
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (keeps(middle))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
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
    const auto most = static_cast<double>(cells - 1);
    const std::uint64_t near =
        real < most ? std::max<std::uint64_t>(2, static_cast<std::uint64_t>(real)) : cells - 1;
    return first_that_keeps(2, cells - 1, near, keeps);
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

double counter_tail(const geometry& shape, double keys, std::uint64_t at_least) {
    if (shape.blocks == 0 || shape.sectors == 0 || shape.sector_bits == 0) return at_least == 0 ? 1 : 0;
    const double in_sector =
        -std::expm1(shape.bits_per_group * std::log1p(-1 / static_cast<double>(shape.sector_bits)));
    return binomial_tail(whole(keys), in_sector / (static_cast<double>(shape.blocks) * shape.sectors),
                         static_cast<double>(at_least));
}

} // namespace bouncer::math
