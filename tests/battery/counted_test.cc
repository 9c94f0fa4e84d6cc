// counted<F>: one thread's count is exactly the adds that changed a bit. (Many threads: tests/concurrency.)
#include <bouncer/counted.h>

#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

namespace bouncer::test {
namespace {

template <class F>
class count : public ::testing::Test {};
TYPED_TEST_SUITE(count, plain_kinds_that<is_incremental>, kind_names);

TYPED_TEST(count, is_of_the_adds_that_changed_a_bit) {
    static_assert(incremental<counted<TypeParam>>);
    auto c = counted<TypeParam>::create({.keys = 2'000, .false_positive_rate = 0.1}).value();
    auto f = TypeParam::create(c.filter().params()).value();
    std::uint64_t expected = 0;
    EXPECT_EQ(c.count(), 0u);
    for (const std::uint64_t hash : random_hashes(1'000, 1)) {
        const bool changed = f.add(hash);
        expected += changed;
        EXPECT_EQ(c.add(hash), changed);
        if constexpr (idempotent_adds<TypeParam>) {
            EXPECT_FALSE(c.add(hash));
        }
    }
    EXPECT_EQ(c.count(), expected);
    for (const std::uint64_t hash : random_hashes(1'000, 2)) {
        const bool was_there = f.test_and_add(hash);
        expected += !was_there;
        EXPECT_EQ(c.test_and_add(hash), was_there);
        if constexpr (idempotent_adds<TypeParam>) {
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
    EXPECT_LE(c.count(), 3'400u);        // never above the distinct keys with one thread
    if (TypeParam::no_false_negatives) { // a window is full of so many in one step
        EXPECT_GT(c.count(), 3'400u * 7 / 10);
    }
    EXPECT_EQ(c.may_contain(random_hash(9, 1)), f.may_contain(random_hash(9, 1)));
    EXPECT_EQ(c.may_contain(random_hashes(700, 5), ours.span()),
              f.may_contain(random_hashes(700, 5), theirs.span()));
    EXPECT_EQ(c.size_bytes(), f.size_bytes());
    EXPECT_EQ(c.hash(), f.hash());
}

TYPED_TEST(count, moves_and_is_cleared) {
    auto c = counted<TypeParam>::create({.keys = 2'000, .false_positive_rate = 1e-4}).value();
    c.add_batch(random_hashes(100, 1));
    auto moved = std::move(c);
    EXPECT_EQ(moved.count(), 100u);
    moved.clear();
    EXPECT_EQ(moved.count(), 0u);
    EXPECT_EQ(moved.filter().fill_ratio(), 0);
    EXPECT_TRUE(moved.add(1));
    EXPECT_EQ(moved.count(), 1u);
}

TYPED_TEST(count, bad_input_is_refused_as_the_filter_does) {
    EXPECT_TRUE(fails_with(counted<TypeParam>::create({.keys = 0, .false_positive_rate = 0.1}),
                           error_code::invalid_argument, "keys"));
    EXPECT_TRUE(fails_with(counted<TypeParam>::create(typename TypeParam::parameters{}),
                           error_code::invalid_argument));
}

} // namespace
} // namespace bouncer::test
