// Equality, clone, clear and move.
#include "support/random_hashes.h"
#include "support/subject.h"

namespace bouncer::test {
namespace {

class equality : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, equality, subjects_that(&facts::incremental), subject_names);

TEST_P(equality, is_of_parameters_hash_and_every_bit) {
    for (const auto& chosen : k.variants(500, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto a = k.create(chosen).value();
        auto b = k.other().create(chosen).value();
        EXPECT_TRUE(a == a);
        EXPECT_TRUE(a == b);
        a.add(random_hash(1, 0));
        EXPECT_FALSE(a == b);
        EXPECT_FALSE(b == a);
        b.add(random_hash(1, 0));
        EXPECT_TRUE(a == b);
        EXPECT_TRUE(b == a);

        const auto larger = k.with_size(chosen, 2 * k.size_in(chosen));
        EXPECT_FALSE(k.create(chosen).value() == k.create(larger).value());
        if (auto hashed = k.create(chosen, {.hash = hash_spec{1, 7}}); hashed) {
            EXPECT_FALSE(k.create(chosen).value() == *hashed);
        }
    }
}

class bit_equality : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, bit_equality, subjects_that(&facts::bits), subject_names);

TEST_P(bit_equality, sees_every_single_bit) {
    const auto chosen = k.variants(10, 0.01).front();
    const std::uint64_t bytes = k.size_bytes_of(chosen);
    auto memory = region::allocate(bytes).value();
    auto* const words = static_cast<std::uint64_t*>(memory.data());
    const auto f = k.over(std::move(memory), chosen, k.default_hash()).value();
    const auto empty = k.create(chosen).value();
    for (std::uint64_t bit = 0; bit < bytes * 8; ++bit) {
        words[bit / 64] = std::uint64_t{1} << (bit % 64);
        EXPECT_FALSE(f == empty) << bit;
        words[bit / 64] = 0;
    }
    EXPECT_TRUE(f == empty);
}

TEST_P(equality, of_a_clone_that_then_goes_its_own_way) {
    for (const auto& chosen : k.variants(500, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        f.add_batch(random_hashes(300, 1));
        auto copy = f.clone();
        auto other = f.clone(k.other().is.access);
        EXPECT_TRUE(copy == f);
        EXPECT_TRUE(other == f);
        EXPECT_EQ(copy.params(), f.params());
        copy.add_batch(random_hashes(100, 2));
        EXPECT_FALSE(copy == f);
        EXPECT_TRUE(other == f);
    }
}

TEST_P(equality, keeps_the_hash_in_clones) {
    const auto spec = k.check_stored_hash({1, 7}) ? hash_spec{1, 7} : k.default_hash();
    const auto f = k.create(goal{.keys = 100, .false_positive_rate = 0.01}, {.hash = spec}).value();
    EXPECT_EQ(f.hash(), spec);
    EXPECT_EQ(f.clone().hash(), spec);
    EXPECT_EQ(f.view().hash(), spec);
    if (k.is.foldable) {
        EXPECT_EQ(f.fold(1).value().hash(), spec);
    }
}

TEST_P(equality, of_a_cleared_filter_with_an_empty_one) {
    for (const auto& chosen : k.variants(500, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        f.add_batch(random_hashes(5'000, 1));
        f.clear();
        EXPECT_TRUE(f == k.create(chosen).value());
        EXPECT_EQ(f.fill_ratio(), 0);
        EXPECT_FALSE(f.may_contain(random_hash(1, 0)));
        EXPECT_TRUE(f.add(random_hash(1, 0)));
        EXPECT_TRUE(f.may_contain(random_hash(1, 0)));
    }
}

TEST_P(equality, survives_a_move) {
    auto f = k.create(goal{.keys = 1'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(1'000, 1));
    const auto copy = f.clone();
    auto moved = f.moved();
    EXPECT_TRUE(moved == copy);
    auto assigned = k.create(goal{.keys = 10, .false_positive_rate = 0.1}).value();
    assigned.assign(std::move(moved));
    EXPECT_TRUE(assigned == copy);
    EXPECT_EQ(assigned.may_contain(random_hash(1, 999)), copy.may_contain(random_hash(1, 999)));
}

// Keys in any order, and where a kind does not count any number of times: the same filter.
class order : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, order, subjects_that(&facts::commuting), subject_names);

TEST_P(order, and_repeats_do_not_show) {
    for (const auto& chosen : k.variants(500, 0.01)) {
        auto hashes = random_hashes(500, 1);
        auto forward = k.create(chosen).value();
        forward.add_batch(hashes);
        std::reverse(hashes.begin(), hashes.end());
        if (k.is.idempotent) hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + 250);
        auto backward = k.create(chosen).value();
        for (const std::uint64_t hash : hashes) backward.add(hash);
        EXPECT_TRUE(forward == backward);
    }
}

} // namespace
} // namespace bouncer::test
