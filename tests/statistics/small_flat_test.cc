// The rate of small flat filters at low rates: where plain double hashing fails (1.12 times the formula at n = 1000 and
// 10^-4, 1.74 times at 10^-5).
#include <bouncer/bloom.h>
#include <bouncer/partitioned_bloom.h>

#include "support/random_hashes.h"
#include "support/rate_variance.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace bouncer::test {
namespace {

// A thousand false positives each, as far as `queries_most` allows: 17 ns a query, nearly all of it one branch that
// nobody can predict.
template <class F>
void holds_its_rate(std::uint64_t keys, double rate, double queries_most, double hits_wanted = 1000) {
    SCOPED_TRACE(std::string(F::kind_name) + ", n = " + std::to_string(keys) + ", one in " +
                 std::to_string(1 / rate));
    auto f = F::create(goal{.keys = keys, .false_positive_rate = rate}).value();
    // Many filters share the queries: the rate of one with 100 keys lies 20 % off the mean, that of 1000 together
    // 0.6 %, which is little beside the 3 to 10 % of so few hits.
    const std::uint64_t filters = std::clamp<std::uint64_t>(100'000 / keys, 100, 1000);
    const auto per_filter = static_cast<std::uint64_t>(std::min(hits_wanted / rate, queries_most)) / filters;
    const std::uint64_t count = divided(filters);

    sample of_bits;
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        f.clear();
        f.add_batch(random_hashes(keys, 1, i * keys));
        of_bits.add(f.expected_fpr());
        for (std::uint64_t q = 0; q < per_filter; ++q)
            hits += f.may_contain(random_hash(2, i * per_filter + q));
    }
    const auto measured = static_cast<double>(hits);
    const auto trials = static_cast<double>(per_filter * count);
    const double design = f.fpr_at(keys);
    const double variance = rate_variance(f, keys) / of_bits.count();
    EXPECT_TRUE(within_sigma(measured, trials, of_bits.mean())) << "against their own bits";
    EXPECT_TRUE(within_sigma(measured, trials, design, 5, variance)) << "against the design";
    EXPECT_TRUE(near_by_sigma(of_bits.mean(), design, std::sqrt(variance))) << "bits against the design";
}

template <class F>
void holds_its_rates(std::uint64_t keys, double queries_most) {
    for (const double rate : {1e-3, 1e-4, 1e-5, 1e-6}) holds_its_rate<F>(keys, rate, queries_most);
}

// Enough hits to see the few percent that a key folding onto itself would add (docs/math.md): 5 sigma are 4.5 %.
TEST(small_flat, bloom_of_100_closely) {
    holds_its_rate<plain_bloom>(100, 1e-5, 1.2e9, 12'000);
}
TEST(small_flat, bloom_of_100) {
    holds_its_rates<plain_bloom>(100, 4e8);
}
TEST(small_flat, bloom_of_1000) {
    holds_its_rates<plain_bloom>(1000, 4e8);
}
TEST(small_flat, bloom_of_10000) {
    holds_its_rates<plain_bloom>(10'000, 1e8);
}
TEST(small_flat, partitioned_of_100) {
    holds_its_rates<plain_partitioned_bloom>(100, 1e8);
}
TEST(small_flat, partitioned_of_1000) {
    holds_its_rates<plain_partitioned_bloom>(1000, 1e8);
}
TEST(small_flat, partitioned_of_10000) {
    holds_its_rates<plain_partitioned_bloom>(10'000, 1e8);
}

} // namespace
} // namespace bouncer::test
