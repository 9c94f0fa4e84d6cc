// Kinds that forget, grow and count behind hot<F> and a rebuilder.
#include "support/failures.h"
#include "support/random_hashes.h"

#include <bouncer/counting_bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/rebuild_trigger.h>
#include <bouncer/rebuilder.h>
#include <bouncer/scalable.h>
#include <bouncer/windowed_bloom.h>

#include <gtest/gtest.h>

#include <thread>

namespace bouncer::test {
namespace {

TEST(hot_kinds, a_window_rotates_and_keeps_its_epoch_through_a_rebuild) {
    using filter = atomic_windowed_bloom;
    const goal wanted{.keys = 10'000, .false_positive_rate = 1e-4};
    hot<filter> served(filter::create(wanted).value());
    ASSERT_TRUE(served.rotate_to(5).has_value());
    served.add(std::uint64_t{1});
    EXPECT_TRUE(fails_with(served.rotate_to(4), error_code::invalid_argument));
    rebuilder<filter> again(served);
    const auto report =
        again.rebuild(rebuild_plan<filter>::of(wanted).value(), [&](auto& sink) -> result<void> {
            sink.add(std::uint64_t{1});
            EXPECT_TRUE(served.rotate_to(6).has_value()); // both
            served.add(std::uint64_t{2});
            return {};
        });
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(served.read()->epoch(), 6u);
    EXPECT_TRUE(served.may_contain(std::uint64_t{1}));
    EXPECT_TRUE(served.may_contain(std::uint64_t{2}));
    ASSERT_TRUE(served.rotate_to(12).has_value());
    EXPECT_FALSE(served.may_contain(std::uint64_t{1})); // added in step 5
    EXPECT_TRUE(served.may_contain(std::uint64_t{2}));
}

TEST(hot_kinds, a_keyed_window_rotates_too) {
    using filter = keyed<atomic_windowed_bloom>;
    hot<filter> served(filter::create({.keys = 1'000, .false_positive_rate = 1e-4}).value());
    served.add("alice");
    ASSERT_TRUE(served.rotate_to(7).has_value());
    EXPECT_FALSE(served.may_contain("alice"));
}

TEST(hot_kinds, a_chain_is_planned_by_its_own_first_layer_and_takes_any_number_of_keys) {
    using filter = atomic_scalable_bloom;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    const auto plan = rebuild_plan<filter>::of(wanted).value();
    EXPECT_EQ(plan.size_bytes, filter::create(wanted).value().size_bytes());
    hot<filter> served(filter::create(wanted).value());
    rebuilder<filter> again(served);
    const auto hashes = random_hashes(50'000, 1);
    const auto report = again.rebuild(plan, [&](auto& sink) -> result<void> {
        sink.add_batch(hashes);
        return {};
    });
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->keys, hashes.size());
    EXPECT_EQ(report->new_size_bytes, served.read()->size_bytes());
    EXPECT_GT(report->new_size_bytes, plan.size_bytes);
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(served.may_contain(hash));
}

// The memory of a chain is that of all the layers the announced keys need, and of the one prepared ahead.
TEST(hot_kinds, a_chain_that_will_not_fit_is_refused_before_it_grows) {
    using filter = atomic_scalable_bloom;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    const auto plan = rebuild_plan<filter>::of(wanted).value();
    hot<filter> served(filter::create(wanted).value());
    rebuilder<filter> again(served);
    const auto hashes = random_hashes(50'000, 1);
    const auto give = [&](auto& sink) -> result<void> {
        sink.add_batch(hashes);
        return {};
    };
    const std::uint64_t needed = plan.size_bytes_with(hashes.size()).value();
    EXPECT_GT(needed, 10 * plan.size_bytes);
    EXPECT_TRUE(fails_with(
        again.rebuild(plan, give, {.announced_keys = hashes.size(), .memory_left_bytes = needed - 1}),
        error_code::out_of_memory, std::to_string(needed)));
    const auto report =
        again.rebuild(plan, give, {.announced_keys = hashes.size(), .memory_left_bytes = needed});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_LE(report->new_size_bytes, needed);
    for (const std::uint64_t keys : {1u, 400u, 500u, 900u, 1'000u, 1'001u, 3'000u, 9'000u}) { // ahead or not
        auto chain = filter::create(wanted).value();
        for (std::uint64_t i = 0; chain.changing_adds() < keys; ++i) chain.add(random_hash(2, i));
        EXPECT_EQ(chain.size_bytes(), filter::size_bytes_with(chain.params(), keys).value()) << keys;
    }
}

TEST(hot_kinds, a_chain_is_prepared_in_both_filters) {
    using filter = keyed<atomic_scalable_bloom>;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    hot<filter> served(filter::create(wanted).value());
    const std::uint64_t before = served.read()->size_bytes();
    rebuilder<filter> again(served);
    const auto report = again.rebuild(rebuild_plan<filter>::of(wanted).value(), [&](auto&) -> result<void> {
        auto ok = served.prepare_growth();
        EXPECT_GT(served.read()->size_bytes(), before);
        return ok;
    });
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_GT(report->old_size_bytes, 0u);
    EXPECT_GT(report->new_size_bytes, before);
    EXPECT_EQ(served.read()->filter().layer_count(), 1u);
}

// Restarts never make a meter show a rate that nobody fed: every false positive but one has its 99 others beside it.
TEST(hot_kinds, a_meter_that_is_restarted_shows_no_wild_rate) {
    fpr_meter meter;
    std::atomic<bool> done = false;
    std::uint64_t wild = 0;
    std::jthread feeding([&] {
        while (!done.load(std::memory_order_relaxed)) {
            meter.said_no(99);
            meter.false_positive(1);
        }
    });
    for (int i = 0; i < 2'000'000; ++i) {
        meter.restart();
        const observed_fpr seen = meter.read();
        wild += seen.absent + 99 < 100 * seen.false_positives;
    }
    done = true;
    EXPECT_EQ(wild, 0u);
}

} // namespace
} // namespace bouncer::test
