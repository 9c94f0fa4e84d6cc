// What a filter says of itself: its fill, its keys and its rate, by a full scan and by a sample.
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bit>
#include <cmath>

namespace bouncer::test {
namespace {

// The standard deviation of approximate_size, by the delta method from the exact variance of the fill.
double size_deviation(const math::geometry& shape, double keys) {
    const double slope =
        (math::expected_fill(shape, keys * 1.01) - math::expected_fill(shape, keys * 0.99)) / (0.02 * keys);
    return std::sqrt(math::fill_variance(shape, keys)) / slope;
}

class estimates : public kind_test {
  protected:
    subject filter_of(const choice& chosen, std::uint64_t first, std::uint64_t last) const {
        auto f = k.create(chosen).value();
        f.add_batch(random_hashes(last - first, 1, first));
        return f;
    }
};
INSTANTIATE_TEST_SUITE_P(all, estimates, plain_subjects_that(&facts::bits), subject_names);

TEST_P(estimates, of_an_empty_filter_are_zero) {
    for (const auto& chosen : k.variants(1'000, 0.01)) {
        const auto f = k.create(chosen).value();
        EXPECT_EQ(f.fill_ratio(), 0);
        EXPECT_EQ(f.approximate_size(), 0);
        EXPECT_EQ(f.expected_fpr(), 0);
        EXPECT_EQ(f.sampled_fill_ratio().low, 0);
        EXPECT_EQ(f.sampled_size().low, 0);
        EXPECT_EQ(f.sampled_fpr().low, 0);
        EXPECT_EQ(f.union_size(f).value(), 0);
        EXPECT_EQ(f.intersection_size(f).value(), 0);
        EXPECT_EQ(f.fpr_at(0), 0);
    }
}

// What every kind that estimates promises: nothing for no keys, more for more, and rates that are rates.
class own_estimates : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, own_estimates, plain_subjects_that([](const facts& is) {
                             return is.incremental && is.self_estimating;
                         }),
                         subject_names);

TEST_P(own_estimates, begin_at_zero_and_rise) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        EXPECT_EQ(f.fill_ratio(), 0);
        EXPECT_EQ(f.approximate_size(), 0);
        EXPECT_EQ(f.expected_fpr(), 0);
        EXPECT_EQ(f.fpr_at(0), 0);
        f.add_batch(random_hashes(200, 1));
        const double fill = f.fill_ratio();
        const double size = f.approximate_size();
        const double rate = f.expected_fpr();
        EXPECT_GT(fill, 0);
        EXPECT_GT(size, 0);
        EXPECT_GT(rate, 0);
        f.add_batch(random_hashes(1'800, 2));
        EXPECT_GT(f.fill_ratio(), fill);
        EXPECT_LE(f.fill_ratio(), 1);
        EXPECT_GT(f.approximate_size(), size);
        EXPECT_GT(f.expected_fpr(), rate);
        if (k.is.exact) { // others may forget some, and be full of so many in one step
            EXPECT_NEAR(size, 200, 40);
            EXPECT_NEAR(f.approximate_size(), 2'000, 200);
            EXPECT_LE(f.expected_fpr(), 0.015);
        }
        EXPECT_LE(f.fpr_at(1'000), f.fpr_at(2'000));
        f.clear();
        EXPECT_EQ(f.approximate_size(), 0);
    }
}

TEST_P(estimates, of_a_full_filter) {
    auto chosen = k.variants(1, 0.01).front();
    auto f = k.create(chosen).value();
    f.add_batch(random_hashes(100'000, 1));
    EXPECT_EQ(f.fill_ratio(), 1);
    EXPECT_TRUE(std::isinf(f.approximate_size()));
    EXPECT_EQ(f.expected_fpr(), 1);
    EXPECT_EQ(f.sampled_fill_ratio().high, 1);
    EXPECT_EQ(f.sampled_fpr().value, 1);
}

TEST_P(estimates, fill_and_size_are_within_five_sigma) {
    for (const auto& chosen : k.variants(20'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const math::geometry shape = k.shape_of(chosen);
        for (const std::uint64_t keys : {100u, 5'000u, 20'000u, 40'000u}) {
            const auto f = filter_of(chosen, 0, keys);
            const auto n = static_cast<double>(keys);
            std::uint64_t ones = 0;
            const auto stored = f.stored();
            for (std::uint64_t i = 0; i < f.size_bytes() / 8; ++i)
                ones += static_cast<std::uint64_t>(std::popcount(stored.segments.at(0).words[i]));
            EXPECT_DOUBLE_EQ(f.fill_ratio(),
                             static_cast<double>(ones) / static_cast<double>(shape.total_bits()));
            EXPECT_TRUE(near_by_sigma(f.fill_ratio(), math::expected_fill(shape, n),
                                      std::sqrt(math::fill_variance(shape, n))));
            const double deviation = size_deviation(shape, n);
            EXPECT_TRUE(near_by_sigma(f.approximate_size(), n, deviation)) << "keys " << keys;
            EXPECT_LT(deviation, 0.05 * n) << "a bound that says nothing";
        }
    }
}

TEST_P(estimates, of_union_and_intersection_are_within_five_sigma) {
    for (const auto& chosen : k.variants(20'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto a = filter_of(chosen, 0, 12'000);
        const auto b = filter_of(chosen, 8'000, 20'000);
        const double of_a = size_deviation(k.shape_of(chosen), 12'000);
        const double of_union = size_deviation(k.shape_of(chosen), 20'000);
        const double together = a.union_size(b).value();
        EXPECT_TRUE(near_by_sigma(together, 20'000, of_union));
        EXPECT_DOUBLE_EQ(together, b.union_size(a).value());
        auto merged = a.clone();
        ASSERT_TRUE(merged.merge(b).has_value());
        EXPECT_DOUBLE_EQ(together, merged.approximate_size());

        const double common = a.intersection_size(b).value();
        EXPECT_TRUE(near_by_sigma(common, 4'000, 2 * of_a + of_union)); // at most the sum of the three
        EXPECT_DOUBLE_EQ(common, a.approximate_size() + b.approximate_size() - together);
        EXPECT_NEAR(a.intersection_size(a).value(), a.approximate_size(), 1e-6);

        const auto disjoint = filter_of(chosen, 30'000, 42'000);
        EXPECT_GE(a.intersection_size(disjoint).value(), 0);
        EXPECT_LE(a.intersection_size(disjoint).value(), 5 * (2 * of_a + of_union));
    }
}

TEST_P(estimates, of_union_and_intersection_refuse_other_parameters) {
    const auto a = k.create(goal{.keys = 1'000, .false_positive_rate = 0.01}).value();
    const auto b = k.create(goal{.keys = 2'000, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(fails_with(a.union_size(b), error_code::mismatch));
    EXPECT_TRUE(fails_with(a.intersection_size(b), error_code::mismatch));
    EXPECT_TRUE(fails_with(a.sampled_union_size(b), error_code::mismatch));
    EXPECT_TRUE(fails_with(a.sampled_intersection_size(b), error_code::mismatch));
}

// The bound is of 99.9 %; among 5 x 2 x 25 draws a miss has a probability of 22 %, and three one of 0.2 %, at fixed seeds.
TEST_P(estimates, by_sample_contain_the_full_scan) {
    for (const auto& chosen : k.variants(20'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto a = filter_of(chosen, 0, 20'000);
        const auto b = filter_of(chosen, 10'000, 30'000);
        int misses = 0;
        const auto check = [&](const estimate& sampled, double full, const char* what) {
            EXPECT_LE(sampled.low, sampled.value) << what;
            EXPECT_LE(sampled.value, sampled.high) << what;
            misses += full < sampled.low || full > sampled.high;
        };
        for (std::uint64_t seed = 1; seed <= 25; ++seed) {
            for (const std::uint32_t samples : {256u, 4096u}) {
                check(a.sampled_fill_ratio(samples, seed), a.fill_ratio(), "fill");
                check(a.sampled_size(samples, seed), a.approximate_size(), "size");
                check(a.sampled_fpr(samples, seed), a.expected_fpr(), "rate");
                check(a.sampled_union_size(b, samples, seed).value(), a.union_size(b).value(), "union");
                check(a.sampled_intersection_size(b, samples, seed).value(), a.intersection_size(b).value(),
                      "intersection");
            }
        }
        EXPECT_LE(misses, 2);
        EXPECT_NEAR(a.sampled_fill_ratio(65'536).value, a.fill_ratio(), 0.01);
    }
}

TEST_P(estimates, by_sample_narrow_as_the_sample_grows) {
    const auto width = [](const estimate& e) { return e.high - e.low; };
    for (const auto& chosen : k.variants(20'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto f = filter_of(chosen, 0, 20'000);
        EXPECT_LT(width(f.sampled_fill_ratio(16'384)), 0.3 * width(f.sampled_fill_ratio(1'024)));
        EXPECT_LT(width(f.sampled_fpr(16'384)), 0.3 * width(f.sampled_fpr(1'024)));
        EXPECT_LT(width(f.sampled_fill_ratio(16'384)), 0.02);
        EXPECT_LT(width(f.sampled_size(16'384)), 0.05 * 20'000);
    }
}

TEST_P(estimates, by_sample_hold_for_the_smallest_filters) {
    for (const auto& chosen : k.variants(1, 0.3)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto f = filter_of(chosen, 0, 30);
        const estimate fill = f.sampled_fill_ratio(65'536);
        EXPECT_GE(f.fill_ratio(), fill.low);
        EXPECT_LE(f.fill_ratio(), fill.high);
        const estimate rate = f.sampled_fpr(65'536);
        EXPECT_GE(f.expected_fpr(), rate.low);
        EXPECT_LE(f.expected_fpr(), rate.high);
        EXPECT_NEAR(f.expected_fpr(), rate.value, 0.05 * f.expected_fpr() + 1e-6);
    }
}

// Uneven bits: half of the words full, half empty, as nothing random leaves them.
TEST_P(estimates, expected_rate_is_that_of_these_very_bits) {
    for (const auto& chosen : k.variants(20'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto memory = region::allocate(k.size_bytes_of(chosen)).value();
        auto* const words = static_cast<std::uint64_t*>(memory.data());
        for (std::uint64_t i = 0; i < memory.size_bytes() / 8; ++i)
            words[i] = random_hash(5, i) % 16 == 0 ? 0x7fff'ffff'0fff'ffffu : ~std::uint64_t{0};
        const auto f = k.over(std::move(memory), chosen, k.default_hash()).value();
        const std::uint64_t queries = scaled(1'000'000);
        std::uint64_t hits = 0;
        for (std::uint64_t i = 0; i < queries; ++i) hits += f.may_contain(random_hash(6, i));
        EXPECT_TRUE(within_sigma(static_cast<double>(hits), static_cast<double>(queries), f.expected_fpr()));
    }
}

TEST_P(estimates, capacity_is_where_the_rate_is_reached) {
    for (const auto& chosen : k.variants(20'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto f = k.create(chosen).value();
        for (const double rate : {0.001, 0.01, 0.1}) {
            const std::uint64_t most = f.capacity(rate);
            EXPECT_LE(f.fpr_at(most), rate);
            EXPECT_GT(f.fpr_at(most + 1), rate);
        }
        if (k.is.keeps_goal) {
            EXPECT_GE(f.capacity(0.01), 20'000u);
        }
    }
}

// A promise for keys that come all in one step, of a kind that has steps.
class overfilled : public kind_test {
  protected:
    subject made_for(std::uint64_t keys, double rate) const {
        return k.create(goal{.keys = k.is.rotating ? 6 * keys : keys, .false_positive_rate = rate}).value();
    }
};
INSTANTIATE_TEST_SUITE_P(all, overfilled, plain_subjects_that(&facts::can_overfill), subject_names);

// By chance the rate of every second filter is above its promise: that is not too many keys.
TEST_P(overfilled, is_none_with_just_the_keys_it_was_made_for) {
    std::uint64_t above = 0;
    for (const double rate : {1e-2, 1e-4, 1e-6}) {
        const auto trials = static_cast<int>(scaled(40));
        for (int trial = 0; trial < trials; ++trial) {
            auto f = made_for(2'000, rate);
            f.add_batch(random_hashes(2'000, static_cast<std::uint64_t>(trial)));
            EXPECT_FALSE(f.overfull(rate)) << "rate " << rate << ", trial " << trial;
            above += f.expected_fpr() > rate;
        }
    }
    if (k.is.bits && divisor() == 1) {
        EXPECT_GT(above, 10u) << "filters that say nothing";
    }
}

TEST_P(overfilled, is_one_with_half_as_many_more) {
    if (k.is.name == "scalable_bloom") return; // it grows: tests/scalable
    for (const double rate : {1e-2, 1e-4, 1e-6}) {
        auto f = made_for(2'000, rate);
        // In one of seven steps a few more are within the rate of all.
        f.add_batch(random_hashes(k.is.rotating ? 20'000 : 3'000, 1));
        EXPECT_TRUE(f.overfull(rate)) << "rate " << rate;
        f.clear();
        EXPECT_FALSE(f.overfull(rate));
    }
}

} // namespace
} // namespace bouncer::test
