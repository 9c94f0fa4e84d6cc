// expected_fpr_above: fires when the rate is what was asked for, whatever the kind and its fill.
#include <bouncer/blocked_bloom.h>
#include <bouncer/bloom.h>
#include <bouncer/counting_bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/rebuild_trigger.h>

#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace bouncer::test {
namespace {

constexpr std::uint64_t designed = 50'000;

template <class F>
F made_for(double rate) {
    return F::create({.keys = designed, .false_positive_rate = rate}).value();
}

// Adds keys, half a percent of the design at a time, until the trigger fires; how many there are then.
template <class F, class Signals>
std::uint64_t fires_at(F& filter, const rebuild_trigger& due, Signals signals) {
    constexpr std::uint64_t step = designed / 200;
    for (std::uint64_t keys = 0; keys < 3 * designed;) {
        filter.add_batch(random_hashes(step, 1, keys));
        keys += step;
        if (due(signals(filter))) return keys;
    }
    return 0;
}

constexpr auto by_scan = [](const auto& f) { return rebuild_signals{.expected_fpr = f.expected_fpr()}; };
constexpr auto by_sample = [](const auto& f) {
    return rebuild_signals{.expected_fpr = f.sampled_fpr().value};
};
constexpr auto by_fill = [](const auto& f) { return rebuild_signals{.fill = f.fill_ratio()}; };

// The math of the kind, which knows nothing of these bits, puts the limit within 1.5 % of the keys: the rate of a filter of
// this size is off by 2 % of itself (one sigma), its keys by a third of a percent, and a step is half a percent.
template <class F, class Signals>
void expect_at_the_rate(double promise, double factor, Signals signals) {
    SCOPED_TRACE(testing::Message() << F::kind_name << ", " << factor << " times " << promise);
    F filter = made_for<F>(promise);
    const std::uint64_t keys = fires_at(filter, expected_fpr_above(factor, promise), signals);
    ASSERT_NE(keys, 0u);
    EXPECT_LT(filter.fpr_at(keys - keys * 3 / 200 - designed / 200), factor * promise) << keys;
    EXPECT_GT(filter.fpr_at(keys + keys * 3 / 200), factor * promise) << keys;
    // And so do keys that were never added.
    const std::uint64_t asked = scaled(2'000'000);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < asked; ++i) found += filter.may_contain(random_hash(2, i));
    EXPECT_TRUE(within_sigma(static_cast<double>(found), static_cast<double>(asked), filter.expected_fpr()));
}

TEST(rate_trigger, fires_at_the_promised_rate) {
    for (const double promise : {0.01, 0.001}) {
        expect_at_the_rate<plain_blocked_bloom>(promise, 1, by_scan);
        expect_at_the_rate<plain_blocked_bloom>(promise, 1.5, by_scan);
        expect_at_the_rate<plain_bloom>(promise, 1.5, by_scan);
        expect_at_the_rate<plain_counting_bloom>(promise, 1.5, by_scan);
    }
}

TEST(rate_trigger, takes_a_sample_too) {
    expect_at_the_rate<plain_blocked_bloom>(0.01, 1.5, by_sample);
    expect_at_the_rate<plain_bloom>(0.001, 1.5, by_sample);
}

// At the promise itself it does not fire before the keys of the goal are in, and soon after.
TEST(rate_trigger, fires_with_the_keys_of_the_goal) {
    for (const double promise : {0.01, 0.001}) {
        auto filter = made_for<plain_blocked_bloom>(promise);
        const std::uint64_t keys = fires_at(filter, expected_fpr_above(1, promise), by_scan);
        EXPECT_GT(keys, designed * 98 / 100);
        EXPECT_LT(keys, designed * 103 / 100);
    }
}

// An empty filter has the rate 0, which is above no limit, a negative one included.
TEST(rate_trigger, an_empty_filter_is_never_due) {
    const auto filter = made_for<plain_blocked_bloom>(0.01);
    for (const double factor : {-1.0, 0.0, 1.5})
        EXPECT_FALSE(expected_fpr_above(factor, 0.01)(by_scan(filter)));
}

// Why the fill is no measure: half of the bits is too early for the default kind at 1 %, and far too late at 0.1 %.
TEST(rate_trigger, a_fill_of_a_half_is_another_rate_for_every_goal) {
    auto early = made_for<plain_blocked_bloom>(0.01);
    EXPECT_NEAR(static_cast<double>(fires_at(early, fill_above(0.5), by_fill)) / designed, 0.88, 0.02);
    EXPECT_LT(early.expected_fpr(), 0.006);
    auto late = made_for<plain_blocked_bloom>(0.001);
    EXPECT_NEAR(static_cast<double>(fires_at(late, fill_above(0.5), by_fill)) / designed, 1.37, 0.02);
    EXPECT_GT(late.expected_fpr(), 0.005);
}

} // namespace
} // namespace bouncer::test
