// The promise, measured at every layer boundary.
#include "support/random_hashes.h"
#include "support/rate_variance.h"
#include "support/statistics.h"

#include <bouncer/scalable.h>

namespace bouncer::test {
namespace {

class scalable_rate : public ::testing::TestWithParam<scalable_parameters> {};

TEST_P(scalable_rate, holds_at_every_boundary) {
    auto f = plain_scalable_bloom::create(GetParam()).value();
    const auto trials = static_cast<std::size_t>(scaled(1'000'000));
    const auto absent = random_hashes(trials, 21);
    answers there(trials);
    // Equal layers: a few, as each boundary looks at all of them.
    const std::uint64_t most = GetParam().growth == 1
                                   ? 4 * GetParam().first_keys
                                   : std::max<std::uint64_t>(scaled(700'000), 4 * GetParam().first_keys);
    std::uint64_t added = 0;
    while (f.changing_adds() < most) {
        const std::uint32_t layers = f.layer_count();
        while (f.layer_count() == layers) f.add(random_hash(22, added++));
        const auto hits = static_cast<double>(f.may_contain(absent, there.span()));
        const double expected = f.expected_fpr();
        EXPECT_TRUE(within_sigma(hits, static_cast<double>(trials), expected)) << layers << " layers";
        EXPECT_LE(expected, GetParam().rate) << layers << " layers";
        // The bits agree with the formula, within what chains differ from each other.
        double variance = 0;
        const auto layers_now = f.layers();
        for (std::uint32_t i = 0; i + 1 < f.layer_count(); ++i)
            variance += rate_variance(f.layer(i), layers_now[i].keys);
        EXPECT_TRUE(near_by_sigma(expected, f.fpr_at(f.changing_adds()), std::sqrt(variance) + 1e-9))
            << layers << " layers";
    }
    EXPECT_GE(f.layer_count(), 3u);
}

INSTANTIATE_TEST_SUITE_P(
    parameters, scalable_rate,
    ::testing::Values(
        scalable_parameters{.first_keys = 2'000, .rate = 0.01},
        scalable_parameters{.first_keys = 10'000, .rate = 0.05, .tightening = 0.5},
        scalable_parameters{.first_keys = 5'000, .rate = 0.01, .prefer = prefer::adds},
        scalable_parameters{
            .first_keys = 30'000, .rate = 0.002, .growth_small = 1, .growth = 1, .prefer = prefer::space}));

} // namespace
} // namespace bouncer::test
