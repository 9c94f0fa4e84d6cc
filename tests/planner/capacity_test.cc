// Growth against counting day by day.
#include <bouncer/planner.h>

#include <gtest/gtest.h>

#include <cmath>

namespace bouncer::planner {
namespace {

using namespace std::chrono;

TEST(planner_capacity, compounds_year_by_year) {
    double keys = 50'000'000;
    for (int year = 1; year <= 10; ++year) {
        keys *= 1.3;
        const auto plan =
            plan_capacity(50'000'000, {.per_year = 0.3, .years = static_cast<double>(year), .headroom = 2});
        ASSERT_TRUE(plan);
        EXPECT_NEAR(static_cast<double>(plan->keys_at_end), keys, 1 + 1e-9 * keys);
        EXPECT_NEAR(static_cast<double>(plan->keys_design), 2 * keys, 2 + 1e-9 * keys);
    }
}

TEST(planner_capacity, fills_on_the_day_that_counting_finds) {
    const year_month_day start{year{2026}, month{11}, day{16}};
    for (const double per_year : {0.05, 0.3, 1.0, 9.0}) {
        for (const double headroom : {1.0, 1.5, 4.0}) {
            const std::uint64_t today = 1'000'000;
            const auto plan = plan_capacity(today, {.per_year = per_year, .years = 2, .headroom = headroom});
            ASSERT_TRUE(plan && plan->years_until_full);
            const double daily = std::pow(1 + per_year, 1 / 365.2425);
            sys_days at{start};
            for (double keys = today; keys * daily < static_cast<double>(plan->keys_design); keys *= daily)
                at += days{1};
            const auto found = day_after(start, *plan->years_until_full);
            ASSERT_TRUE(found);
            EXPECT_LE(std::abs((sys_days{*found} - at).count()), 1) << per_year << " " << headroom;
        }
    }
}

TEST(planner_capacity, periods_agree) {
    EXPECT_NEAR(growth_per_year(0.3, 365.2425), 0.3, 1e-12);
    EXPECT_NEAR(growth_per_year(0.02, 365.2425 / 12), std::pow(1.02, 12) - 1, 1e-12);
    EXPECT_NEAR(growth_per_year(-0.5, 365.2425), -0.5, 1e-12);
}

TEST(planner_capacity, what_shrinks_or_stays_never_fills) {
    const auto shrinks = plan_capacity(1000, {.per_year = -0.5, .years = 3, .headroom = 1.5});
    ASSERT_TRUE(shrinks);
    EXPECT_EQ(shrinks->keys_design, 1500u);
    EXPECT_FALSE(shrinks->years_until_full);
    const auto stays = plan_capacity(1000, {.per_year = 0, .years = 3, .headroom = 1});
    ASSERT_TRUE(stays);
    EXPECT_FALSE(stays->years_until_full);
}

TEST(planner_capacity, refuses_nonsense) {
    EXPECT_FALSE(plan_capacity(0, {.per_year = 0.3, .years = 1}));
    EXPECT_FALSE(plan_capacity(1000, {.per_year = -2, .years = 1}));
    EXPECT_FALSE(plan_capacity(1000, {.per_year = -1, .years = 1}));
    EXPECT_FALSE(plan_capacity(1000, {.per_year = 0.3, .years = -1}));
    EXPECT_FALSE(plan_capacity(1000, {.per_year = 0.3, .years = 1, .headroom = 0.5}));
    EXPECT_FALSE(plan_capacity(1000, {.per_year = 0.3, .years = std::nan("")}));
    EXPECT_EQ(plan_capacity(1'000'000'000, {.per_year = 10, .years = 30}).error().code,
              error_code::too_large);
}

TEST(planner_capacity, days_end_with_the_calendar) {
    const year_month_day start{year{2026}, month{11}, day{16}};
    EXPECT_EQ(*day_after(start, 0), start);
    EXPECT_EQ(*day_after(start, 1), (year_month_day{year{2027}, month{11}, day{16}}));
    EXPECT_FALSE(day_after(start, 9000));
    EXPECT_FALSE(day_after(start, 1e300));
}

} // namespace
} // namespace bouncer::planner
