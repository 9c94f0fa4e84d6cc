// hot<F> on few threads: forwarding, nesting, what is freed when, what swap refuses, who holds.
#include <bouncer/blocked_bloom.h>
#include <bouncer/hot.h>
#include <bouncer/keyed.h>

#include "lifecycle/poisoned.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace bouncer::test {
namespace {

using namespace std::chrono_literals;
using bloom_filter = atomic_blocked_bloom;
using string_set = keyed<atomic_blocked_bloom>;

bloom_filter filter_for(std::uint64_t keys, const filter_options& options = {}) {
    return bloom_filter::create(goal{.keys = keys, .false_positive_rate = 0.01}, options).value();
}
string_set set_for(std::uint64_t keys, const xxh3& hasher = {}) {
    return string_set::create({.keys = keys, .false_positive_rate = 0.01}, hasher).value();
}

TEST(hot, forwards_every_method_to_the_filter) {
    hot<bloom_filter> filter(filter_for(1000));
    const auto keys = random_hashes(100, 1);
    EXPECT_TRUE(filter.add(keys[0]));
    EXPECT_FALSE(filter.add(keys[0]));
    EXPECT_TRUE(filter.test_and_add(keys[0]));
    EXPECT_FALSE(filter.test_and_add(keys[1]));
    EXPECT_EQ(filter.add_batch(std::span(keys).first(10)), 8u);
    answers said(100);
    EXPECT_EQ(filter.test_and_add(std::span(keys).first(20), said.span()), 10u);
    EXPECT_EQ(filter.may_contain(std::span(keys).first(20), said.span()), 20u);
    EXPECT_TRUE(filter.may_contain(keys[19]));
    auto same = filter_for(1000);
    same.add_batch(std::span(keys).first(20));
    const auto held = filter.read();
    EXPECT_TRUE(*held == same);
    EXPECT_EQ(held->size_bytes(), same.size_bytes());
}

TEST(hot, takes_keys_where_the_filter_does) {
    auto made = hot<string_set>::create(string_set::create({.keys = 1000, .false_positive_rate = 0.01}));
    ASSERT_TRUE(made);
    const std::vector<std::string> names{"alice", "bob"};
    answers said(2);
    EXPECT_TRUE(made->add("alice"));
    EXPECT_EQ(made->may_contain(names, said.span()), 1u);
    EXPECT_EQ(made->test_and_add(names, said.span()), 1u);
    EXPECT_EQ(made->add_batch(names), 0u);
    EXPECT_TRUE(made->may_contain(std::string_view("bob")));
}

TEST(hot, create_hands_on_why_there_is_no_filter) {
    EXPECT_TRUE(
        fails_with(hot<string_set>::create(string_set::create({.keys = 10, .false_positive_rate = 7})),
                   error_code::invalid_argument));
}

TEST(hot, a_view_can_be_hot_but_not_added_to) {
    using view = hot<blocked_bloom_view>;
    static_assert(requires(const view& filter) { filter.may_contain(std::uint64_t{1}); });
    static_assert(
        !std::is_invocable_v<decltype([](auto& f) requires requires { f.add(std::uint64_t{1}); } {}), view&>);
}

template <class T>
concept can_be_allocated = requires {
    new T(std::declval<T>());
};
TEST(hot, a_handle_cannot_be_copied_moved_or_allocated) {
    using handle = hot<bloom_filter>::handle;
    static_assert(!std::is_copy_constructible_v<handle> && !std::is_move_constructible_v<handle>);
    static_assert(!std::is_copy_assignable_v<handle> && !can_be_allocated<handle>);
}

TEST(hot, may_be_moved_while_nobody_uses_it) {
    poisoned::alive = 0;
    {
        hot<poisoned> first(poisoned(1));
        hot<poisoned> second(std::move(first));
        EXPECT_TRUE(second.swap(poisoned(2)));
        EXPECT_EQ(second.read()->value(), 2u);
    }
    EXPECT_EQ(poisoned::alive, 0);
}

TEST(hot, frees_the_old_filter_after_its_last_reader_left) {
    poisoned::alive = 0;
    {
        hot<poisoned> filter(poisoned(1));
        {
            const auto outer = filter.read();
            ASSERT_TRUE(filter.swap(poisoned(2)));
            EXPECT_EQ(outer->value(), 1u);
            {
                const auto inner = filter.read();
                EXPECT_EQ(inner->value(), 2u);
                ASSERT_TRUE(filter.swap(poisoned(3)));
                EXPECT_EQ(filter.reclaim(), 0u);
                EXPECT_EQ(filter.retired(), 2u);
                EXPECT_EQ(poisoned::alive, 3);
                EXPECT_FALSE(filter.wait_for_readers(1ms));
            }
            EXPECT_EQ(filter.reclaim(), 1u);
            EXPECT_EQ(outer->value(), 1u);
            EXPECT_EQ(poisoned::alive, 2);
        }
        EXPECT_EQ(filter.retired(), 1u);
        EXPECT_TRUE(filter.wait_for_readers());
        EXPECT_EQ(filter.retired(), 0u);
        EXPECT_EQ(poisoned::alive, 1);
    }
    EXPECT_EQ(poisoned::alive, 0);
    EXPECT_EQ(poisoned::used_dead, 0);
}

// Deeper than one record has entries, and each level on a version of its own.
void nest(hot<poisoned>& filter, std::uint64_t level, std::uint64_t deepest) {
    const auto held = filter.read();
    EXPECT_EQ(held->value(), level);
    ASSERT_TRUE(filter.swap(poisoned(level + 1)));
    if (level < deepest) nest(filter, level + 1, deepest);
    EXPECT_EQ(held->value(), level);
    EXPECT_GE(filter.retired(), level);
}

TEST(hot, handles_nest_to_any_depth) {
    poisoned::alive = 0;
    {
        hot<poisoned> filter(poisoned(1));
        nest(filter, 1, 50);
        EXPECT_EQ(filter.reclaim(), 50u);
        EXPECT_EQ(filter.read()->value(), 51u);
    }
    EXPECT_EQ(poisoned::alive, 0);
    EXPECT_EQ(poisoned::used_dead, 0);
}

TEST(hot, handles_of_several_filters_nest_in_any_order) {
    hot<poisoned> one(poisoned(1));
    hot<poisoned> two(poisoned(2));
    const auto a = one.read();
    {
        const auto b = two.read();
        ASSERT_TRUE(one.swap(poisoned(3)));
        ASSERT_TRUE(two.swap(poisoned(4)));
        EXPECT_EQ(a->value(), 1u);
        EXPECT_EQ(b->value(), 2u);
    }
    EXPECT_EQ(two.reclaim(), 1u);
    EXPECT_EQ(one.reclaim(), 0u);
}

TEST(hot, swaps_to_other_parameters) {
    hot<bloom_filter> filter(filter_for(1000));
    const auto keys = random_hashes(5000, 1);
    auto larger = filter_for(5000);
    larger.add_batch(keys);
    const auto size = larger.size_bytes();
    ASSERT_TRUE(filter.swap(std::move(larger)));
    EXPECT_EQ(filter.read()->size_bytes(), size);
    for (const auto key : keys) ASSERT_TRUE(filter.may_contain(key));
}

TEST(hot, refuses_another_hash_where_callers_hash) {
    hot<bloom_filter> filter(filter_for(1000, {.hash = xxh3{1}.spec()}));
    filter.add(7u);
    EXPECT_TRUE(fails_with(filter.swap(filter_for(1000, {.hash = xxh3{2}.spec()})), error_code::mismatch,
                           "seed 1", "seed 2"));
    EXPECT_TRUE(filter.may_contain(7u));
    EXPECT_EQ(filter.retired(), 0u);
}

TEST(hot, takes_another_hash_where_the_filter_hashes) {
    hot<string_set> filter(set_for(1000, xxh3{1}));
    auto next = set_for(1000, xxh3{2});
    next.add("alice");
    ASSERT_TRUE(filter.swap(std::move(next)));
    EXPECT_TRUE(filter.may_contain("alice"));
    EXPECT_EQ(filter.read()->hasher().spec().seed_or_fingerprint, 2u);
}

TEST(hot, finds_who_holds_an_old_version) {
    hot<poisoned> filter(poisoned(1));
    std::atomic<int> stage{0};
    std::atomic<std::uint32_t> id{0};
    std::jthread holder([&] {
        const auto held = filter.read();
        id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
        stage = 1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    EXPECT_TRUE(filter.holders().empty()); // the current version may be held for ever
    ASSERT_TRUE(filter.swap(poisoned(2)));
    std::this_thread::sleep_for(2ms);
    const auto found = filter.holders(2ms);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].thread_id, id);
    EXPECT_GE(found[0].held_at_least, 2ms);
    EXPECT_TRUE(filter.holders(1h).empty());
    stage = 2;
    stage.notify_all();
    EXPECT_TRUE(filter.wait_for_readers());
    EXPECT_TRUE(filter.holders().empty());
}

} // namespace
} // namespace bouncer::test
