// fold gives the filter that would have been built small, bit for bit, without its keys.
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/subject.h"

namespace bouncer::test {
namespace {

class fold : public kind_test {
  protected:
    // Parameters of some 8 KiB, enlarged to a size that divides by `factor`; 64 because some sizes are in bits.
    choice divisible_by(std::uint64_t factor, prefer favoured) const {
        const auto chosen = k.solve({.keys = 1'500, .size_bytes = 8'192, .prefer = favoured}).value();
        const std::uint64_t unit = k.is.one_block ? factor : 64 * factor;
        return k.with_size(chosen, (k.size_in(chosen) / unit + 1) * unit);
    }
};
INSTANTIATE_TEST_SUITE_P(all, fold,
                         plain_subjects_that([](const facts& is) { return is.foldable && is.bits; }),
                         subject_names);

TEST_P(fold, equals_the_filter_built_small) {
    const auto hashes = random_hashes(1'000, 1);
    for (const std::uint64_t factor : {1u, 2u, 3u, 4u, 5u, 7u, 12u, 16u}) {
        for (const auto favoured : {prefer::reads, prefer::space}) {
            const auto chosen = divisible_by(factor, favoured);
            SCOPED_TRACE(k.describe(chosen) + ", factor " + std::to_string(factor));
            auto large = k.create(chosen).value();
            large.add_batch(hashes);
            const auto before = large.clone();
            const auto folded = large.fold(factor);
            ASSERT_TRUE(folded.has_value()) << folded.error().message;
            auto small = k.create(folded->params()).value();
            small.add_batch(hashes);
            EXPECT_TRUE(*folded == small);
            EXPECT_EQ(folded->size_bytes() * factor, large.size_bytes());
            EXPECT_EQ(folded->hash(), large.hash());
            EXPECT_TRUE(large == before) << "fold changed its source";
            for (const std::uint64_t hash : hashes) ASSERT_TRUE(folded->may_contain(hash));
        }
    }
}

// Forms that no preference picks at that size.
TEST_P(fold, equals_the_filter_built_small_in_every_form) {
    const auto hashes = random_hashes(2'000, 2);
    for (const auto& each : k.variants(2'000, 1e-4)) {
        // 64 * 6, where the size is in bits
        const auto chosen = k.with_size(each, k.size_in(each) / 384 * 384 + 384);
        SCOPED_TRACE(k.describe(chosen));
        auto large = k.create(chosen).value();
        large.add_batch(hashes);
        for (const std::uint64_t factor : {2u, 3u, 6u}) {
            const auto folded = large.fold(factor);
            ASSERT_TRUE(folded.has_value()) << folded.error().message;
            auto small = k.create(folded->params()).value();
            small.add_batch(hashes);
            EXPECT_TRUE(*folded == small) << factor;
        }
    }
}

TEST_P(fold, twice_by_two_is_once_by_four) {
    const auto chosen = divisible_by(4, prefer::reads);
    auto large = k.create(chosen).value();
    large.add_batch(random_hashes(1'000, 1));
    const auto by_two = large.fold(2).value();
    EXPECT_TRUE(by_two.fold(2).value() == large.fold(4).value());
}

TEST_P(fold, commutes_with_merge) {
    const auto chosen = divisible_by(6, prefer::reads);
    auto a = k.create(chosen).value();
    auto b = k.create(chosen).value();
    a.add_batch(random_hashes(500, 1));
    b.add_batch(random_hashes(500, 2));
    auto folded_first = a.fold(6).value();
    ASSERT_TRUE(folded_first.merge(b.fold(6).value()).has_value());
    ASSERT_TRUE(a.merge(b).has_value());
    EXPECT_TRUE(a.fold(6).value() == folded_first);
}

TEST_P(fold, refuses_what_does_not_divide) {
    const auto chosen = divisible_by(2, prefer::reads);
    const auto f = k.create(chosen).value();
    EXPECT_TRUE(fails_with(f.fold(0), error_code::invalid_argument, "0"));
    EXPECT_TRUE(fails_with(f.fold(1'000'003), error_code::invalid_argument, "1000003"));
    EXPECT_TRUE(fails_with(f.fold(~std::uint64_t{0}), error_code::invalid_argument, "18446744073709551615"));
    std::uint64_t odd = 3;
    while (k.size_in(chosen) % odd == 0) odd += 2;
    EXPECT_TRUE(fails_with(f.fold(odd), error_code::invalid_argument, std::to_string(odd)));
}

TEST_P(fold, of_a_large_goal_is_possible) {
    // A filter solved from a goal has a size that folds, where it is large enough for that to cost nothing.
    const auto f = k.create(goal{.keys = 200'000, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(f.fold(2).has_value());
}

} // namespace
} // namespace bouncer::test
