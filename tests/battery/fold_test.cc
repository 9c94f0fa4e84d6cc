// fold gives the filter that would have been built small, bit for bit, without its keys.
#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

namespace bouncer::test {
namespace {

// Parameters of some 8 KiB, enlarged to a size that divides by `factor`; 64 because some sizes are in bits.
template <class F>
typename F::parameters divisible_by(std::uint64_t factor, prefer favoured) {
    auto chosen = F::layout_type::solve({.keys = 1'500, .size_bytes = 8'192, .prefer = favoured}).value();
    const std::uint64_t unit = F::layout_type::one_block ? factor : 64 * factor;
    size_parameter(chosen) = (size_parameter(chosen) / unit + 1) * unit;
    return chosen;
}

template <class F>
class fold : public ::testing::Test {};
template <class F>
struct is_foldable_bits : std::bool_constant<is_foldable<F>::value && is_bit_filter<F>::value> {};
TYPED_TEST_SUITE(fold, plain_kinds_that<is_foldable_bits>, kind_names);

TYPED_TEST(fold, equals_the_filter_built_small) {
    const auto hashes = random_hashes(1'000, 1);
    for (const std::uint64_t factor : {1u, 2u, 3u, 4u, 5u, 7u, 12u, 16u}) {
        for (const auto favoured : {prefer::reads, prefer::space}) {
            const auto chosen = divisible_by<TypeParam>(factor, favoured);
            SCOPED_TRACE(describe<TypeParam>(chosen) + ", factor " + std::to_string(factor));
            auto large = TypeParam::create(chosen).value();
            large.add_batch(hashes);
            const auto before = large.clone().value();
            const auto folded = large.fold(factor);
            ASSERT_TRUE(folded.has_value()) << folded.error().message;
            auto small = TypeParam::create(folded->params()).value();
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
TYPED_TEST(fold, equals_the_filter_built_small_in_every_form) {
    const auto hashes = random_hashes(2'000, 2);
    for (auto chosen : variants<TypeParam>(2'000, 1e-4)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        size_parameter(chosen) =
            size_parameter(chosen) / 384 * 384 + 384; // 64 * 6, where the size is in bits
        auto large = TypeParam::create(chosen).value();
        large.add_batch(hashes);
        for (const std::uint64_t factor : {2u, 3u, 6u}) {
            const auto folded = large.fold(factor);
            ASSERT_TRUE(folded.has_value()) << folded.error().message;
            auto small = TypeParam::create(folded->params()).value();
            small.add_batch(hashes);
            EXPECT_TRUE(*folded == small) << factor;
        }
    }
}

TYPED_TEST(fold, twice_by_two_is_once_by_four) {
    const auto chosen = divisible_by<TypeParam>(4, prefer::reads);
    auto large = TypeParam::create(chosen).value();
    large.add_batch(random_hashes(1'000, 1));
    const auto by_two = large.fold(2).value();
    EXPECT_TRUE(by_two.fold(2).value() == large.fold(4).value());
}

TYPED_TEST(fold, commutes_with_merge) {
    const auto chosen = divisible_by<TypeParam>(6, prefer::reads);
    auto a = TypeParam::create(chosen).value();
    auto b = TypeParam::create(chosen).value();
    a.add_batch(random_hashes(500, 1));
    b.add_batch(random_hashes(500, 2));
    auto folded_first = a.fold(6).value();
    ASSERT_TRUE(folded_first.merge(b.fold(6).value()).has_value());
    ASSERT_TRUE(a.merge(b).has_value());
    EXPECT_TRUE(a.fold(6).value() == folded_first);
}

TYPED_TEST(fold, refuses_what_does_not_divide) {
    const auto chosen = divisible_by<TypeParam>(2, prefer::reads);
    const auto f = TypeParam::create(chosen).value();
    EXPECT_TRUE(fails_with(f.fold(0), error_code::invalid_argument, "0"));
    EXPECT_TRUE(fails_with(f.fold(1'000'003), error_code::invalid_argument, "1000003"));
    EXPECT_TRUE(fails_with(f.fold(~std::uint64_t{0}), error_code::invalid_argument, "18446744073709551615"));
    std::uint64_t odd = 3;
    while (typename TypeParam::layout_type(chosen).folded(odd)) odd += 2;
    EXPECT_TRUE(fails_with(f.fold(odd), error_code::invalid_argument, std::to_string(odd)));
}

TYPED_TEST(fold, of_a_large_goal_is_possible) {
    // A filter solved from a goal has a size that folds, where it is large enough for that to cost nothing.
    const auto f = TypeParam::create({.keys = 200'000, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(f.fold(2).has_value());
}

} // namespace
} // namespace bouncer::test
