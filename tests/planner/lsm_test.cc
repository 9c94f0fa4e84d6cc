// The split of memory over levels against a minimiser that knows nothing of Lagrange.
#include <bouncer/planner.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bouncer::planner {
namespace {

constexpr double ln2_squared = std::numbers::ln2 * std::numbers::ln2;

double reads(const std::vector<double>& bits) {
    double sum = 0;
    for (const double c : bits) sum += std::exp(-ln2_squared * c);
    return sum;
}

double used(const std::vector<double>& keys, const std::vector<double>& bits) {
    return std::inner_product(keys.begin(), keys.end(), bits.begin(), 0.0);
}

std::vector<double> levels(int count, double ratio, double keys) {
    std::vector<double> out;
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += std::pow(ratio, i);
    for (int i = 0; i < count; ++i) out.push_back(keys * std::pow(ratio, i) / sum);
    return out;
}

// Moves bits from one level to another while that helps, in steps that become smaller.
std::vector<double> minimised(const std::vector<double>& keys, double bits) {
    std::vector<double> out(keys.size(), bits / std::accumulate(keys.begin(), keys.end(), 0.0));
    for (double step = 0.3 * bits; step > 1e-9 * bits;) {
        bool better = false;
        for (std::size_t from = 0; from < keys.size(); ++from) {
            for (std::size_t to = 0; to < keys.size(); ++to) {
                const double moved = std::min(step, out[from] * keys[from]);
                if (from == to || moved <= 0) continue;
                std::vector<double> tried = out;
                tried[from] = std::max(0.0, tried[from] - moved / keys[from]);
                tried[to] += moved / keys[to];
                if (reads(tried) < reads(out) * (1 - 1e-15)) {
                    out = std::move(tried);
                    better = true;
                }
            }
        }
        if (!better) step /= 2;
    }
    return out;
}

TEST(planner_lsm, no_other_split_is_better) {
    for (const int count : {1, 2, 4, 6}) {
        for (const double ratio : {2.0, 4.0, 10.0}) {
            for (const double bits_per_key : {0.3, 1.0, 4.0, 10.0, 16.0}) {
                const auto keys = levels(count, ratio, 1e6);
                const double bits = 1e6 * bits_per_key;
                const auto split = monkey_bits(keys, bits);
                EXPECT_NEAR(used(keys, split), bits, 1e-6 * bits);
                EXPECT_GE(*std::min_element(split.begin(), split.end()), 0);
                const double numeric = reads(minimised(keys, bits));
                EXPECT_LE(reads(split), numeric * (1 + 1e-9)) << count << " " << ratio << " " << bits_per_key;
                EXPECT_NEAR(reads(split), numeric, 1e-3 * numeric)
                    << count << " " << ratio << " " << bits_per_key;
            }
        }
    }
}

TEST(planner_lsm, levels_differ_by_the_known_formula) {
    const auto keys = levels(5, 10, 1e8);
    const auto split = monkey_bits(keys, 10 * 1e8);
    for (std::size_t i = 0; i + 1 < split.size(); ++i)
        EXPECT_NEAR(split[i] - split[i + 1], std::log(10.0) / ln2_squared, 1e-9);
}

TEST(planner_lsm, the_largest_levels_go_without_when_memory_is_short) {
    const auto split = plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000, .size_bytes = 1'000'000});
    ASSERT_TRUE(split);
    EXPECT_GE(split->unfiltered, 1u);
    EXPECT_EQ(split->levels.back().size_bytes, 0u);
    EXPECT_EQ(split->levels.back().rate, 1);
    EXPECT_LT(split->reads, split->uniform_reads);
}

// Against every number of levels without a filter, by exact rates. At 0.08 bits per key the curve alone would give level 4 a
// filter that hardly filters.
TEST(planner_lsm, exact_rates_decide_how_many_levels_go_without) {
    for (const double bits_per_key : {0.02, 0.05, 0.08, 0.1, 0.2, 0.5, 2.0}) {
        const double bits = 1e8 * bits_per_key;
        const auto plan = plan_lsm({.levels = 5,
                                    .ratio = 10,
                                    .keys = 100'000'000,
                                    .size_bytes = static_cast<std::uint64_t>(bits / 8)});
        ASSERT_TRUE(plan);
        const auto keys = levels(5, 10, 1e8);
        for (std::ptrdiff_t filtered = 1; filtered <= 5; ++filtered) {
            const std::vector<double> smallest(keys.begin(), keys.begin() + filtered);
            const auto split = monkey_bits(smallest, bits);
            double sum = 5 - static_cast<double>(filtered);
            for (std::size_t i = 0; i < smallest.size(); ++i) {
                const auto bytes = static_cast<std::uint64_t>(split[i] * smallest[i] / 8);
                const auto made =
                    design("bloom", {.keys = static_cast<std::uint64_t>(smallest[i]), .size_bytes = bytes});
                sum += made ? made->rate : 1;
            }
            EXPECT_LE(plan->reads, sum * 1.001) << bits_per_key << " " << filtered;
        }
    }
    EXPECT_EQ(plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000, .size_bytes = 1'000'000})->unfiltered,
              2u);
}

TEST(planner_lsm, the_plan_adds_up) {
    const lsm_tree tree{.levels = 5, .ratio = 10, .keys = 100'000'000, .size_bytes = 125'000'000};
    const auto split = plan_lsm(tree);
    ASSERT_TRUE(split);
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
    for (const auto& level : split->levels) {
        keys += level.keys;
        bytes += level.size_bytes;
    }
    EXPECT_NEAR(static_cast<double>(keys), 1e8, 5);
    EXPECT_EQ(bytes, split->size_bytes);
    EXPECT_LE(bytes, *tree.size_bytes);
    EXPECT_GE(bytes, *tree.size_bytes - *tree.size_bytes / 1000); // a number of words that can be folded
    EXPECT_EQ(split->keys, *tree.keys);
    // Exact rates of whole k and whole words are a little above the curve.
    double ideal = 0;
    for (const auto& level : split->levels) ideal += std::exp(-ln2_squared * level.bits_per_key);
    EXPECT_GE(split->reads, ideal * 0.999);
    EXPECT_LE(split->reads, ideal * 1.02);
    EXPECT_LT(split->reads, split->uniform_reads / 3);
}

// The textbook's rate of the best flat filter, which knows nothing of the planner.
double textbook_rate(const lsm_level& level) {
    if (level.size_bytes == 0) return 1;
    double best = 1;
    for (int k = 1; k <= 64; ++k) best = std::min(best, std::pow(1 - std::exp(-k / level.bits_per_key), k));
    return best;
}

TEST(planner_lsm, the_least_memory_that_keeps_the_reads) {
    for (const lsm_tree& goal :
         {lsm_tree{.levels = 5, .ratio = 10, .keys = 2'000'000'000, .reads = 0.01 / 0.7},
          lsm_tree{.levels = 1, .ratio = 10, .keys = 50'000'000, .reads = 0.01},
          lsm_tree{.levels = 7, .ratio = 4, .keys = 300'000'000, .reads = 0.0001},
          lsm_tree{.levels = 12, .ratio = 1.5, .keys = 40'000'000, .reads = 0.3},
          lsm_tree{.levels = 5, .ratio = 10, .keys = 100'000'000, .reads = 1.1},
          lsm_tree{.levels = 5, .ratio = 10, .keys = 100'000'000, .reads = 3.5}}) {
        SCOPED_TRACE(std::to_string(goal.levels) + " levels, " + std::to_string(*goal.reads));
        const auto plan = plan_lsm(goal);
        ASSERT_TRUE(plan) << plan.error().message;
        double sum = 0;
        double textbook = 0;
        std::uint64_t bytes = 0;
        for (const auto& level : plan->levels) {
            sum += level.rate;
            textbook += textbook_rate(level);
            bytes += level.size_bytes;
        }
        EXPECT_LE(plan->reads, *goal.reads);
        EXPECT_DOUBLE_EQ(plan->reads, sum);
        EXPECT_NEAR(plan->reads, textbook, 1e-3 * textbook);
        EXPECT_GE(plan->reads, 0.995 * *goal.reads);
        EXPECT_EQ(plan->size_bytes, bytes);

        lsm_tree memory = goal;
        memory.reads.reset();
        memory.size_bytes = bytes;
        EXPECT_NEAR(plan_lsm(memory)->reads, plan->reads, 2e-3 * plan->reads);
        memory.size_bytes = bytes - bytes / 100;
        EXPECT_GT(plan_lsm(memory)->reads, *goal.reads);
    }
}

// The least bytes by which the curve keeps the reads: no filter is below it.
double curve_bytes(const lsm_tree& goal) {
    const auto keys = levels(static_cast<int>(goal.levels), goal.ratio, static_cast<double>(*goal.keys));
    double low = 0;
    double high = 64 * static_cast<double>(*goal.keys);
    while (high - low > 1e-6 * high) {
        const double middle = (low + high) / 2;
        (reads(monkey_bits(keys, middle)) <= *goal.reads ? high : low) = middle;
    }
    return high / 8;
}

// The share of the first level is less than a word there.
TEST(planner_lsm, a_first_level_of_a_few_keys_has_a_word) {
    struct small_level {
        lsm_tree goal;
        double above_curve; // below 2 bits per key a filter is much worse than the curve
    };
    for (const auto& [goal, above_curve] :
         {small_level{{.levels = 5, .ratio = 10, .keys = 12'000, .reads = 0.01}, 1.02},
          small_level{{.levels = 7, .ratio = 20, .keys = 100'000'000, .reads = 0.5}, 1.1},
          small_level{{.levels = 7, .ratio = 20, .keys = 100'000'000, .reads = 0.9}, 1.5},
          small_level{{.levels = 7, .ratio = 20, .keys = 100'000'000, .reads = 2.79}, 1.7}}) {
        SCOPED_TRACE(std::to_string(*goal.keys) + " keys, " + std::to_string(*goal.reads));
        const auto plan = plan_lsm(goal);
        ASSERT_TRUE(plan) << plan.error().message;
        EXPECT_LE(plan->reads, *goal.reads);
        EXPECT_GE(plan->levels[0].size_bytes, 8u);
        EXPECT_LE(static_cast<double>(plan->size_bytes), above_curve * curve_bytes(goal) + 8 * goal.levels);
        EXPECT_LT(plan->levels[0].uniform_rate, 0.01);
    }
    const auto split = plan_lsm({.levels = 5, .ratio = 10, .keys = 12'000, .bits_per_key = 10});
    ASSERT_TRUE(split);
    EXPECT_EQ(split->unfiltered, 0u);
    EXPECT_LT(split->reads, 0.0125);
    EXPECT_LT(plan_lsm({.levels = 5, .ratio = 10, .keys = 40'000, .reads = 0.01})->uniform_reads, 0.036);
    const auto most = plan_lsm({.levels = 5, .ratio = 10, .size_bytes = 16'384, .reads = 0.01});
    ASSERT_TRUE(most) << most.error().message;
    EXPECT_GT(most->keys, 12'500u);
}

TEST(planner_lsm, small_memory_is_a_bound_and_filters_are_of_use) {
    for (std::uint64_t bytes = 64; bytes < 20'000; bytes += bytes / 2) {
        const auto plan = plan_lsm({.levels = 5, .ratio = 10, .keys = 12'000, .size_bytes = bytes});
        ASSERT_TRUE(plan);
        EXPECT_LE(plan->size_bytes, bytes);
        EXPECT_LT(plan->unfiltered, 5u) << bytes;
        for (const lsm_level& level : plan->levels) {
            if (level.size_bytes != 0) {
                EXPECT_LE(level.rate, 0.95) << bytes;
            }
        }
    }
    // 64 bytes for 3,333 keys would turn away one absent key in a thousand.
    const auto none = plan_lsm({.levels = 2, .ratio = 2, .keys = 10'000, .bits_per_key = 0.001});
    ASSERT_TRUE(none);
    EXPECT_EQ(none->unfiltered, 2u);
    EXPECT_EQ(none->size_bytes, 0u);
    EXPECT_EQ(none->reads, 2);
}

TEST(planner_lsm, a_level_has_at_most_the_largest_filter) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 47;
    const auto refused = plan_lsm({.levels = 3, .ratio = 10, .keys = 140'000'000'000'000, .reads = 0.01});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("128 TiB each"), std::string::npos) << refused.error().message;
    // What the largest level cannot have goes to the others.
    const auto given = plan_lsm(
        {.levels = 3, .ratio = 10, .keys = 140'000'000'000'000, .size_bytes = largest + largest / 2});
    ASSERT_TRUE(given);
    EXPECT_EQ(given->unfiltered, 0u);
    EXPECT_EQ(given->levels[2].size_bytes, largest);
    EXPECT_GT(given->size_bytes, largest + largest / 2 - largest / 500);
    const auto solved = plan_lsm({.levels = 3, .ratio = 10, .keys = 140'000'000'000'000, .reads = 0.0138});
    ASSERT_TRUE(solved) << solved.error().message;
    EXPECT_LE(solved->levels[2].size_bytes, largest);
    EXPECT_LE(solved->reads, 0.0138);
}

TEST(planner_lsm, the_most_keys_that_keep_the_reads) {
    lsm_tree goal{.levels = 5, .ratio = 10, .size_bytes = 250'000'000, .reads = 0.02};
    const auto plan = plan_lsm(goal);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_LE(plan->reads, 0.02);
    EXPECT_LE(plan->size_bytes, 250'000'000u);
    goal.reads.reset();
    goal.keys = plan->keys + plan->keys / 100;
    EXPECT_GT(plan_lsm(goal)->reads, 0.02);
    EXPECT_EQ(plan_lsm({.levels = 5, .ratio = 10, .size_bytes = 64, .reads = 0.02}).error().code,
              error_code::too_large);
}

TEST(planner_lsm, memory_beside_the_reads_is_a_bound) {
    lsm_tree goal{.levels = 5, .ratio = 10, .keys = 100'000'000, .reads = 0.01};
    const auto free = plan_lsm(goal);
    ASSERT_TRUE(free);
    goal.size_bytes = free->size_bytes;
    const auto bounded = plan_lsm(goal);
    ASSERT_TRUE(bounded) << bounded.error().message;
    EXPECT_EQ(bounded->size_bytes, free->size_bytes);
    EXPECT_EQ(bounded->reads, free->reads);
    goal.size_bytes = 100'000'000;
    const auto refused = plan_lsm(goal);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::too_large);
    EXPECT_NE(refused.error().message.find("into 100000000 bytes"), std::string::npos);
    EXPECT_NE(refused.error().message.find("need " + std::to_string(free->size_bytes)), std::string::npos)
        << refused.error().message;
    goal.size_bytes.reset();
    goal.bits_per_key = 8; // the same, told per key
    EXPECT_EQ(plan_lsm(goal).error().code, error_code::too_large);
}

TEST(planner_lsm, reads_with_more_keys_than_planned) {
    const auto plan = plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000, .size_bytes = 10'000'000});
    ASSERT_TRUE(plan);
    EXPECT_GE(plan->unfiltered, 1u);
    EXPECT_NEAR(plan->reads_at(100'000'000), plan->reads, 1e-9);
    EXPECT_NEAR(plan->reads_at(0), plan->unfiltered, 1e-9);
    double doubled = 0; // each filter with twice its keys
    for (const auto& level : plan->levels) {
        if (level.size_bytes == 0) {
            doubled += 1;
            continue;
        }
        const auto made = design("bloom", {.keys = level.keys, .size_bytes = level.size_bytes});
        doubled += made->rate_at(2 * level.keys);
    }
    EXPECT_NEAR(plan->reads_at(200'000'000), doubled, 1e-4);
}

TEST(planner_lsm, refuses_reads_that_make_no_sense) {
    const auto refused = [](double reads, const std::string& why) {
        const auto plan = plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000, .reads = reads});
        ASSERT_FALSE(plan) << reads;
        EXPECT_EQ(plan.error().code, error_code::invalid_argument);
        EXPECT_NE(plan.error().message.find(why), std::string::npos) << plan.error().message;
    };
    refused(0, "must be above 0");
    refused(-0.1, "must be above 0");
    refused(std::nan(""), "must be above 0");
    refused(1e-13, "collisions alone");
    refused(5, "no filter is needed: without one an absent key costs 5 reads in vain");
    refused(INFINITY, "no filter is needed");
    EXPECT_FALSE(plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000}));
    EXPECT_FALSE(plan_lsm({.levels = 5, .ratio = 10, .reads = 0.1}));
    EXPECT_FALSE(plan_lsm({.levels = 32, .ratio = 1000, .size_bytes = 1'000'000, .reads = 0.1}));
    EXPECT_EQ(
        plan_lsm({.levels = 5, .ratio = 10, .keys = std::uint64_t{1} << 48, .reads = 1e-4}).error().code,
        error_code::too_large); // 2^50 bytes are not enough
}

TEST(planner_lsm, refuses_nonsense) {
    EXPECT_FALSE(plan_lsm({.levels = 0, .ratio = 10, .keys = 1000, .size_bytes = 1000}));
    EXPECT_FALSE(plan_lsm({.levels = 33, .ratio = 10, .keys = 1000, .size_bytes = 1000}));
    EXPECT_FALSE(plan_lsm({.levels = 5, .ratio = 1, .keys = 1000, .size_bytes = 1000}));
    EXPECT_FALSE(plan_lsm({.levels = 5, .ratio = std::nan(""), .keys = 1000, .size_bytes = 1000}));
    EXPECT_FALSE(
        plan_lsm({.levels = 5, .ratio = 10, .keys = 1000, .size_bytes = 1000})); // less than a key on top
    EXPECT_FALSE(plan_lsm({.levels = 2, .ratio = 10, .keys = 1000, .size_bytes = 0}));
}

} // namespace
} // namespace bouncer::planner
