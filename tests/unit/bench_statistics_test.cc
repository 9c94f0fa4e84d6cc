// The instrument's own arithmetic: percentiles and the interval of a paired ratio.
#include "../../bench/histogram.h"
#include "../../bench/statistics.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

TEST(bench_histogram, small_values_are_exact) {
    bench::histogram times;
    for (std::uint64_t value = 0; value < 64; ++value) times.record(value);
    EXPECT_EQ(times.total(), 64u);
    EXPECT_EQ(times.percentile(0.5), 31u);
    EXPECT_EQ(times.percentile(1), 63u);
    EXPECT_EQ(bench::histogram().percentile(0.5), 0u);
}

TEST(bench_histogram, a_slot_holds_its_value_and_is_at_most_a_32nd_wide) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t value = random() >> (random() % 64);
        const std::size_t slot = bench::histogram::slot_of(value);
        const std::uint64_t last = bench::histogram::last_of(slot);
        ASSERT_GE(last, value);
        ASSERT_LE(last - value, value / 32);
        ASSERT_EQ(bench::histogram::slot_of(last), slot);
        if (slot > 0) {
            ASSERT_LT(bench::histogram::last_of(slot - 1), value);
        }
    }
    EXPECT_EQ(bench::histogram::last_of(bench::histogram::slot_of(~std::uint64_t{0})), ~std::uint64_t{0});
}

TEST(bench_histogram, percentiles_of_a_ramp_and_of_a_merge) {
    bench::histogram all;
    bench::histogram other;
    for (std::uint64_t value = 1; value <= 100'000; ++value) (value % 2 == 0 ? all : other).record(value);
    all.merge(other);
    for (const double fraction : {0.5, 0.99, 0.999, 0.9999}) {
        const double exact = fraction * 100'000;
        EXPECT_GE(static_cast<double>(all.percentile(fraction)), exact);
        EXPECT_LE(static_cast<double>(all.percentile(fraction)), exact * (1 + 1.0 / 32));
    }
}

TEST(bench_interval, the_order_statistics_that_tables_give) {
    EXPECT_EQ(bench::outside_interval(5), 0u); // no 95 % interval: the extremes
    EXPECT_EQ(bench::outside_interval(6), 0u);
    EXPECT_EQ(bench::outside_interval(9), 1u);
    EXPECT_EQ(bench::outside_interval(15), 3u);
    EXPECT_EQ(bench::outside_interval(31), 9u);
}

TEST(bench_interval, of_a_paired_ratio) {
    const std::vector<double> slow{2, 4, 6, 8};
    const std::vector<double> fast{1, 2, 3, 4, 1}; // a fifth round without a partner
    const auto ratio = bench::paired_ratio(slow, fast);
    EXPECT_EQ(ratio.median, 2);
    EXPECT_EQ(ratio.low, 2);
    EXPECT_EQ(ratio.high, 2);
    EXPECT_EQ(bench::paired_difference(slow, fast).median, 2.5);
    EXPECT_EQ(bench::paired_ratio({}, fast).median, 0);
}

TEST(bench_interval, holds_the_true_median_95_times_of_100) {
    std::mt19937_64 random(2);
    std::lognormal_distribution<double> noise(0, 0.3); // its median is 1
    int held = 0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> values(15);
        for (double& value : values) value = noise(random);
        const auto found = bench::median_interval(values);
        held += found.low <= 1 && 1 <= found.high;
    }
    // 96.5 % exactly for 15 values; five sigma are 1.5 %.
    EXPECT_NEAR(held / static_cast<double>(trials), 0.965, 0.015);
}

} // namespace
