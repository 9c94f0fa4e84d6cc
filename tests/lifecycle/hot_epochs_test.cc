// Filters that forget by steps behind hot<F>: epochs never go back, and no key is gone before its window is over.
#include "lifecycle/stepping.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <bouncer/rebuilder.h>
#include <bouncer/windowed_bloom.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace bouncer::test {
namespace {

using filter = atomic_windowed_bloom;
constexpr goal few{.keys = 1'000, .false_positive_rate = 1e-6};
constexpr std::uint64_t key = 0x123456789abcdef;

filter at_epoch(std::uint64_t epoch) {
    auto out = filter::create(few).value();
    out.rotate_to(epoch).value();
    return out;
}

// An add between the two rotations is in a step of the new filter that is not older than its step of the old one.
TEST(hot_epochs, a_rotation_reaches_the_new_filter_first) {
    hot<stepping> served{stepping()};
    ASSERT_TRUE(served.rotate_to(5));
    rebuilder<stepping> again(served);
    std::uint64_t step = 0;
    const auto done =
        again.rebuild({.make = [] { return result<stepping>(stepping()); }}, [&](auto&) -> result<void> {
            stepping::when_rotated = [&] {
                served.add(key);
                step = served.read()->step_of(key);
            };
            return served.rotate_to(6);
        });
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(served.read()->epoch(), 6u);
    EXPECT_NE(step, 0u);
    EXPECT_GE(served.read()->step_of(key), step);
}

// While a filter sweeps, nobody waits who does not move an epoch.
TEST(hot_epochs, a_rotation_does_not_hold_up_others) {
    hot<stepping> served{stepping()};
    rebuilder<stepping> again(served);
    bool cancelled = false;
    const auto done =
        again.rebuild({.make = [] { return result<stepping>(stepping()); }}, [&](auto&) -> result<void> {
            stepping::when_rotated = [&] {
                EXPECT_TRUE(served.holders().empty());
                EXPECT_TRUE(served.rebuilding());
                cancelled = again.cancel();
            };
            return served.rotate_to(6);
        });
    EXPECT_TRUE(cancelled);
    EXPECT_TRUE(fails_with(done, error_code::cancelled));
    EXPECT_EQ(served.read()->epoch(), 6u);
}

TEST(hot_epochs, the_start_of_a_rebuild_does_not_hold_up_others) {
    hot<stepping> served{stepping()};
    ASSERT_TRUE(served.rotate_to(6));
    rebuilder<stepping> again(served);
    bool cancelled = false;
    stepping::when_rotated = [&] {
        EXPECT_TRUE(served.holders().empty());
        cancelled = again.cancel();
    };
    EXPECT_TRUE(fails_with(again.rebuild({.make = [] { return result<stepping>(stepping()); }},
                                         [](auto&) -> result<void> { return {}; }),
                           error_code::cancelled));
    EXPECT_TRUE(cancelled);
}

TEST(hot_epochs, a_swap_never_goes_back) {
    hot<filter> served(at_epoch(5));
    auto next = at_epoch(2);
    next.add(key);
    ASSERT_TRUE(served.swap(std::move(next)));
    EXPECT_EQ(served.read()->epoch(), 5u);
    EXPECT_TRUE(served.may_contain(key)); // of step 2, within the window of 6
    served.add(key + 1);
    ASSERT_TRUE(served.rotate_to(9));
    EXPECT_FALSE(served.may_contain(key));
    EXPECT_TRUE(served.may_contain(key + 1));
    ASSERT_TRUE(served.swap(at_epoch(20)));
    EXPECT_EQ(served.read()->epoch(), 20u);
}

// The new filter of a rebuild goes along with one that is ahead, so a key lives as long in either.
TEST(hot_epochs, a_swap_takes_the_new_filter_along) {
    hot<filter> served(at_epoch(5));
    rebuilder<filter> again(served);
    const auto done = again.rebuild(rebuild_plan<filter>::of(few).value(), [&](auto&) -> result<void> {
        EXPECT_TRUE(served.swap(at_epoch(9)));
        served.add(key);
        return {};
    });
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(served.read()->epoch(), 9u);
    ASSERT_TRUE(served.rotate_to(9 + served.read()->window_steps()));
    EXPECT_TRUE(served.may_contain(key));
}

TEST(hot_epochs, a_swap_that_is_refused_moves_nothing) {
    hot<filter> served(at_epoch(5));
    rebuilder<filter> again(served);
    const auto done = again.rebuild(rebuild_plan<filter>::of(few).value(), [&](auto&) -> result<void> {
        auto other = filter::create(few, {.hash = xxh3{9}.spec()}).value();
        other.rotate_to(9).value();
        EXPECT_TRUE(fails_with(served.swap(std::move(other)), error_code::mismatch));
        return {};
    });
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(served.read()->epoch(), 5u);
}

// A source gives all its keys in one step: the limit is that of a step.
TEST(hot_epochs, a_window_takes_no_more_keys_than_a_step_may_have) {
    const goal wanted{.keys = 6'000, .false_positive_rate = 0.01};
    hot<filter> served(filter::create(wanted).value());
    rebuilder<filter> again(served);
    const auto give = [](std::uint64_t count) {
        return [count](auto& sink) -> result<void> {
            sink.add_batch(random_hashes(count, 1));
            return {};
        };
    };
    EXPECT_TRUE(fails_with(again.rebuild(rebuild_plan<filter>::of(wanted).value(), give(6'000)),
                           error_code::full, "1000 were announced"));
    EXPECT_TRUE(fails_with(
        again.rebuild(rebuild_plan<filter>::of(wanted).value(), give(1'000), {.announced_keys = 6'000}),
        error_code::full));
    const auto step = again.rebuild(rebuild_plan<filter>::of(wanted).value(), give(1'000));
    ASSERT_TRUE(step) << step.error().message;
    const goal window{.keys = 6 * 6'000, .false_positive_rate = 0.01};
    const auto all = again.rebuild(rebuild_plan<filter>::of(window).value(), give(6'000));
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_LE(served.read()->expected_fpr(), 0.01);
}

} // namespace
} // namespace bouncer::test
