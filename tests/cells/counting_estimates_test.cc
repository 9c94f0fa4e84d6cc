// What a counting filter says of itself is within five sigma of what is measured, on both sides; also after removes.
#include "cells/counting_forms.h"
#include "support/random_hashes.h"
#include "support/rate_variance.h"
#include "support/statistics.h"

#include <cmath>

namespace bouncer::test {
namespace {

constexpr std::uint64_t keys = 20'000;

// As many keys as the filter is made for, after twice as many were there; every tenth three times.
plain_counting_bloom made_of(const counting_bloom_parameters& chosen) {
    auto f = plain_counting_bloom::create(chosen).value();
    const auto stay = random_hashes(keys, 1);
    const auto go = random_hashes(keys, 2);
    f.add_batch(go);
    f.add_batch(stay);
    for (std::uint64_t i = 0; i < keys; i += 10) {
        f.add(stay[i]);
        f.add(stay[i]);
    }
    for (const std::uint64_t hash : go) f.remove(hash);
    return f;
}

double hits(const plain_counting_bloom& f, std::uint64_t trials) {
    double out = 0;
    answers got(10'000);
    for (std::uint64_t first = 0; first < trials; first += 10'000)
        out += static_cast<double>(f.may_contain(random_hashes(10'000, 3, first), got.span()));
    return out;
}
std::uint64_t trials() {
    return (scaled(2'000'000) + 9'999) / 10'000 * 10'000;
}

// The variance of the rate between filters of these parameters.
double spread_of(const plain_counting_bloom& f) {
    counting_bloom_parameters block = f.params();
    if (block.form == cell_form::two_lines) block.units = 1;
    const detail::cells cells(block.units, block.k, block.counter_bits, block.form);
    const std::uint64_t mask = (std::uint64_t{1} << block.counter_bits) - 1;
    return rate_variance(f.shape(), keys, [&](std::uint64_t b) {
        return detail::answer_rate(cells, {f.data() + b * cells.word_count(), mask});
    });
}

TEST(counting_estimates, expected_fpr_is_the_rate_of_this_very_filter) {
    for (const double rate : {0.1, 0.01, 0.001})
        for_each_form(keys, rate, [](const counting_bloom_parameters& chosen) {
            const auto f = made_of(chosen);
            EXPECT_EQ(f.sticky_counters(), 0u);
            const auto asked = static_cast<double>(trials());
            EXPECT_TRUE(within_sigma(hits(f, trials()), asked, f.expected_fpr()));
        });
}

TEST(counting_estimates, fpr_at_is_the_rate_of_such_filters) {
    for (const double rate : {0.1, 0.01, 0.001})
        for_each_form(keys, rate, [&](const counting_bloom_parameters& chosen) {
            const auto f = made_of(chosen);
            const double promised = f.fpr_at(keys);
            EXPECT_LE(promised, rate);
            EXPECT_GT(promised, rate * 0.95) << "larger than it need be";
            const double between = spread_of(f);
            EXPECT_TRUE(near_by_sigma(f.expected_fpr(), promised, std::sqrt(between)));
            EXPECT_LT(std::sqrt(between), promised * 0.05) << "a bound that says nothing";
            EXPECT_TRUE(within_sigma(hits(f, trials()), static_cast<double>(trials()), promised, 5, between));
            EXPECT_GE(f.capacity(rate), keys);
            EXPECT_LE(f.fpr_at(f.capacity(rate)), rate);
        });
}

TEST(counting_estimates, fill_and_size_count_distinct_keys) {
    for_each_form(keys, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto f = made_of(chosen);
        constexpr double n = keys;
        const double deviation = std::sqrt(math::fill_variance(f.shape(), n));
        EXPECT_TRUE(near_by_sigma(f.fill_ratio(), math::expected_fill(f.shape(), n), deviation));
        const double slope =
            (math::expected_fill(f.shape(), n * 1.01) - math::expected_fill(f.shape(), n * 0.99)) /
            (0.02 * n);
        EXPECT_TRUE(near_by_sigma(f.approximate_size(), n, deviation / slope));
        EXPECT_LT(deviation / slope, 0.02 * n) << "a bound that says nothing";
    });
}

TEST(counting_estimates, begin_and_end_at_zero) {
    for_each_form(1'000, 0.01, [](const counting_bloom_parameters& chosen) {
        auto f = atomic_counting_bloom::create(chosen).value();
        const auto none = [&] {
            EXPECT_EQ(f.fill_ratio(), 0);
            EXPECT_EQ(f.approximate_size(), 0);
            EXPECT_EQ(f.expected_fpr(), 0);
            EXPECT_EQ(f.fpr_at(0), 0);
        };
        none();
        const auto hashes = random_hashes(1'000, 4);
        f.add_batch(hashes);
        EXPECT_GT(f.expected_fpr(), 0);
        for (const std::uint64_t hash : hashes) f.remove(hash);
        none();
    });
}

// Of keys that are there count is never too few; it is too many about as often as an absent key is found.
TEST(counting_estimates, count_is_at_least_the_truth) {
    for_each_form(keys, 0.01, [](const counting_bloom_parameters& chosen) {
        auto f = plain_counting_bloom::create(chosen).value();
        for (std::uint64_t i = 0; i < keys; ++i)
            for (std::uint64_t times = 0; times < 1 + i % 3; ++times) f.add(random_hash(5, i));
        ASSERT_EQ(f.sticky_counters(), 0u);
        std::uint64_t too_many = 0;
        for (std::uint64_t i = 0; i < keys; ++i) {
            const std::uint64_t count = f.count(random_hash(5, i));
            ASSERT_GE(count, 1 + i % 3);
            too_many += count > 1 + i % 3;
        }
        EXPECT_LT(static_cast<double>(too_many), keys * 0.02);
        // Absent ones are counted above zero exactly where they are found.
        for (std::uint64_t i = 0; i < 1'000; ++i)
            EXPECT_EQ(f.count(random_hash(6, i)) != 0, f.may_contain(random_hash(6, i)));
    });
}

} // namespace
} // namespace bouncer::test
