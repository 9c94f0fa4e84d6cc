// locked<F>: one thread sees F behind a lock. (Many threads: tests/concurrency.)
#include <bouncer/keyed.h>
#include <bouncer/locked.h>

#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

#include <mutex>
#include <shared_mutex>

namespace bouncer::test {
namespace {

template <class F, class Mutex>
void expect_same_as_filter() {
    using locked_filter = locked<F, Mutex>;
    static_assert(incremental<locked_filter>);
    static_assert(locked_filter::concurrency ==
                  (std::is_same_v<Mutex, no_lock> ? F::concurrency : concurrency_level::locked));
    const goal wanted{.keys = 2'000, .false_positive_rate = 0.1};
    auto l = locked_filter::create(wanted).value();
    auto f = F::create(wanted).value();
    const auto same = [&] { return l.reading([&](const F& inner) { return inner == f; }); };
    for (const std::uint64_t hash : random_hashes(1'000, 1)) EXPECT_EQ(l.add(hash), f.add(hash));
    for (const std::uint64_t hash : random_hashes(2'000, 2)) {
        EXPECT_EQ(l.may_contain(hash), f.may_contain(hash));
        EXPECT_EQ(l.test_and_add(hash), f.test_and_add(hash));
    }
    EXPECT_TRUE(same());
    const auto more = random_hashes(500, 3);
    answers ours(500);
    answers theirs(500);
    EXPECT_EQ(l.may_contain(more, ours.span()), f.may_contain(more, theirs.span()));
    EXPECT_EQ(l.test_and_add(more, ours.span()), f.test_and_add(more, theirs.span()));
    EXPECT_TRUE(std::equal(ours.span().begin(), ours.span().end(), theirs.span().begin()));
    EXPECT_EQ(l.add_batch(random_hashes(500, 4)), f.add_batch(random_hashes(500, 4)));
    EXPECT_TRUE(same());
    EXPECT_EQ(l.size_bytes(), f.size_bytes());
    EXPECT_EQ(l.hash(), f.hash());
    EXPECT_EQ(l.writing([](F& inner) { return inner.add(123); }), f.add(123));
    EXPECT_TRUE(same());
    l.clear();
    f.clear();
    EXPECT_TRUE(same());
    auto moved = std::move(l);
    EXPECT_TRUE(moved.add(7));
}

template <class F>
class behind_a_lock : public ::testing::Test {};
TYPED_TEST_SUITE(behind_a_lock, plain_kinds_that<is_incremental>, kind_names);

TYPED_TEST(behind_a_lock, the_answers_are_the_same) {
    expect_same_as_filter<TypeParam, std::mutex>();
}

TEST(behind_another_lock, the_answers_are_the_same) {
    expect_same_as_filter<atomic_blocked_bloom, std::shared_mutex>();
    expect_same_as_filter<plain_blocked_bloom, no_lock>();
}

template <class F>
class merged_behind_a_lock : public ::testing::Test {};
TYPED_TEST_SUITE(merged_behind_a_lock, plain_kinds_that<is_exact_and_mergeable>, kind_names);

TYPED_TEST(merged_behind_a_lock, crosswise_and_with_itself) {
    using locked_filter = locked<TypeParam, std::shared_mutex>;
    const goal wanted{.keys = 2'000, .false_positive_rate = 0.01};
    auto a = locked_filter::create(wanted).value();
    auto b = locked_filter::create(wanted).value();
    auto both = TypeParam::create(wanted).value();
    a.add_batch(random_hashes(1'000, 1));
    b.add_batch(random_hashes(1'000, 2));
    both.add_batch(random_hashes(1'000, 1));
    both.add_batch(random_hashes(1'000, 2));
    const auto rate = a.merge(b);
    ASSERT_TRUE(rate.has_value());
    EXPECT_EQ(*rate, a.reading([](const TypeParam& inner) { return inner.expected_fpr(); }));
    if constexpr (commuting_adds<TypeParam>) {
        EXPECT_TRUE(a.reading([&](const TypeParam& inner) { return inner == both; }));
    }
    ASSERT_TRUE(b.merge(a).has_value());
    ASSERT_TRUE(a.merge(a).has_value()); // one lock, taken once
    if constexpr (idempotent_adds<TypeParam> && commuting_adds<TypeParam>) {
        for (const auto* each : {&a, &b})
            EXPECT_TRUE(each->reading([&](const TypeParam& inner) { return inner == both; }));
    }
    const auto before = a.reading([](const TypeParam& inner) { return inner.clone().value(); });
    auto other = locked_filter::create({.keys = 3'000, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(fails_with(a.merge(other), error_code::mismatch));
    EXPECT_TRUE(a.reading([&](const TypeParam& inner) { return inner == before; }));
}

TYPED_TEST(behind_a_lock, bad_input_is_refused_as_the_filter_does) {
    EXPECT_TRUE(fails_with(locked<TypeParam>::create({.keys = 0, .false_positive_rate = 0.1}),
                           error_code::invalid_argument, "keys"));
    EXPECT_TRUE(fails_with(locked<TypeParam>::create(typename TypeParam::parameters{}),
                           error_code::invalid_argument));
}

} // namespace
} // namespace bouncer::test
