// Designs against filters that are built and asked.
#include <bouncer/planner.h>

#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace bouncer::planner {
namespace {

constexpr std::uint64_t keys = 100'000;

std::uint64_t questions(double rate) {
    return std::max<std::uint64_t>(4096,
                                   test::divided(static_cast<std::uint64_t>(std::min(4000 / rate, 4e6))));
}

// Five sigma of the binomial, and what filters of one design differ by: the fill of a block varies, a ribbon's fraction
// too, and the more the lower the rate is. A stable filter is still on its way after eight turnovers: 3 %.
void expect_rate(const measurement& run, double rate, bool settles, std::string_view kind) {
    const double sigma = std::sqrt(rate * (1 - rate) / static_cast<double>(run.asked));
    const double between = (rate < 0.001 ? 0.1 : 0.03) * rate;
    EXPECT_NEAR(run.rate, rate, 5 * sigma + between + (settles ? 0.03 * rate : 0)) << kind;
}

TEST(planner_built, solved_plans_keep_their_rate) {
    for (const double rate : {0.05, 0.01, 0.001}) {
        const auto made = rank({.keys = keys, .rate = rate});
        ASSERT_TRUE(made);
        for (const candidate& one : *made) {
            if (one.size_bytes == 0) continue; // cascade
            const auto run =
                measure(one.kind, {.keys = keys, .false_positive_rate = rate}, questions(one.rate));
            ASSERT_TRUE(run) << one.kind << ": " << run.error().message;
            EXPECT_LE(one.rate, one.can.foreign ? 1.05 * rate : rate) << one.kind;
            if (one.rate > 1e-7) expect_rate(*run, one.rate, one.can.forget, one.kind);
            const auto size = static_cast<double>(one.size_bytes);
            EXPECT_NEAR(static_cast<double>(run->size_bytes), size, one.can.fixed ? 0.02 * size : 0)
                << one.kind;
        }
    }
}

TEST(planner_built, sizes_are_filled) {
    const auto made = rank({.keys = keys, .size_bytes = 150'000});
    ASSERT_TRUE(made);
    for (const candidate& one : *made) {
        if (!one.why_not.empty()) continue;
        const auto run = measure(one.kind, {.keys = keys, .size_bytes = 150'000}, questions(one.rate));
        ASSERT_TRUE(run) << one.kind << ": " << run.error().message;
        expect_rate(*run, one.rate, false, one.kind);
        EXPECT_EQ(run->size_bytes, one.size_bytes) << one.kind;
    }
}

TEST(planner_built, overfilled_filters_have_the_rate_that_was_told) {
    for (const double fill : {0.5, 1.5, 2.5}) {
        const auto made = rank({.keys = keys, .rate = 0.01});
        ASSERT_TRUE(made);
        for (const candidate& one : *made) {
            if (!one.rate_at || one.can.forget) continue;
            const double expected = one.rate_at(static_cast<std::uint64_t>(fill * keys));
            if (expected < 1e-5) continue;
            const auto run =
                measure(one.kind, {.keys = keys, .false_positive_rate = 0.01}, questions(expected), fill);
            ASSERT_TRUE(run) << one.kind << ": " << run.error().message;
            // A chain counts adds that changed a layer, and its layers take a little more than their capacity.
            expect_rate(*run, expected, one.can.grow, one.kind);
        }
    }
}

TEST(planner_built, measure_refuses) {
    EXPECT_FALSE(measure("nothing", {.keys = keys, .false_positive_rate = 0.01}, 100));
    EXPECT_FALSE(measure("bloom", {.keys = 0, .false_positive_rate = 0.01}, 100));
    EXPECT_FALSE(measure("bloom", {.keys = keys, .false_positive_rate = 0.01}, 100, -1));
    EXPECT_FALSE(measure("ribbon", {.keys = keys, .false_positive_rate = 0.01}, 100, 2));
    EXPECT_FALSE(measure("cascade", {.keys = keys, .false_positive_rate = 0.01}, 100));
}

} // namespace
} // namespace bouncer::planner
