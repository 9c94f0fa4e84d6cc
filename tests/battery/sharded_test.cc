// sharded<F>: keys spread evenly over the shards, and the whole keeps the promise of the goal.
#include <bouncer/keyed.h>
#include <bouncer/sharded.h>

#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <mutex>

namespace bouncer::test {
namespace {

template <class F>
class shards : public ::testing::Test {};
TYPED_TEST_SUITE(shards, plain_kinds_that<is_exact_about_presence>, kind_names);

TYPED_TEST(shards, answer_as_a_filter_does) {
    static_assert(incremental<sharded<TypeParam>>);
    static_assert(sharded<TypeParam>::concurrency ==
                  (is_concurrent<TypeParam> ? TypeParam::concurrency : concurrency_level::locked));
    static_assert(sharded<TypeParam, std::mutex>::concurrency == concurrency_level::locked);
    auto f =
        sharded<TypeParam, std::mutex>::create({.keys = 10'000, .false_positive_rate = 0.01}, {}, 8).value();
    EXPECT_EQ(f.shard_count(), 8u);
    const auto hashes = random_hashes(10'000, 1);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < 5'000; ++i) {
        const bool was_there = f.may_contain(hashes[i]);
        EXPECT_EQ(f.add(hashes[i]), !was_there);
        EXPECT_TRUE(f.test_and_add(hashes[i])); // of a kind that counts a second time
        changed += !was_there;
    }
    EXPECT_GT(changed, 4'900u);
    const std::span<const std::uint64_t> rest = std::span(hashes).subspan(5'000);
    answers before(5'000);
    const std::size_t added = f.test_and_add(rest, before.span());
    EXPECT_EQ(added, 5'000u - static_cast<std::size_t>(
                                  std::count(before.span().begin(), before.span().end(), true)));
    EXPECT_EQ(f.add_batch(hashes), 0u);
    answers found(hashes.size());
    EXPECT_EQ(f.may_contain(hashes, found.span()), hashes.size());
    if constexpr (idempotent_adds<TypeParam>) {
        EXPECT_NEAR(f.approximate_size(), 10'000, 300);
    }
    EXPECT_GT(f.fill_ratio(), 0.1);
    EXPECT_LE(f.expected_fpr(), 0.012);
    f.clear();
    EXPECT_EQ(f.fill_ratio(), 0);
    EXPECT_FALSE(f.may_contain(hashes[0]));
}

// In shards that are as large as the goal says, and with the rate of what each shard holds.
template <class F>
class rate_of_shards : public ::testing::Test {};
TYPED_TEST_SUITE(rate_of_shards, plain_kinds_that<has_exact_rate>, kind_names);

TYPED_TEST(rate_of_shards, keeps_the_promise_of_the_goal) {
    constexpr std::uint64_t keys = 64'000;
    const goal wanted{.keys = keys, .false_positive_rate = 0.01};
    for (const std::uint32_t count : {1u, 16u, 64u}) {
        SCOPED_TRACE(std::to_string(count));
        auto f = sharded<TypeParam>::create(wanted, {}, count).value();
        const auto hashes = random_hashes(keys, 1);
        f.add_batch(hashes);
        const std::uint64_t queries = scaled(1'000'000);
        const auto trials = static_cast<double>(queries);
        std::uint64_t hits = 0;
        for (std::uint64_t i = 0; i < queries; ++i) hits += f.may_contain(random_hash(2, i));
        EXPECT_TRUE(within_sigma(static_cast<double>(hits), trials, f.expected_fpr()));

        std::vector<std::uint64_t> load(count);
        for (const std::uint64_t hash : hashes) ++load[f.shard_index(hash)];
        double promised = 0;
        for (std::uint32_t i = 0; i < count; ++i) promised += f.shard_fpr_at(load[i]) / count;
        if (keeps_its_goal<TypeParam>::value) {
            EXPECT_LE(promised, 0.01);
        }
        EXPECT_NEAR(f.expected_fpr(), promised, 0.05 * promised) << "the shards' bits are not spread evenly";
        // Not by being far too large: at most 10 % above one filter, plus a unit of 128 bytes a shard.
        const std::uint64_t whole = TypeParam::create(wanted).value().size_bytes();
        EXPECT_LE(f.size_bytes(), whole + whole / 10 + 128 * count);
        EXPECT_GE(f.size_bytes() + 64, whole);
    }
}

template <class F>
class sized_shards : public ::testing::Test {};
TYPED_TEST_SUITE(sized_shards, plain_kinds_that<has_fixed_size>, kind_names);

TYPED_TEST(sized_shards, of_one_size_within_the_bytes_given) {
    const auto f = sharded<TypeParam>::create({.keys = 10'000, .size_bytes = 20'000}, {}, 8).value();
    EXPECT_LE(f.size_bytes(), 20'000u);
    if constexpr (is_bit_filter<TypeParam>::value) {
        EXPECT_GE(f.size_bytes(), 16'000u);
    }
}

template <class F>
class merged_shards : public ::testing::Test {};
TYPED_TEST_SUITE(merged_shards, plain_kinds_that<is_exact_and_mergeable>, kind_names);

TYPED_TEST(merged_shards, hold_the_keys_of_both) {
    const goal wanted{.keys = 4'000, .false_positive_rate = 0.01};
    const auto make = [&](std::uint32_t count) {
        return sharded<TypeParam>::create(wanted, {}, count).value();
    };
    auto a = make(8);
    auto b = make(8);
    a.add_batch(random_hashes(2'000, 1));
    b.add_batch(random_hashes(2'000, 2));
    const auto rate = a.merge(b);
    ASSERT_TRUE(rate.has_value());
    EXPECT_DOUBLE_EQ(*rate, a.expected_fpr());
    answers found(2'000);
    EXPECT_EQ(a.may_contain(random_hashes(2'000, 1), found.span()), 2'000u);
    EXPECT_EQ(a.may_contain(random_hashes(2'000, 2), found.span()), 2'000u);
    const double before = a.fill_ratio();
    EXPECT_TRUE(fails_with(a.merge(make(16)), error_code::mismatch, "8", "16"));
    auto larger = sharded<TypeParam>::create({.keys = 9'000, .false_positive_rate = 0.01}, {}, 8).value();
    larger.add_batch(random_hashes(2'000, 3));
    EXPECT_TRUE(fails_with(a.merge(larger), error_code::mismatch));
    EXPECT_EQ(a.fill_ratio(), before);
}

TYPED_TEST(shards, of_bad_numbers_are_refused) {
    const goal wanted{.keys = 4'000, .false_positive_rate = 0.01};
    for (const std::uint32_t count : {3u, 6u, 1u << 17, ~0u})
        EXPECT_TRUE(fails_with(sharded<TypeParam>::create(wanted, {}, count), error_code::invalid_argument,
                               std::to_string(count)));
    EXPECT_TRUE(fails_with(sharded<TypeParam>::create({.keys = 0, .false_positive_rate = 0.01}, {}, 8),
                           error_code::invalid_argument, "keys", "0"));
    EXPECT_TRUE(fails_with(sharded<TypeParam>::create({.keys = 10, .false_positive_rate = 2.0}, {}, 8),
                           error_code::invalid_argument, "2"));
    EXPECT_TRUE(
        fails_with(sharded<TypeParam>::create({.keys = ~std::uint64_t{0}, .false_positive_rate = 0.01}),
                   error_code::too_large));
    EXPECT_FALSE(sharded<TypeParam>::create({.keys = 10, .size_bytes = 4}, {}, 8).has_value());
    EXPECT_TRUE(std::has_single_bit(sharded<TypeParam>::create(wanted).value().shard_count()));
    EXPECT_EQ(sharded<TypeParam>::create(variants<TypeParam>(100, 0.01).front(), {}, 4).value().shard_count(),
              4u);
}

// 2^18 shards' worth of sequential integers would all fall into one shard without a hash.
TEST(shard_load, of_sequential_keys_is_even) {
    constexpr std::uint64_t keys = 1'000'000;
    for (const std::uint32_t count : {8u, 64u, 256u}) {
        auto f =
            keyed<sharded<plain_blocked_bloom>, xxh3>::create({.keys = keys, .false_positive_rate = 0.5}, {});
        ASSERT_TRUE(f.has_value());
        const auto spread =
            sharded<plain_blocked_bloom>::create({.keys = keys, .false_positive_rate = 0.5}, {}, count)
                .value();
        std::vector<std::uint64_t> load(count);
        for (std::uint64_t i = 0; i < keys; ++i) ++load[spread.shard_index(f->hash_of(i))];
        sample shard_loads;
        for (const std::uint64_t each : load) shard_loads.add(static_cast<double>(each));
        const double deviation = std::sqrt(shard_loads.variance());
        EXPECT_LT(deviation, 0.05 * shard_loads.mean()) << count;
        // And as even as chance: the binomial's deviation within a factor of two.
        const double binomial = std::sqrt(shard_loads.mean());
        EXPECT_GT(deviation, 0.5 * binomial) << count;
        EXPECT_LT(deviation, 2 * binomial) << count;
    }
}

} // namespace
} // namespace bouncer::test
