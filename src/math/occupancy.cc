#include "math/occupancy.h"

#include "bouncer/math.h"
#include "math/power.h"

#include <algorithm>
#include <cmath>

namespace bouncer::math::detail {

namespace {

constexpr double chain_limit = 1024; // bits or throws: a whole table then costs under 2 ms
constexpr std::uint32_t most_thrown =
    1024;                            // more per group count as that many: the rate is below 1e-300 or 1
constexpr double negligible = 1e-40; // probability dropped at either end of the chain, per throw

} // namespace

occupancy::occupancy(std::uint64_t sector_bits, std::uint32_t bits_per_key)
    : bits_(static_cast<double>(sector_bits)), thrown_(std::min(bits_per_key, most_thrown)),
      exact_throws_(bits_ <= chain_limit ? HUGE_VAL : chain_limit),
      full_throws_(bits_ * (std::log(std::max(bits_, 1.0)) + 42)), at_{0.0}, probability_{1.0} {}

double occupancy::all_hit(double j) {
    if (thrown_ == 0 || bits_ < 1) return 1;
    if (j <= 0) return 0;
    const double throws = j * thrown_;
    if (throws >= full_throws_) return 1;
    if (thrown_ == 1) return -std::expm1(j * std::log1p(-1 / bits_));
    if (throws > exact_throws_) return moment_from_cumulants(bits_, thrown_, throws);
    const auto index = static_cast<std::size_t>(j);
    if (index >= at_.size()) extend(index + 1);
    return at_[index];
}

void occupancy::extend(std::size_t entries) {
    while (at_.size() < entries) {
        for (std::uint32_t t = 0; t < thrown_; ++t) throw_bit();
        double sum = 0;
        for (std::size_t x = low_; x <= high_; ++x)
            sum += probability_[x] * power(static_cast<double>(x) / bits_, thrown_);
        at_.push_back(sum);
    }
}

// One more bit: it hits a set one with x/W, or sets a new one. All terms are positive, so nothing cancels.
void occupancy::throw_bit() {
    const bool grows = static_cast<double>(high_) < bits_;
    if (grows && ++high_ == probability_.size()) probability_.push_back(0.0);
    double* const p = probability_.data();
    const double share = 1 / bits_;
    double set = static_cast<double>(high_);
    for (std::size_t x = high_; x > low_; --x, set -= 1)
        p[x] = p[x] * (set * share) + p[x - 1] * (1 - (set - 1) * share);
    p[low_] *= static_cast<double>(low_) * share;
    while (low_ < high_ && p[low_] < negligible) p[low_++] = 0;
    while (high_ > low_ && p[high_] < negligible) p[high_--] = 0;
}

double moment_from_cumulants(double bits, std::uint32_t q, double throws) {
    const geometry flat{.sector_bits = static_cast<std::uint64_t>(bits)};
    const double mean = expected_fill(flat, throws);
    if (mean <= 0) return q == 0 ? 1 : 0;
    const double spread = fill_variance(flat, throws) / (mean * mean);

    // Moments of a normal number with that mean and variance, relative to powers of the mean.
    double before = 1; // of order r - 1
    double moment = 1; // of order r
    double skewed = 0; // of order q - 3
    for (std::uint32_t r = 1; r <= q; ++r) {
        const double after = moment + (r - 1.0) * spread * before;
        if (r + 2 == q) skewed = moment;
        before = moment;
        moment = after;
    }
    if (q >= 3) {
        const double load = throws / bits;
        const double zero = std::exp(-load);
        const double one = (1 + load) * zero;
        const double third = -zero * (1 - 3 * one + 2 * one * one + load * load * zero * zero);
        const double triples = static_cast<double>(q) * (q - 1.0) * (q - 2.0) / 6;
        moment += triples * skewed * third / (bits * bits * mean * mean * mean);
    }
    return std::clamp(std::pow(mean, q) * moment, 0.0, 1.0);
}

} // namespace bouncer::math::detail
