// Every way a rebuild can end: complete, failed, thrown, cancelled, too many keys, refused.
#include <bouncer/blocked_bloom.h>
#include <bouncer/counted.h>
#include <bouncer/keyed.h>
#include <bouncer/rebuilder.h>

#include "lifecycle/poisoned.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

using namespace std::chrono_literals;
using bloom_filter = atomic_blocked_bloom;
using plan_type = rebuild_plan<bloom_filter>;
using sink_type = rebuild_sink<bloom_filter>;

goal goal_for(std::uint64_t keys) {
    return {.keys = keys, .false_positive_rate = 0.01};
}

class rebuild : public ::testing::Test {
  protected:
    rebuild() : target_(bloom_filter::create(goal_for(1000)).value()), rebuilder_(target_) {
        target_.add_batch(old_keys_);
        before_ = target_.read()->size_bytes();
    }

    // The old filter serves, alone.
    void expect_unchanged() {
        EXPECT_EQ(target_.read()->size_bytes(), before_);
        for (const auto key : old_keys_) EXPECT_TRUE(target_.may_contain(key));
        EXPECT_FALSE(target_.rebuilding());
        EXPECT_FALSE(rebuilder_.running());
        EXPECT_TRUE(target_.wait_for_readers(10s));
        // And can be rebuilt again.
        EXPECT_TRUE(rebuilder_.rebuild(plan_, [&](sink_type& sink) { return give_all(sink); }));
    }

    result<void> give_all(sink_type& sink) const {
        sink.add_batch(keys_);
        return {};
    }

    const std::vector<std::uint64_t> old_keys_ = random_hashes(1000, 1);
    const std::vector<std::uint64_t> keys_ = random_hashes(20'000, 1);
    const plan_type plan_ = plan_type::of(goal_for(20'000)).value();
    hot<bloom_filter> target_;
    rebuilder<bloom_filter> rebuilder_;
    std::uint64_t before_ = 0;
};

TEST_F(rebuild, replaces_the_filter_by_what_the_source_gave) {
    const auto done = rebuilder_.rebuild(plan_, [&](sink_type& sink) -> result<void> {
        EXPECT_TRUE(target_.rebuilding());
        EXPECT_TRUE(sink.add(keys_[0]));
        EXPECT_TRUE(sink.add_batch(std::span(keys_).subspan(1)));
        EXPECT_EQ(sink.keys(), keys_.size());
        EXPECT_EQ(target_.read()->size_bytes(), before_);
        return {};
    });
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->keys, keys_.size());
    EXPECT_LE(done->inserted, keys_.size());
    EXPECT_GT(done->inserted, keys_.size() * 98 / 100);
    EXPECT_EQ(done->added_meanwhile, 0u);
    EXPECT_EQ(done->old_size_bytes, before_);
    EXPECT_EQ(done->new_size_bytes, plan_.size_bytes);
    auto same = bloom_filter::create(goal_for(20'000)).value();
    same.add_batch(keys_);
    const auto held = target_.read();
    EXPECT_TRUE(*held == same);
    EXPECT_FALSE(target_.rebuilding());
}

TEST_F(rebuild, adds_meanwhile_go_to_both) {
    const auto others = random_hashes(50, 2);
    answers said(40);
    const auto done = rebuilder_.rebuild(plan_, [&](sink_type& sink) -> result<void> {
        target_.add(others[0]);
        EXPECT_FALSE(target_.test_and_add(others[1]));
        target_.add_batch(std::span(others).subspan(2, 8));
        target_.test_and_add(others, said.span()); // the shorter of the two: 40
        for (std::size_t i = 0; i < 40; ++i) EXPECT_TRUE(target_.may_contain(others[i]));
        return give_all(sink);
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(done->added_meanwhile, 40u);
    auto same = bloom_filter::create(goal_for(20'000)).value();
    same.add_batch(keys_);
    same.add_batch(std::span(others).first(40));
    const auto held = target_.read();
    EXPECT_TRUE(*held == same);
}

TEST_F(rebuild, goes_on_through_a_swap) {
    const auto done = rebuilder_.rebuild(plan_, [&](sink_type& sink) -> result<void> {
        auto next = bloom_filter::create(goal_for(3000)).value();
        next.add_batch(old_keys_);
        EXPECT_TRUE(target_.swap(std::move(next)));
        EXPECT_TRUE(target_.may_contain(old_keys_[5]));
        target_.add(12345u);
        return give_all(sink);
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(target_.read()->size_bytes(), plan_.size_bytes);
    EXPECT_TRUE(target_.may_contain(12345u));
    EXPECT_EQ(target_.retired(), 0u);
}

TEST_F(rebuild, a_source_that_fails_is_handed_on) {
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_,
                                              [&](sink_type& sink) -> result<void> {
                                                  sink.add(1u);
                                                  return failure{error_code::corrupt, "row 7 is broken"};
                                              }),
                           error_code::corrupt, "row 7 is broken"));
    expect_unchanged();
}

TEST_F(rebuild, a_source_that_throws_is_caught) {
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_,
                                              [&](sink_type& sink) -> result<void> {
                                                  sink.add(1u);
                                                  throw std::runtime_error("connection lost");
                                              }),
                           error_code::io, "the source threw", "connection lost"));
    EXPECT_TRUE(
        fails_with(rebuilder_.rebuild(plan_, [](sink_type&) -> result<void> { throw 3; }), error_code::io));
    EXPECT_TRUE(
        fails_with(rebuilder_.rebuild(plan_, [](sink_type&) -> result<void> { throw std::bad_alloc(); }),
                   error_code::out_of_memory));
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_,
                                              [](sink_type&) -> result<void> {
                                                  return bloom_filter::create(goal_for(0)).value(),
                                                         result<void>();
                                              }),
                           error_code::invalid_argument));
    expect_unchanged();
}

TEST_F(rebuild, a_plan_that_fails_or_throws_ends_it) {
    const auto give = [&](sink_type& sink) { return give_all(sink); };
    EXPECT_TRUE(fails_with(plan_type::of(goal_for(0)), error_code::invalid_argument));
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_type{}, give), error_code::invalid_argument, "plan"));
    EXPECT_TRUE(fails_with(rebuilder_.rebuild({.make = []() -> result<bloom_filter> { throw 1; }}, give),
                           error_code::io, "the plan threw"));
    EXPECT_TRUE(
        fails_with(rebuilder_.rebuild({.make = [] { return bloom_filter::create(goal_for(0)); }}, give),
                   error_code::invalid_argument));
    expect_unchanged();
}

TEST_F(rebuild, another_hash_is_refused_where_callers_hash) {
    const auto other = plan_type::of(goal_for(20'000), filter_options{.hash = xxh3{9}.spec()}).value();
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(other, [&](sink_type& sink) { return give_all(sink); }),
                           error_code::mismatch, "seed 9"));
    expect_unchanged();
}

TEST_F(rebuild, a_second_one_is_refused) {
    rebuilder<bloom_filter> second(target_);
    EXPECT_TRUE(rebuilder_.rebuild(plan_, [&](sink_type& sink) -> result<void> {
        const auto give = [&](sink_type& inner) { return give_all(inner); };
        EXPECT_TRUE(
            fails_with(rebuilder_.rebuild(plan_, give), error_code::invalid_argument, "running already"));
        EXPECT_TRUE(fails_with(second.rebuild(plan_, give), error_code::invalid_argument, "running already"));
        EXPECT_FALSE(second.cancel()); // not its own
        EXPECT_TRUE(rebuilder_.running());
        return give_all(sink);
    }));
    EXPECT_EQ(target_.read()->size_bytes(), plan_.size_bytes);
}

TEST_F(rebuild, cancel_stops_the_source) {
    EXPECT_FALSE(rebuilder_.cancel());
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_,
                                              [&](sink_type& sink) -> result<void> {
                                                  EXPECT_TRUE(sink.add_batch(std::span(keys_).first(7)));
                                                  EXPECT_TRUE(rebuilder_.cancel());
                                                  EXPECT_FALSE(rebuilder_.cancel());
                                                  EXPECT_FALSE(sink.add(8u));
                                                  EXPECT_FALSE(sink.add_batch(keys_));
                                                  return failure{error_code::io, "stopped"};
                                              }),
                           error_code::cancelled, "7 keys"));
    EXPECT_FALSE(rebuilder_.cancel());
    expect_unchanged();
}

TEST_F(rebuild, cancel_without_another_key_is_noticed) {
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_,
                                              [&](sink_type& sink) {
                                                  auto all = give_all(sink);
                                                  rebuilder_.cancel();
                                                  return all;
                                              }),
                           error_code::cancelled));
    expect_unchanged();
}

TEST_F(rebuild, a_stop_token_cancels) {
    std::stop_source stop;
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_,
                                              [&](sink_type& sink) {
                                                  stop.request_stop();
                                                  return give_all(sink);
                                              },
                                              {.stop = stop.get_token()}),
                           error_code::cancelled, "after 0 keys"));
    bool asked = false;
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plan_,
                                              [&](sink_type&) -> result<void> {
                                                  asked = true;
                                                  return {};
                                              },
                                              {.stop = stop.get_token()}),
                           error_code::cancelled));
    EXPECT_FALSE(asked);
    expect_unchanged();
}

// The memory is free while the source still hangs.
TEST(rebuild_cancel, frees_the_new_filter_while_the_source_is_stalled) {
    poisoned::alive = 0;
    hot<poisoned> target(poisoned(1));
    rebuilder<poisoned> builder(target);
    std::atomic<int> stage{0};
    std::jthread running([&] {
        EXPECT_TRUE(fails_with(builder.rebuild({.make = [] { return result<poisoned>(poisoned(2)); }},
                                               [&](rebuild_sink<poisoned>& sink) -> result<void> {
                                                   sink.add(7u);
                                                   stage = 1;
                                                   stage.notify_all();
                                                   stage.wait(1);
                                                   EXPECT_FALSE(sink.add(8u));
                                                   return {};
                                               }),
                               error_code::cancelled, "1 keys"));
    });
    stage.wait(0);
    EXPECT_EQ(poisoned::alive, 2);
    EXPECT_TRUE(builder.cancel());
    target.wait_for_readers();
    EXPECT_EQ(poisoned::alive, 1);
    EXPECT_TRUE(builder.running());
    stage = 2;
    stage.notify_all();
    running.join();
    EXPECT_EQ(target.read()->value(), 1u);
    EXPECT_EQ(poisoned::used_dead, 0);
}

TEST_F(rebuild, progress_sees_every_step_and_may_stop) {
    std::vector<std::uint64_t> seen;
    rebuild_options options;
    options.progress_every = 3000;
    options.progress = [&](std::uint64_t keys, std::uint64_t announced) {
        EXPECT_EQ(announced, 20'000u);
        seen.push_back(keys);
        return seen.size() < 5;
    };
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(
                               plan_, [&](sink_type& sink) { return give_all(sink); }, options),
                           error_code::cancelled, "15000 keys"));
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{3000, 6000, 9000, 12'000, 15'000}));
    options.progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("no screen"); };
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(
                               plan_, [&](sink_type& sink) { return give_all(sink); }, options),
                           error_code::io, "no screen"));
    expect_unchanged();
}

// An endless source ends soon after the last key that keeps the rate.
TEST_F(rebuild, more_keys_than_keep_the_rate_are_refused) {
    const auto small = plan_type::of(goal_for(2000)).value();
    std::uint64_t given = 0;
    const auto endless = [&](sink_type& sink) -> result<void> {
        while (sink.add(random_hash(3, given))) ++given;
        return {};
    };
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(small, endless), error_code::full, "2000 were announced",
                           "rate of 0.01"));
    EXPECT_GE(given, 2000u);
    EXPECT_LE(given, 2400u);
    const auto made = small.make().value();
    EXPECT_LE(made.fpr_at(given), 0.011);
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(small, endless, {.announced_keys = 50'000}), error_code::full,
                           "50000 were announced"));
    expect_unchanged();
}

TEST_F(rebuild, the_last_keys_of_a_batch_count_too) {
    const auto small = plan_type::of(goal_for(2000)).value();
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(small, [&](sink_type& sink) { return give_all(sink); }),
                           error_code::full));
    // Duplicates do not.
    EXPECT_TRUE(rebuilder_.rebuild(small, [&](sink_type& sink) -> result<void> {
        for (int i = 0; i < 20; ++i) EXPECT_TRUE(sink.add_batch(old_keys_));
        return {};
    }));
}

TEST_F(rebuild, adds_of_others_count_as_well) {
    const auto small = plan_type::of(goal_for(2000)).value();
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(small,
                                              [&](sink_type& sink) -> result<void> {
                                                  target_.add_batch(keys_);
                                                  sink.add(1u);
                                                  return {};
                                              }),
                           error_code::full));
}

// Adds are kept from when rebuilding() is true, not yet while the plan makes the new filter.
TEST_F(rebuild, is_seen_when_adds_go_to_both) {
    auto watched = plan_;
    watched.make = [&] {
        EXPECT_TRUE(rebuilder_.running());
        EXPECT_FALSE(target_.rebuilding());
        return plan_.make();
    };
    std::atomic<bool> seen{false};
    std::jthread adding([&] {
        while (!target_.rebuilding()) std::this_thread::yield();
        target_.add(12345u);
        seen = true;
    });
    EXPECT_TRUE(rebuilder_.rebuild(watched, [&](sink_type&) -> result<void> {
        EXPECT_TRUE(target_.rebuilding());
        while (!seen) std::this_thread::yield();
        return {};
    }));
    EXPECT_TRUE(target_.may_contain(12345u));
    EXPECT_FALSE(target_.rebuilding());
}

TEST_F(rebuild, numbers_beyond_all_filters_are_no_limit) {
    auto absurd = plan_;
    const auto give = [&](sink_type& sink) { return give_all(sink); };
    for (const std::uint64_t keys : {std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        absurd.keys = keys;
        absurd.false_positive_rate = 0.01;
        EXPECT_TRUE(rebuilder_.rebuild(absurd, give));
        absurd.false_positive_rate = std::nullopt;
        EXPECT_TRUE(rebuilder_.rebuild(absurd, give));
    }
}

TEST_F(rebuild, without_a_rate_ten_percent_more_are_accepted) {
    const plan_type plain{.make = [] { return bloom_filter::create(goal_for(20'000)); }};
    const auto give = [&](std::size_t count) {
        return [&, count](sink_type& sink) -> result<void> {
            sink.add_batch(std::span(keys_).first(count));
            return {};
        };
    };
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(plain, give(1150), {.announced_keys = 1000}), error_code::full,
                           "1000 were announced", "1100 are the most"));
    EXPECT_TRUE(rebuilder_.rebuild(plain, give(1100), {.announced_keys = 1000}));
    EXPECT_TRUE(rebuilder_.rebuild(plain, give(5000), {.announced_keys = 1000, .accept_more_keys = true}));
    EXPECT_TRUE(rebuilder_.rebuild(plain, give(20'000)));
}

TEST_F(rebuild, is_refused_before_allocating_when_memory_will_not_do) {
    bool made = false;
    plan_type watched = plan_;
    watched.make = [&] { return made = true, plan_.make(); };
    const auto give = [&](sink_type& sink) { return give_all(sink); };
    const std::uint64_t both = before_ + plan_.size_bytes;
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(watched, give, {.memory_budget_bytes = both - 1}),
                           error_code::too_large, std::to_string(before_), std::to_string(plan_.size_bytes),
                           std::to_string(both - 1)));
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(watched, give, {.memory_left_bytes = plan_.size_bytes - 1}),
                           error_code::out_of_memory, std::to_string(before_),
                           std::to_string(plan_.size_bytes)));
    auto absurd = watched;
    absurd.size_bytes = std::uint64_t{1} << 60; // more than any machine has left
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(absurd, give), error_code::out_of_memory));
    EXPECT_FALSE(made);
    auto silent = watched;
    silent.size_bytes = 0; // told only when it is made
    EXPECT_TRUE(fails_with(rebuilder_.rebuild(silent, give, {.memory_budget_bytes = both - 1}),
                           error_code::too_large));
    EXPECT_TRUE(made);
    EXPECT_TRUE(rebuilder_.rebuild(watched, give, {.memory_budget_bytes = both}));
}

TEST(rebuild_keyed, takes_a_fresh_seed) {
    using string_set = keyed<atomic_blocked_bloom>;
    hot<string_set> target(string_set::create(goal_for(1000)).value());
    rebuilder<string_set> builder(target);
    const auto plan = rebuild_plan<string_set>::of(goal_for(1000), xxh3{77}).value();
    const std::vector<std::string> names{"alice", "bob"};
    EXPECT_TRUE(builder.rebuild(plan, [&](auto& sink) -> result<void> {
        target.add("dave");
        sink.add("carol");
        sink.add_batch(names);
        return {};
    }));
    EXPECT_EQ(target.read()->hasher().spec().seed_or_fingerprint, 77u);
    for (const char* name : {"alice", "bob", "carol", "dave"})
        EXPECT_TRUE(target.may_contain(std::string_view(name)));
}

TEST(rebuild_counted, works_on_wrappers) {
    using set = counted<atomic_blocked_bloom>;
    hot<set> target(set::create(goal_for(1000)).value());
    rebuilder<set> builder(target);
    const auto plan = rebuild_plan<set>::of(goal_for(2000)).value();
    EXPECT_TRUE(builder.rebuild(plan, [&](auto& sink) -> result<void> {
        sink.add_batch(random_hashes(1500, 1));
        return {};
    }));
    EXPECT_GT(target.read()->count(), 1400u);
}

} // namespace
} // namespace bouncer::test
