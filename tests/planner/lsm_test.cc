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
    EXPECT_LE(bytes, tree.size_bytes);
    EXPECT_GE(bytes + 5, tree.size_bytes);
    // Exact rates of whole k and whole words are a little above the curve.
    double ideal = 0;
    for (const auto& level : split->levels) ideal += std::exp(-ln2_squared * level.bits_per_key);
    EXPECT_GE(split->reads, ideal * 0.999);
    EXPECT_LE(split->reads, ideal * 1.02);
    EXPECT_LT(split->reads, split->uniform_reads / 3);
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
