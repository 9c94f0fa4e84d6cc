// Parameters of a chain: what is refused, what follows from a goal, and the sizes it will have.
#include "support/failures.h"

#include <bouncer/scalable.h>

#include <cmath>
#include <limits>

namespace bouncer::test {
namespace {

using chain = plain_scalable_bloom;

TEST(scalable_plan, goal_needs_a_rate_and_no_size) {
    EXPECT_TRUE(fails_with(chain::solve({.keys = 1000, .size_bytes = 4096}), error_code::invalid_argument,
                           "4096", "no fixed size"));
    EXPECT_TRUE(fails_with(chain::create({.keys = 1000, .false_positive_rate = 0.01, .size_bytes = 8192}),
                           error_code::invalid_argument, "8192"));
    EXPECT_TRUE(fails_with(chain::solve({.keys = 1000}), error_code::invalid_argument));
    EXPECT_TRUE(fails_with(chain::solve({.keys = 0, .false_positive_rate = 0.01}),
                           error_code::invalid_argument, "0"));
    const auto solved =
        chain::solve({.keys = 1000, .false_positive_rate = 0.02, .prefer = prefer::adds}).value();
    EXPECT_EQ(solved, (scalable_parameters{.first_keys = 1000, .rate = 0.02, .prefer = prefer::adds}));
}

TEST(scalable_plan, nonsense_is_refused_by_name) {
    const scalable_parameters good{.first_keys = 1000};
    EXPECT_TRUE(chain::check(good));
    const auto refused = [&](auto change, error_code code, const char* name) {
        scalable_parameters bad = good;
        change(bad);
        EXPECT_TRUE(fails_with(chain::create(bad), code, name));
        EXPECT_TRUE(fails_with(chain::check(bad), code, name));
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double value : {0.0, 1.0, -0.5, 2.0, nan, std::numeric_limits<double>::infinity()}) {
        refused([=](auto& p) { p.rate = value; }, error_code::invalid_argument, "rate");
        refused([=](auto& p) { p.tightening = value; }, error_code::invalid_argument, "tightening");
    }
    for (const std::uint32_t value : {0u, 17u}) {
        refused([=](auto& p) { p.growth = value; }, error_code::invalid_argument, "growth");
        refused([=](auto& p) { p.growth_small = value; }, error_code::invalid_argument, "growth_small");
    }
    refused([](auto& p) { p.first_keys = 0; }, error_code::invalid_argument, "first_keys");
    refused([](auto& p) { p.first_keys = std::uint64_t{1} << 49; }, error_code::too_large, "first_keys");
    refused([](auto& p) { p.small_keys = std::uint64_t{1} << 49; }, error_code::too_large, "small_keys");
    refused([](auto& p) { p.prefer = static_cast<prefer>(9); }, error_code::invalid_argument, "prefer");
    // The first layer's share of the rate is beyond what 64-bit hashes can keep.
    refused([](auto& p) { p.rate = 1e-18; }, error_code::invalid_argument, "cannot keep");
    EXPECT_NE(chain::describe(good).find("1000"), std::string::npos);
}

// The numbers behind the defaults: from 10,000 to 100 million keys at 1 %.
TEST(scalable_plan, bits_per_key_stay_below_what_the_page_says) {
    const scalable_parameters chosen{.first_keys = 10'000};
    const auto layers = chain::plan(chosen, 100'000'000).value();
    EXPECT_EQ(layers.size(), 11u);
    double keys = 0;
    double bits = 0;
    double rates = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        // Just before this layer: the layers before are nearly full, and it is prepared already.
        const double here = 8 * static_cast<double>(layers[i].size_bytes);
        if (i != 0) {
            const auto last = static_cast<double>(layers[i - 1].capacity);
            const double prepared_at = keys - last + (last < 1'000'000 ? last / 2 : last * 31 / 32);
            EXPECT_LE((bits + here) / std::max(prepared_at, 1e6), 38) << "layer " << i;
        }
        keys += static_cast<double>(layers[i].capacity);
        bits += here;
        rates += layers[i].rate;
        EXPECT_LE(bits / keys, 18.5) << "layer " << i;
        const math::geometry shape = bouncer::detail::blocked_layout(layers[i].filter).shape();
        EXPECT_LE(math::fpr(shape, static_cast<double>(layers[i].capacity)), layers[i].rate);
    }
    EXPECT_NEAR(bits / keys, 18.4, 0.1);
    EXPECT_LT(rates, chosen.rate);
}

TEST(scalable_plan, rates_are_the_series_and_growth_changes_once) {
    const scalable_parameters chosen{.first_keys = 50'000, .rate = 0.001, .tightening = 0.5};
    const auto layers = chain::plan(chosen, 3'000'000).value();
    ASSERT_EQ(layers.size(), 5u);
    const std::uint64_t capacities[] = {50'000, 200'000, 400'000, 800'000, 1'600'000};
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(layers[i].capacity, capacities[i]);
        EXPECT_NEAR(layers[i].rate, 0.001 * 0.5 * std::pow(0.5, i), 1e-12);
    }
}

TEST(scalable_plan, ends_at_64_layers) {
    const scalable_parameters equal{.first_keys = 5'000, .tightening = 0.95, .growth_small = 1, .growth = 1};
    EXPECT_EQ(chain::plan(equal, 64 * 5'000).value().size(), 64u);
    EXPECT_TRUE(fails_with(chain::plan(equal, 64 * 5'000 + 1), error_code::full, "64"));
}

} // namespace
} // namespace bouncer::test
