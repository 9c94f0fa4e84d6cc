// Equality, clone, clear and move.
#include "support/kinds.h"
#include "support/random_hashes.h"

namespace bouncer::test {
namespace {

template <class F>
class equality : public ::testing::Test {};
TYPED_TEST_SUITE(equality, kinds_that<is_incremental>, kind_names);

TYPED_TEST(equality, is_of_parameters_hash_and_every_bit) {
    for (const auto& chosen : variants<TypeParam>(500, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto a = TypeParam::create(chosen).value();
        auto b = other_form<TypeParam>::create(chosen).value();
        EXPECT_TRUE(a == a);
        EXPECT_TRUE(a == b);
        a.add(random_hash(1, 0));
        EXPECT_FALSE(a == b);
        EXPECT_FALSE(b == a);
        b.add(random_hash(1, 0));
        EXPECT_TRUE(a == b);
        EXPECT_TRUE(b == a);

        auto larger = chosen;
        size_parameter(larger) *= 2;
        EXPECT_FALSE(TypeParam::create(chosen).value() == TypeParam::create(larger).value());
        if (auto hashed = TypeParam::create(chosen, {.hash = hash_spec{1, 7}}); hashed) {
            EXPECT_FALSE(TypeParam::create(chosen).value() == *hashed);
        }
    }
}

template <class F>
class bit_equality : public ::testing::Test {};
TYPED_TEST_SUITE(bit_equality, kinds_that<is_bit_filter>, kind_names);

TYPED_TEST(bit_equality, sees_every_single_bit) {
    const auto chosen = variants<TypeParam>(10, 0.01).front();
    const typename TypeParam::layout_type layout(chosen);
    auto memory = region::allocate(layout.word_count() * 8).value();
    auto* const words = static_cast<std::uint64_t*>(memory.data());
    const auto f = TypeParam::over(typename TypeParam::words_type(std::move(memory)), chosen,
                                   TypeParam::layout_type::default_hash())
                       .value();
    const auto empty = TypeParam::create(chosen).value();
    for (std::uint64_t bit = 0; bit < layout.word_count() * 64; ++bit) {
        words[bit / 64] = std::uint64_t{1} << (bit % 64);
        EXPECT_FALSE(f == empty) << bit;
        words[bit / 64] = 0;
    }
    EXPECT_TRUE(f == empty);
}

TYPED_TEST(equality, of_a_clone_that_then_goes_its_own_way) {
    for (const auto& chosen : variants<TypeParam>(500, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto f = TypeParam::create(chosen).value();
        f.add_batch(random_hashes(300, 1));
        auto copy = f.clone().value();
        auto other = f.template clone<typename other_form<TypeParam>::words_type>().value();
        EXPECT_TRUE(copy == f);
        EXPECT_TRUE(other == f);
        EXPECT_EQ(copy.params(), f.params());
        copy.add_batch(random_hashes(100, 2));
        EXPECT_FALSE(copy == f);
        EXPECT_TRUE(other == f);
    }
}

TYPED_TEST(equality, keeps_the_hash_in_clones) {
    const auto spec = TypeParam::check_stored_hash({1, 7}) ? hash_spec{1, 7} : default_hash_of<TypeParam>();
    const auto f = TypeParam::create({.keys = 100, .false_positive_rate = 0.01}, {.hash = spec}).value();
    EXPECT_EQ(f.hash(), spec);
    EXPECT_EQ(f.clone().value().hash(), spec);
    if constexpr (requires { f.view(); }) {
        EXPECT_EQ(f.view().hash(), spec);
    }
    if constexpr (foldable<TypeParam>) {
        EXPECT_EQ(f.fold(1).value().hash(), spec);
    }
}

TYPED_TEST(equality, of_a_cleared_filter_with_an_empty_one) {
    for (const auto& chosen : variants<TypeParam>(500, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto f = TypeParam::create(chosen).value();
        f.add_batch(random_hashes(5'000, 1));
        f.clear();
        EXPECT_TRUE(f == TypeParam::create(chosen).value());
        EXPECT_EQ(f.fill_ratio(), 0);
        EXPECT_FALSE(f.may_contain(random_hash(1, 0)));
        EXPECT_TRUE(f.add(random_hash(1, 0)));
        EXPECT_TRUE(f.may_contain(random_hash(1, 0)));
    }
}

TYPED_TEST(equality, survives_a_move) {
    auto f = TypeParam::create({.keys = 1'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(1'000, 1));
    const auto copy = f.clone().value();
    auto moved = std::move(f);
    EXPECT_TRUE(moved == copy);
    auto assigned = TypeParam::create({.keys = 10, .false_positive_rate = 0.1}).value();
    assigned = std::move(moved);
    EXPECT_TRUE(assigned == copy);
    EXPECT_EQ(assigned.may_contain(random_hash(1, 999)), copy.may_contain(random_hash(1, 999)));
}

// Keys in any order, and where a kind does not count any number of times: the same filter.
template <class F>
struct has_commuting_adds : std::bool_constant<incremental<F> && commuting_adds<F>> {};
template <class F>
class order : public ::testing::Test {};
TYPED_TEST_SUITE(order, kinds_that<has_commuting_adds>, kind_names);

TYPED_TEST(order, and_repeats_do_not_show) {
    for (const auto& chosen : variants<TypeParam>(500, 0.01)) {
        auto hashes = random_hashes(500, 1);
        auto forward = TypeParam::create(chosen).value();
        forward.add_batch(hashes);
        std::reverse(hashes.begin(), hashes.end());
        if constexpr (idempotent_adds<TypeParam>)
            hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + 250);
        auto backward = TypeParam::create(chosen).value();
        for (const std::uint64_t hash : hashes) backward.add(hash);
        EXPECT_TRUE(forward == backward);
    }
}

} // namespace
} // namespace bouncer::test
