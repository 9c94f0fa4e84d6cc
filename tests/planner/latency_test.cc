// The latency model against requests that are drawn one by one.
#include <bouncer/planner.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace bouncer::planner {
namespace {

struct simulated {
    double late;
    double mean_ms;
};

// Requests whose absent keys are searched for in vain at these rates, one for each level.
simulated simulate(const latency_budget& budget, const std::vector<double>& rates, std::uint64_t requests) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> share(0, 1);
    std::uint64_t late = 0;
    double sum = 0;
    for (std::uint64_t i = 0; i < requests; ++i) {
        double ms = budget.hit_ms;
        if (share(random) < budget.absent) {
            ms = 0;
            for (const double rate : rates)
                if (share(random) < rate) ms += budget.miss_ms;
        }
        late += ms > budget.slo_ms;
        sum += ms;
    }
    return {static_cast<double>(late) / static_cast<double>(requests), sum / static_cast<double>(requests)};
}

TEST(planner_latency, the_rate_keeps_the_budget_and_no_more) {
    constexpr std::uint64_t requests = 2'000'000 / BOUNCER_TEST_SCALE;
    for (const latency_budget& budget :
         {latency_budget{5, 0.1, 8, 0.7, 0.01}, latency_budget{5, 0.1, 8, 0.05, 0.001},
          latency_budget{1, 0.5, 100, 0.99, 0.2}, latency_budget{5, 6, 8, 0.9, 0.15}}) {
        const auto plan = plan_latency(budget);
        ASSERT_TRUE(plan);
        ASSERT_TRUE(plan->rate);
        const double sigma = std::sqrt(budget.tolerate / static_cast<double>(requests));
        const auto with = simulate(budget, {*plan->rate}, requests);
        EXPECT_NEAR(with.late, budget.tolerate, 5 * sigma);
        EXPECT_NEAR(with.late, plan->late_with, 5 * sigma);
        EXPECT_NEAR(with.mean_ms, plan->mean_ms_with,
                    5 * budget.miss_ms / std::sqrt(static_cast<double>(requests)));
        const auto without = simulate(budget, {1}, requests);
        EXPECT_NEAR(without.late, plan->late_without, 5 / std::sqrt(static_cast<double>(requests)));
        // Twice the rate is too much.
        EXPECT_GT(simulate(budget, {2 * *plan->rate}, requests).late, budget.tolerate);
    }
    EXPECT_DOUBLE_EQ(*plan_latency({5, 0.1, 8, 0.7, 0.01})->rate, 0.01 / 0.7);
}

TEST(planner_latency, a_tree_keeps_the_budget) {
    constexpr std::uint64_t requests = 1'000'000 / BOUNCER_TEST_SCALE;
    // A search of one level in vain is late, then only the third is.
    for (const latency_budget& budget :
         {latency_budget{5, 0.1, 8, 0.7, 0.01, 5}, latency_budget{5, 0.1, 8, 0.9, 0.2, 5},
          latency_budget{5, 0.1, 2, 0.7, 0.01, 5}}) {
        const auto plan = plan_latency(budget);
        ASSERT_TRUE(plan && plan->rate);
        const auto tree = plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000, .reads = *plan->rate});
        ASSERT_TRUE(tree) << tree.error().message;
        const auto expected = latency_at(budget, tree->reads);
        EXPECT_LE(expected.late, budget.tolerate);
        std::vector<double> rates;
        for (const lsm_level& level : tree->levels) rates.push_back(level.rate);
        const auto with = simulate(budget, rates, requests);
        const double sigma = std::sqrt(budget.tolerate / static_cast<double>(requests));
        EXPECT_LE(with.late, expected.late + 5 * sigma);
        // The bound is close where one is late: only requests with two of them are counted twice.
        if (budget.miss_ms > budget.slo_ms) {
            EXPECT_GE(with.late, expected.late * (1 - tree->reads / 2) - 5 * sigma);
        }
        EXPECT_NEAR(with.mean_ms, expected.mean_ms,
                    5 * budget.miss_ms / std::sqrt(static_cast<double>(requests)));

        const auto without = simulate(budget, {1, 1, 1, 1, 1}, requests);
        EXPECT_NEAR(without.late, plan->late_without, 5 / std::sqrt(static_cast<double>(requests)));
        EXPECT_NEAR(without.mean_ms, plan->mean_ms_without,
                    25 * budget.miss_ms / std::sqrt(static_cast<double>(requests)));
    }
    EXPECT_DOUBLE_EQ(*plan_latency({5, 0.1, 8, 0.7, 0.01, 5})->rate, 0.01 / 0.7);
    EXPECT_DOUBLE_EQ(*plan_latency({5, 0.1, 2, 0.7, 0.01, 5})->rate, 3 * 0.01 / 0.7);
    EXPECT_FALSE(plan_latency({10, 0.1, 2, 0.7, 0.01, 5})->rate); // not even five are late
    EXPECT_FALSE(plan_latency({5, 0.1, 8, 0.7, 0.01, 0}));
}

TEST(planner_latency, no_filter_is_needed) {
    EXPECT_FALSE(plan_latency({10, 0.1, 8, 0.7, 0.01})->rate); // a miss is in time
    EXPECT_FALSE(plan_latency({5, 0.1, 8, 0.01, 0.02})->rate); // few are absent
    EXPECT_FALSE(plan_latency({5, 0.1, 8, 0, 0})->rate);
}

TEST(planner_latency, no_filter_can_help) {
    const auto slow_hits = plan_latency({5, 6, 8, 0.7, 0.01});
    ASSERT_FALSE(slow_hits);
    EXPECT_NE(slow_hits.error().message.find("present keys take 6 ms"), std::string::npos)
        << slow_hits.error().message;
    const auto nothing_tolerated = plan_latency({5, 0.1, 8, 0.7, 0});
    ASSERT_FALSE(nothing_tolerated);
    EXPECT_NE(nothing_tolerated.error().message.find("no room"), std::string::npos);
}

TEST(planner_latency, refuses_nonsense) {
    EXPECT_FALSE(plan_latency({0, 0.1, 8, 0.7, 0.01}));
    EXPECT_FALSE(plan_latency({-5, 0.1, 8, 0.7, 0.01}));
    EXPECT_FALSE(plan_latency({5, -1, 8, 0.7, 0.01}));
    EXPECT_FALSE(plan_latency({5, 0.1, std::nan(""), 0.7, 0.01}));
    EXPECT_FALSE(plan_latency({5, 0.1, 8, 1.7, 0.01}));
    EXPECT_FALSE(plan_latency({5, 0.1, 8, 0.7, -0.01}));
}

TEST(planner_traffic, of_a_tree) {
    const auto tree = plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000, .reads = 0.3});
    ASSERT_TRUE(tree);
    const auto flow = plan_traffic(20'000, 0.9, *tree);
    ASSERT_TRUE(flow);
    EXPECT_NEAR(flow->wasted_per_s, 18'000 * tree->reads, 1e-6);
    EXPECT_NEAR(flow->remaining_per_s, 2'000 + flow->wasted_per_s, 1e-6);
    // Who is not turned away searches at least once in vain, and some twice.
    EXPECT_GT(flow->avoided_per_s, 18'000 - flow->wasted_per_s);
    EXPECT_LT(flow->avoided_per_s, 18'000 - flow->wasted_per_s * (1 - tree->reads / 2));
    EXPECT_FALSE(plan_traffic(100, 2, *tree));
}

TEST(planner_traffic, adds_up) {
    const auto flow = plan_traffic(20'000, 0.9, 0.01);
    ASSERT_TRUE(flow);
    EXPECT_DOUBLE_EQ(flow->avoided_per_s, 17'820);
    EXPECT_NEAR(flow->wasted_per_s, 180, 1e-9);
    EXPECT_NEAR(flow->avoided_per_s + flow->remaining_per_s, 20'000, 1e-9);
    EXPECT_FALSE(plan_traffic(0, 0.9, 0.01));
    EXPECT_FALSE(plan_traffic(100, 2, 0.01));
}

} // namespace
} // namespace bouncer::planner
