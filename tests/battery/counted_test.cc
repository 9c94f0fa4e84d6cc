// counted<F>: one thread's count is exactly the adds that changed a bit. (Many threads: tests/concurrency.)
#include <bouncer/all_filters.h>
#include <bouncer/counted.h>

#include "support/decorated.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <algorithm>

namespace bouncer::test {
namespace {

// Of every kind by its own type, too.
template <class... F>
constexpr bool may_be_counted(type_list<F...>) {
    return ((!incremental<F> || incremental<counted<F>>)&&...);
}
static_assert(may_be_counted(all_filters<plain_words>{}) && may_be_counted(all_filters<atomic_words>{}));

using counted_filter = counted<subject_filter>;

class count : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, count, plain_subjects_that(&facts::incremental), subject_names);

TEST_P(count, is_of_the_adds_that_changed_a_bit) {
    auto c = counted_filter::create({.keys = 2'000, .false_positive_rate = 0.1}).value();
    auto f = subject_filter::create(c.filter().params()).value();
    std::uint64_t expected = 0;
    EXPECT_EQ(c.count(), 0u);
    for (const std::uint64_t hash : random_hashes(1'000, 1)) {
        const bool changed = f.add(hash);
        expected += changed;
        EXPECT_EQ(c.add(hash), changed);
        if (k.is.idempotent) {
            EXPECT_FALSE(c.add(hash));
        }
    }
    EXPECT_EQ(c.count(), expected);
    for (const std::uint64_t hash : random_hashes(1'000, 2)) {
        const bool was_there = f.test_and_add(hash);
        expected += !was_there;
        EXPECT_EQ(c.test_and_add(hash), was_there);
        if (k.is.idempotent) {
            EXPECT_TRUE(c.test_and_add(hash));
        }
    }
    EXPECT_EQ(c.count(), expected);
    expected += f.add_batch(random_hashes(700, 3));
    c.add_batch(random_hashes(700, 3));
    EXPECT_EQ(c.count(), expected);
    answers ours(700);
    answers theirs(700);
    expected += f.test_and_add(random_hashes(700, 4), theirs.span());
    c.test_and_add(random_hashes(700, 4), ours.span());
    EXPECT_EQ(c.count(), expected);
    EXPECT_TRUE(std::equal(ours.span().begin(), ours.span().end(), theirs.span().begin()));
    EXPECT_TRUE(c.filter() == f);
    EXPECT_LE(c.count(), 3'400u); // never above the distinct keys with one thread
    if (k.is.exact) {             // a window is full of so many in one step
        EXPECT_GT(c.count(), 3'400u * 7 / 10);
    }
    EXPECT_EQ(c.may_contain(random_hash(9, 1)), f.may_contain(random_hash(9, 1)));
    EXPECT_EQ(c.may_contain(random_hashes(700, 5), ours.span()),
              f.may_contain(random_hashes(700, 5), theirs.span()));
    EXPECT_EQ(c.size_bytes(), f.size_bytes());
    EXPECT_EQ(c.hash(), f.hash());
}

TEST_P(count, moves_and_is_cleared) {
    auto c = counted_filter::create({.keys = 2'000, .false_positive_rate = 1e-4}).value();
    c.add_batch(random_hashes(100, 1));
    auto moved = std::move(c);
    EXPECT_EQ(moved.count(), 100u);
    moved.clear();
    EXPECT_EQ(moved.count(), 0u);
    EXPECT_EQ(moved.filter().fill_ratio(), 0);
    EXPECT_TRUE(moved.add(1));
    EXPECT_EQ(moved.count(), 1u);
}

TEST_P(count, bad_input_is_refused_as_the_filter_does) {
    EXPECT_TRUE(fails_with(counted_filter::create({.keys = 0, .false_positive_rate = 0.1}),
                           error_code::invalid_argument, "keys"));
    EXPECT_TRUE(fails_with(counted_filter::create(k.no_parameters()), error_code::invalid_argument));
}

} // namespace
} // namespace bouncer::test
