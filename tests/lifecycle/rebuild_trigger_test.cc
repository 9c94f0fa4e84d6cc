// Triggers: each alone, composed, and what they say; the meter.
#include <bouncer/rebuild_trigger.h>

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

TEST(rebuild_trigger, nothing_fires_on_default_signals) {
    const auto any = expected_fpr_above(1, 0) || fill_above(0) || inserted_above(0) ||
                     observed_fpr_above(0, 0) || epoch_reached(0) || attack_suspected();
    EXPECT_FALSE(any({}));
}

// Limits that a mistake made: signals at 0 stay below them, and nothing is above one that is no number.
TEST(rebuild_trigger, senseless_limits_do_not_fire_by_themselves) {
    EXPECT_FALSE((expected_fpr_above(-1, 0.01) || fill_above(-1) || observed_fpr_above(-1, 0))({}));
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    const rebuild_signals full{.fill = 1, .expected_fpr = 1, .observed_fpr = {100, 100}};
    EXPECT_FALSE((expected_fpr_above(no_number, 0.01) || expected_fpr_above(1, no_number) ||
                  fill_above(no_number) || observed_fpr_above(no_number, 0))(full));
    EXPECT_FALSE(
        (expected_fpr_above(1, 0.01) || fill_above(0.5))({.fill = no_number, .expected_fpr = no_number}));
}

TEST(rebuild_trigger, each_fires_above_its_limit_and_says_why) {
    EXPECT_FALSE(fill_above(0.5)({.fill = 0.5}));
    EXPECT_EQ(fill_above(0.5)({.fill = 0.53}), "fill 0.53 is above 0.5");
    EXPECT_FALSE(expected_fpr_above(2, 0.125)({.expected_fpr = 0.25}));
    EXPECT_EQ(expected_fpr_above(2, 0.125)({.expected_fpr = 0.26}),
              "expected false-positive rate 0.26 is above 2 times the promised 0.125");
    EXPECT_FALSE(inserted_above(1000)({.inserted = 1000}));
    EXPECT_EQ(inserted_above(1000)({.inserted = 1001}), "1001 keys inserted, more than 1000");
    EXPECT_FALSE(observed_fpr_above(0.01, 1000)({.observed_fpr = {999, 999}}));
    EXPECT_FALSE(observed_fpr_above(0.01, 1000)({.observed_fpr = {1000, 10}}));
    EXPECT_EQ(observed_fpr_above(0.01, 1000)({.observed_fpr = {1000, 20}}),
              "observed false-positive rate 0.02 (20 of 1000) is above 0.01");
    EXPECT_FALSE(epoch_reached(7)({.epoch = 6}));
    EXPECT_EQ(epoch_reached(7)({.epoch = 9}), "epoch 9 has reached 7");
    EXPECT_EQ(attack_suspected()({.suspected_attack = true}), "an attack is suspected");
}

TEST(rebuild_trigger, composes) {
    const auto due = (fill_above(0.5) && epoch_reached(3)) || attack_suspected();
    EXPECT_FALSE(due({.fill = 0.6}));
    EXPECT_FALSE(due({.epoch = 3}));
    EXPECT_EQ(due({.fill = 0.6, .epoch = 3}), "fill 0.6 is above 0.5; epoch 3 has reached 3");
    EXPECT_EQ(due({.suspected_attack = true}), "an attack is suspected");
    EXPECT_EQ(due({.fill = 0.6, .epoch = 3, .suspected_attack = true}),
              "fill 0.6 is above 0.5; epoch 3 has reached 3; an attack is suspected");
}

TEST(rebuild_trigger, a_user_writes_one_of_his_own) {
    const rebuild_trigger odd([](const rebuild_signals& now) -> std::optional<std::string> {
        if (now.epoch % 2 == 0) return std::nullopt;
        return "odd";
    });
    EXPECT_EQ((odd || attack_suspected())({.epoch = 3}), "odd");
    EXPECT_FALSE((odd && attack_suspected())({.epoch = 3}));
}

TEST(rebuild_trigger, the_meter_loses_nothing_and_restarts) {
    fpr_meter meter;
    EXPECT_EQ(meter.read().rate(), 0);
    {
        std::vector<std::jthread> running;
        for (int t = 0; t < 4; ++t)
            running.emplace_back([&] {
                for (int i = 0; i < 1000; ++i) {
                    meter.said_no();
                    if (i % 10 == 0) meter.false_positive();
                }
                meter.said_no(90);
            });
    }
    EXPECT_EQ(meter.read().absent, 4u * 1190);
    EXPECT_EQ(meter.read().false_positives, 400u);
    EXPECT_NEAR(meter.read().rate(), 400.0 / 4760, 1e-12);
    meter.restart();
    EXPECT_EQ(meter.read().absent, 0u);
    meter.false_positive(3);
    EXPECT_EQ(meter.read().rate(), 1);
}

} // namespace
} // namespace bouncer::test
