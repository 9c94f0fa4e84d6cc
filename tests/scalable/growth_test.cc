// When a chain grows, and what it knows of itself then.
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/scalable.h>

namespace bouncer::test {
namespace {

template <class F>
class scalable_growth : public ::testing::Test {};
using chains = ::testing::Types<plain_scalable_bloom, atomic_scalable_bloom>;
TYPED_TEST_SUITE(scalable_growth, chains);

TYPED_TEST(scalable_growth, follows_the_plan_at_exact_counts) {
    const scalable_parameters chosen{.first_keys = 5'000};
    auto f = TypeParam::create(chosen).value();
    const auto planned = TypeParam::plan(chosen, 200'000).value();
    std::uint64_t boundary = planned[0].capacity;
    std::uint64_t changed = 0;
    for (std::uint64_t i = 0; changed < 120'000; ++i) {
        const std::uint32_t before = f.layer_count();
        changed += f.add(random_hash(1, i));
        ASSERT_EQ(f.layer_count(), before + (changed == boundary && f.layer_count() != before));
        if (f.layer_count() == before) continue;
        ASSERT_EQ(changed, boundary) << "layer " << before;
        boundary += planned[before].capacity;
    }
    EXPECT_EQ(f.changing_adds(), changed);
    const auto layers = f.layers();
    ASSERT_EQ(layers.size(), 4u); // 5, 20, 80 and 320 thousand
    for (std::size_t i = 0; i < layers.size(); ++i) {
        EXPECT_EQ(layers[i].capacity, planned[i].capacity);
        EXPECT_DOUBLE_EQ(layers[i].promised_rate, planned[i].rate);
        EXPECT_EQ(layers[i].size_bytes, planned[i].size_bytes);
        EXPECT_EQ(f.layer(static_cast<std::uint32_t>(i)).params(), planned[i].filter);
        if (i + 1 < layers.size()) {
            EXPECT_EQ(layers[i].keys, layers[i].capacity);
        }
    }
    EXPECT_NEAR(f.approximate_size(), static_cast<double>(changed), 0.02 * static_cast<double>(changed));
    EXPECT_TRUE(f.promise_holds());
    EXPECT_EQ(f.growth_refused(), std::nullopt);
}

TYPED_TEST(scalable_growth, only_changing_adds_count) {
    auto f = TypeParam::create({.keys = 1'000, .false_positive_rate = 0.01}).value();
    const auto hashes = random_hashes(900, 2);
    for (const std::uint64_t hash : hashes) f.add(hash);
    const std::uint64_t counted = f.changing_adds();
    for (int round = 0; round < 50; ++round) {
        for (const std::uint64_t hash : hashes) ASSERT_FALSE(f.add(hash));
        ASSERT_EQ(f.add_batch(hashes), 0u);
    }
    EXPECT_EQ(f.changing_adds(), counted);
    EXPECT_EQ(f.layer_count(), 1u);
    // A key of an older layer is not added to the newest.
    f.add_batch(random_hashes(5'000, 3));
    ASSERT_GE(f.layer_count(), 2u);
    const std::uint64_t then = f.changing_adds();
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(f.test_and_add(hash));
    EXPECT_EQ(f.changing_adds(), then);
}

TYPED_TEST(scalable_growth, prepared_ahead_on_request) {
    auto f = TypeParam::create({.keys = 100'000, .false_positive_rate = 0.01}).value();
    const std::uint64_t bytes = f.size_bytes();
    EXPECT_EQ(bytes, TypeParam::size_bytes_of(f.params()));
    f.prepare_growth().value();
    const std::uint64_t with_parked = f.size_bytes();
    EXPECT_GT(with_parked, 4 * bytes);
    EXPECT_EQ(f.layer_count(), 1u);
    f.prepare_growth().value();
    EXPECT_EQ(f.size_bytes(), with_parked);
}

TYPED_TEST(scalable_growth, clear_goes_back_to_the_first_layer) {
    const scalable_parameters chosen{.first_keys = 500};
    auto f = TypeParam::create(chosen).value();
    const auto hashes = random_hashes(20'000, 4);
    f.add_batch(hashes);
    ASSERT_GT(f.layer_count(), 2u);
    const auto first = f.template clone<plain_words>().value();
    f.clear();
    EXPECT_EQ(f.layer_count(), 1u);
    EXPECT_EQ(f.changing_adds(), 0u);
    EXPECT_TRUE(f == TypeParam::create(chosen).value());
    EXPECT_EQ(f.size_bytes(), TypeParam::size_bytes_of(chosen));
    f.add_batch(hashes);
    EXPECT_TRUE(f == first) << "it grows as it did before";
}

TYPED_TEST(scalable_growth, moves_and_copies) {
    auto f = TypeParam::create({.keys = 500, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(5'000, 5));
    const auto copy = f.clone().value();
    TypeParam moved = std::move(f);
    EXPECT_TRUE(moved == copy);
    EXPECT_EQ(copy.changing_adds(), moved.changing_adds());
    const auto view = moved.view();
    EXPECT_TRUE(view == copy);
    for (const std::uint64_t hash : random_hashes(5'000, 5)) ASSERT_TRUE(view.may_contain(hash));
    // Both grow on alike.
    auto again = copy.clone().value();
    again.add_batch(random_hashes(50'000, 6));
    moved.add_batch(random_hashes(50'000, 6));
    EXPECT_TRUE(again == moved);
}

// A copy has neither the prepared layer nor the plan of the original, and may be made when its newest layer is full but
// for one key: it must find the same shape for the next layer all the same.
TYPED_TEST(scalable_growth, copies_of_any_moment_grow_alike) {
    for (const std::uint64_t first_keys : {1u, 2u, 3u, 20u}) {
        const scalable_parameters chosen{
            .first_keys = first_keys, .rate = 0.001, .growth_small = 4, .growth = 1};
        auto f = TypeParam::create(chosen).value();
        auto plain = f.template clone<plain_words>().value();
        auto shared = f.template clone<atomic_words>().value();
        for (std::uint64_t i = 0; i < 3 * first_keys; ++i) {
            const bool changed = f.add(random_hash(8, i));
            ASSERT_EQ(plain.add(random_hash(8, i)), changed);
            ASSERT_EQ(shared.add(random_hash(8, i)), changed);
            ASSERT_TRUE(plain == f) << first_keys << ": " << i;
            ASSERT_TRUE(shared == f) << first_keys << ": " << i;
            plain = f.template clone<plain_words>().value();
            shared = f.template clone<atomic_words>().value();
        }
        ASSERT_GT(f.layer_count(), 1u);
        const auto planned = TypeParam::plan(chosen, f.changing_adds()).value();
        for (std::uint32_t i = 0; i < f.layer_count() && i < planned.size(); ++i)
            ASSERT_EQ(shared.layer(i).params(), planned[i].filter);
        // A copy that lost its later layers plans the second one anew.
        shared.clear();
        f.clear();
        for (std::uint64_t i = 0; i < 2 * first_keys; ++i) {
            f.add(random_hash(9, i));
            shared.add(random_hash(9, i));
            ASSERT_TRUE(shared == f) << first_keys << ": " << i;
        }
    }
}

TYPED_TEST(scalable_growth, rate_of_more_keys_than_layers_can_hold) {
    for (const std::uint32_t growth : {1u, 4u, 16u}) {
        const scalable_parameters chosen{
            .first_keys = 100, .rate = 0.9, .growth_small = growth, .growth = growth};
        const double rate = TypeParam::create(chosen).value().fpr_at(~std::uint64_t{0});
        EXPECT_GE(rate, 0.9) << growth;
        EXPECT_LE(rate, 1) << growth;
    }
}

TYPED_TEST(scalable_growth, one_key_layers) {
    const scalable_parameters chosen{.first_keys = 1, .rate = 0.01};
    auto f = TypeParam::create(chosen).value();
    for (std::uint64_t i = 0; i < 3'000; ++i) f.add(random_hash(7, i));
    for (std::uint64_t i = 0; i < 3'000; ++i) ASSERT_TRUE(f.may_contain(random_hash(7, i)));
    EXPECT_EQ(f.layer_count(), 7u); // 1, 4, ... 4096
    EXPECT_LE(f.expected_fpr(), 0.01);
}

TYPED_TEST(scalable_growth, all_64_layers) {
    const scalable_parameters equal{
        .first_keys = 5'000, .rate = 0.05, .tightening = 0.95, .growth_small = 1, .growth = 1};
    auto f = TypeParam::create(equal).value();
    std::uint64_t i = 0;
    while (f.layer_count() < 64) f.add(random_hash(8, i++));
    EXPECT_EQ(f.growth_refused(), std::nullopt);
    EXPECT_TRUE(f.promise_holds());
    f.add_batch(random_hashes(5'000, 9));
    EXPECT_TRUE(f.promise_holds());
    EXPECT_FALSE(f.overfull(0.05));
    ASSERT_TRUE(f.growth_refused());
    EXPECT_EQ(f.growth_refused()->code, error_code::full);
    EXPECT_NE(f.growth_refused()->message.find("64"), std::string::npos);
    EXPECT_EQ(f.prepare_growth().error().code, error_code::full);
    // Adds go on.
    f.add_batch(random_hashes(50'000, 10));
    EXPECT_EQ(f.layer_count(), 64u);
    EXPECT_FALSE(f.promise_holds());
    EXPECT_TRUE(f.overfull(0.05));
    for (const std::uint64_t hash : random_hashes(50'000, 10)) ASSERT_TRUE(f.may_contain(hash));
    for (std::uint64_t k = 0; k < i; ++k) ASSERT_TRUE(f.may_contain(random_hash(8, k)));
}

} // namespace
} // namespace bouncer::test
