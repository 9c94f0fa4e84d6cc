// Bounds for random measurements: by sigma, on both sides, at fixed seeds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#ifndef BOUNCER_TEST_SCALE
#define BOUNCER_TEST_SCALE 1
#endif

namespace bouncer::test {

// Whether sizes are whole: not under a checker or an emulator, which leave out what only repeats.
inline constexpr bool whole_sizes = BOUNCER_TEST_SCALE == 1;

// A statistical size, divided for slow builds; at least 1. The bounds below follow the size, so they hold for
// every scale.
constexpr std::uint64_t scaled(std::uint64_t n) {
    return std::max<std::uint64_t>(1, n / BOUNCER_TEST_SCALE);
}
// The same for tests of threads, divided by 20 at most: threads must have enough to do to meet at all.
constexpr std::uint64_t scaled_for_threads(std::uint64_t n) {
    return std::max<std::uint64_t>(1, n / std::min(BOUNCER_TEST_SCALE, 20));
}

// What is divided once more, by BOUNCER_TEST_DIVIDE in the environment, because it takes minutes (tests/CMakeLists.txt).
inline std::uint64_t divisor() {
    static const std::uint64_t wanted = [] {
        const char* const text = std::getenv("BOUNCER_TEST_DIVIDE");
        return std::max<std::uint64_t>(1, text == nullptr ? 1 : std::strtoull(text, nullptr, 10));
    }();
    return wanted;
}
inline std::uint64_t divided(std::uint64_t n) {
    return std::max<std::uint64_t>(1, scaled(n) / divisor());
}

// Is `measured` within `sigmas` standard errors of `expected`?
inline ::testing::AssertionResult near_by_sigma(double measured, double expected, double standard_error,
                                                double sigmas = 5) {
    const double off = measured - expected;
    const bool near = std::abs(off) <= sigmas * standard_error;
    return (near ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
           << "measured " << measured << ", expected " << expected << " +- " << standard_error << ": "
           << (standard_error > 0 ? off / standard_error : off) << " sigma off, " << sigmas << " allowed";
}

// Is the number of hits in so many trials what the probability promises? `rate_variance` is the variance of
// the hit rate between filters, where that matters: all trials then share one draw of it.
inline ::testing::AssertionResult within_sigma(double hits, double trials, double probability,
                                               double sigmas = 5, double rate_variance = 0) {
    const double variance = probability * (1 - probability) / trials + rate_variance;
    return near_by_sigma(hits / trials, probability, std::sqrt(variance), sigmas);
}

// Mean and spread of independent values, one pass (Welford).
class sample {
  public:
    void add(double value) {
        ++count_;
        const double off = value - mean_;
        mean_ += off / count_;
        squares_ += off * (value - mean_);
    }
    double count() const { return count_; }
    double mean() const { return mean_; }
    double variance() const { return count_ > 1 ? squares_ / (count_ - 1) : 0; }
    double standard_error() const { return std::sqrt(variance() / count_); }

  private:
    double count_ = 0;
    double mean_ = 0;
    double squares_ = 0;
};

} // namespace bouncer::test
