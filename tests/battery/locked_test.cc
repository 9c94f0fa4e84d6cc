// locked<F>: one thread sees F behind a lock. (Many threads: tests/concurrency.)
#include <bouncer/all_filters.h>
#include <bouncer/locked.h>

#include "support/decorated.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

namespace bouncer::test {
namespace {

// Of every kind by its own type, too.
template <class... F>
constexpr bool may_be_locked(type_list<F...>) {
    return ((!incremental<F> || incremental<locked<F>>)&&...);
}
static_assert(may_be_locked(all_filters<plain_words>{}));
static_assert(locked<plain_blocked_bloom>::concurrency == concurrency_level::locked);
static_assert(locked<atomic_blocked_bloom>::concurrency == concurrency_level::locked);
static_assert(locked<plain_blocked_bloom, no_lock>::concurrency == concurrency_level::exclusive);
static_assert(locked<atomic_blocked_bloom, no_lock>::concurrency == concurrency_level::wait_free);

template <class Mutex>
void expect_same_as_filter() {
    using F = subject_filter;
    using locked_filter = locked<F, Mutex>;
    static_assert(incremental<locked_filter>);
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

class behind_a_lock : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, behind_a_lock, plain_subjects_that(&facts::incremental), subject_names);

TEST_P(behind_a_lock, the_answers_are_the_same) {
    expect_same_as_filter<std::mutex>();
}

TEST(behind_another_lock, the_answers_are_the_same) {
    subject_filter::made_of = &kind_named("blocked_bloom", words_access::atomic);
    expect_same_as_filter<std::shared_mutex>();
    subject_filter::made_of = &kind_named("blocked_bloom", words_access::plain);
    expect_same_as_filter<no_lock>();
}

class merged_behind_a_lock : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, merged_behind_a_lock, plain_subjects_that([](const facts& is) {
                             return is.incremental && is.exact && is.mergeable;
                         }),
                         subject_names);

TEST_P(merged_behind_a_lock, crosswise_and_with_itself) {
    using locked_filter = locked<subject_filter, std::shared_mutex>;
    const goal wanted{.keys = 2'000, .false_positive_rate = 0.01};
    auto a = locked_filter::create(wanted).value();
    auto b = locked_filter::create(wanted).value();
    auto both = subject_filter::create(wanted).value();
    a.add_batch(random_hashes(1'000, 1));
    b.add_batch(random_hashes(1'000, 2));
    both.add_batch(random_hashes(1'000, 1));
    both.add_batch(random_hashes(1'000, 2));
    const auto rate = a.merge(b);
    ASSERT_TRUE(rate.has_value());
    EXPECT_EQ(*rate, a.reading([](const subject_filter& inner) { return inner.expected_fpr(); }));
    if (k.is.commuting) {
        EXPECT_TRUE(a.reading([&](const subject_filter& inner) { return inner == both; }));
    }
    ASSERT_TRUE(b.merge(a).has_value());
    ASSERT_TRUE(a.merge(a).has_value()); // one lock, taken once
    if (k.is.idempotent && k.is.commuting) {
        for (const auto* each : {&a, &b})
            EXPECT_TRUE(each->reading([&](const subject_filter& inner) { return inner == both; }));
    }
    const auto before = a.reading([](const subject_filter& inner) { return inner.clone(); });
    auto other = locked_filter::create({.keys = 3'000, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(fails_with(a.merge(other), error_code::mismatch));
    EXPECT_TRUE(a.reading([&](const subject_filter& inner) { return inner == before; }));
}

TEST_P(behind_a_lock, bad_input_is_refused_as_the_filter_does) {
    EXPECT_TRUE(fails_with(locked<subject_filter>::create({.keys = 0, .false_positive_rate = 0.1}),
                           error_code::invalid_argument, "keys"));
    EXPECT_TRUE(fails_with(locked<subject_filter>::create(k.no_parameters()), error_code::invalid_argument));
}

TEST_P(merged_behind_a_lock, with_itself_is_the_filter_merged_with_itself) {
    auto a = locked<subject_filter>::create({.keys = 2'000, .false_positive_rate = 0.01}).value();
    a.add_batch(random_hashes(1'000, 1));
    auto f = a.reading([](const subject_filter& inner) { return inner.clone(); });
    const auto before = f.clone();
    ASSERT_TRUE(f.merge(f).has_value());
    EXPECT_TRUE(!k.is.bits || f == before);
    EXPECT_TRUE(!k.is.deletable || !(f == before)) << "counters double";
    ASSERT_TRUE(a.merge(a).has_value());
    EXPECT_TRUE(a.reading([&](const subject_filter& inner) { return inner == f; }));
}

class locked_edges : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, locked_edges, plain_subjects_that([](const facts& is) {
                             return is.incremental && is.exact && is.mergeable && is.fixed_size;
                         }),
                         subject_names);

TEST_P(locked_edges, merge_if_within_refuses_and_changes_nothing) {
    using locked_filter = locked<subject_filter>;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto a = locked_filter::create(wanted).value();
    auto b = locked_filter::create(wanted).value();
    auto before = locked_filter::create(wanted).value();
    for (auto* f : {&a, &before}) f->add_batch(random_hashes(1'000, 1));
    b.add_batch(random_hashes(1'000, 2));
    EXPECT_TRUE(fails_with(a.merge_if_within(b, 0.01), error_code::full));
    EXPECT_TRUE(a == before);
    EXPECT_TRUE(a.merge_if_within(b, 0.5).has_value());
    EXPECT_FALSE(a == before);
}

} // namespace
} // namespace bouncer::test
