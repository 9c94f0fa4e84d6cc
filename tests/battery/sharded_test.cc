// sharded<F>: keys spread evenly over the shards, and the whole keeps the promise of the goal.
#include <bouncer/all_filters.h>
#include <bouncer/keyed.h>
#include <bouncer/sharded.h>

#include "support/decorated.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

namespace bouncer::test {
namespace {

// Of every kind by its own type, too.
template <class... F>
constexpr bool may_be_sharded(type_list<F...>) {
    return ((!incremental<F> || incremental<sharded<F>>)&&...);
}
static_assert(may_be_sharded(all_filters<plain_words>{}));
static_assert(sharded<plain_blocked_bloom>::concurrency == concurrency_level::locked);
static_assert(sharded<atomic_blocked_bloom>::concurrency == concurrency_level::wait_free);
static_assert(sharded<atomic_blocked_bloom, std::mutex>::concurrency == concurrency_level::locked);

using sharded_filter = sharded<subject_filter>; // each behind a std::mutex

class shards : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, shards,
                         plain_subjects_that([](const facts& is) { return is.incremental && is.exact; }),
                         subject_names);

TEST_P(shards, answer_as_a_filter_does) {
    auto f = sharded_filter::create({.keys = 10'000, .false_positive_rate = 0.01}, {}, 8).value();
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
    if (k.is.idempotent) {
        EXPECT_NEAR(f.approximate_size(), 10'000, 300);
    }
    EXPECT_GT(f.fill_ratio(), 0.1);
    EXPECT_LE(f.expected_fpr(), 0.012);
    f.clear();
    EXPECT_EQ(f.fill_ratio(), 0);
    EXPECT_FALSE(f.may_contain(hashes[0]));
}

// In shards that are as large as the goal says, and with the rate of what each shard holds.
class rate_of_shards : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, rate_of_shards, plain_subjects_that(&facts::exact_rate), subject_names);

TEST_P(rate_of_shards, keeps_the_promise_of_the_goal) {
    constexpr std::uint64_t keys = 64'000;
    const goal wanted{.keys = keys, .false_positive_rate = 0.01};
    for (const std::uint32_t count : {1u, 16u, 64u}) {
        SCOPED_TRACE(std::to_string(count));
        auto f = sharded_filter::create(wanted, {}, count).value();
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
        if (k.is.keeps_goal) {
            EXPECT_LE(promised, 0.01);
        }
        EXPECT_NEAR(f.expected_fpr(), promised, 0.05 * promised) << "the shards' bits are not spread evenly";
        // Not by being far too large: at most 10 % above one filter, plus a unit of 128 bytes a shard.
        const std::uint64_t whole = k.create(wanted).value().size_bytes();
        EXPECT_LE(f.size_bytes(), whole + whole / 10 + 128 * count);
        EXPECT_GE(f.size_bytes() + 64, whole);
    }
}

class sized_shards : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, sized_shards, plain_subjects_that(&facts::fixed_size), subject_names);

TEST_P(sized_shards, of_one_size_within_the_bytes_given) {
    const auto f = sharded_filter::create({.keys = 10'000, .size_bytes = 20'000}, {}, 8).value();
    EXPECT_LE(f.size_bytes(), 20'000u);
    if (k.is.bits) {
        EXPECT_GE(f.size_bytes(), 16'000u);
    }
}

class merged_shards : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, merged_shards, plain_subjects_that([](const facts& is) {
                             return is.incremental && is.exact && is.mergeable;
                         }),
                         subject_names);

TEST_P(merged_shards, hold_the_keys_of_both) {
    const goal wanted{.keys = 4'000, .false_positive_rate = 0.01};
    const auto make = [&](std::uint32_t count) { return sharded_filter::create(wanted, {}, count).value(); };
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
    auto larger = sharded_filter::create({.keys = 9'000, .false_positive_rate = 0.01}, {}, 8).value();
    larger.add_batch(random_hashes(2'000, 3));
    EXPECT_TRUE(fails_with(a.merge(larger), error_code::mismatch));
    EXPECT_EQ(a.fill_ratio(), before);
}

TEST_P(shards, of_bad_numbers_are_refused) {
    const goal wanted{.keys = 4'000, .false_positive_rate = 0.01};
    for (const std::uint32_t count : {3u, 6u, 1u << 17, ~0u})
        EXPECT_TRUE(fails_with(sharded_filter::create(wanted, {}, count), error_code::invalid_argument,
                               std::to_string(count)));
    EXPECT_TRUE(fails_with(sharded_filter::create({.keys = 0, .false_positive_rate = 0.01}, {}, 8),
                           error_code::invalid_argument, "keys", "0"));
    EXPECT_TRUE(fails_with(sharded_filter::create({.keys = 10, .false_positive_rate = 2.0}, {}, 8),
                           error_code::invalid_argument, "2"));
    EXPECT_TRUE(fails_with(sharded_filter::create({.keys = ~std::uint64_t{0}, .false_positive_rate = 0.01}),
                           error_code::too_large));
    EXPECT_FALSE(sharded_filter::create({.keys = 10, .size_bytes = 4}, {}, 8).has_value());
    EXPECT_TRUE(std::has_single_bit(sharded_filter::create(wanted).value().shard_count()));
    EXPECT_EQ(sharded_filter::create(k.variants(100, 0.01).front(), {}, 4).value().shard_count(), 4u);
}

// 2^18 shards' worth of sequential integers would all fall into one shard without a hash.
TEST(shard_load, of_sequential_keys_is_even) {
    constexpr std::uint64_t keys = 1'000'000;
    subject_filter::made_of = &kind_named("blocked_bloom", words_access::plain);
    for (const std::uint32_t count : {8u, 64u, 256u}) {
        auto f = keyed<sharded_filter, xxh3>::create({.keys = keys, .false_positive_rate = 0.5}, {});
        ASSERT_TRUE(f.has_value());
        const auto spread =
            sharded_filter::create({.keys = keys, .false_positive_rate = 0.5}, {}, count).value();
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
