// stable_bloom against its formulas: zeros, false positives and false negatives, on the way and at the stable point.
//
// Neighbouring cells are counted down together and one state leads to the next, so single answers are not independent.
// Every bound therefore comes from the spread of batches that lie further apart than the filter remembers.
#include <bouncer/stable_bloom.h>

#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

// An endless stream of distinct keys.
class stream {
  public:
    explicit stream(std::uint64_t number) : number_(number) {}
    std::uint64_t next() { return random_hash(number_, position_++); }
    // The key before the last `distance` ones.
    std::uint64_t back(std::uint64_t distance) const {
        return random_hash(number_, position_ - 1 - distance);
    }

  private:
    std::uint64_t number_;
    std::uint64_t position_ = 0;
};

struct form {
    std::uint64_t horizon;
    double rate;
    std::uint32_t cell_bits; // 0: the best
};

// The decrements that keep the rate, in cells for the horizon.
stable_bloom_parameters parameters_of(const form& of) {
    auto chosen = plain_stable_bloom::solve({.keys = of.horizon, .false_positive_rate = of.rate}).value();
    if (of.cell_bits == 0) return chosen;
    chosen.cell_bits = of.cell_bits;
    chosen.cells = chosen.cells / 512 * 512;
    chosen.k = of.cell_bits == 1 ? 3 : 4;
    chosen.decrements = static_cast<std::uint32_t>(
        math::stable_decrements(of.rate, chosen.cells, chosen.k, (1u << of.cell_bits) - 1).value());
    return chosen;
}

const form forms[] = {{1000, 0.1, 0}, {1000, 0.01, 0}, {1000, 0.01, 1}, {1000, 0.01, 2}};

// Adds after which nothing is left of what was there: every cell has been set or counted down to zero.
std::uint64_t memory_of(const plain_stable_bloom& f) {
    const double lost = f.false_negative_rate(std::uint64_t{1} << 60);
    std::uint64_t adds = 16;
    while (f.false_negative_rate(adds) < lost - 1e-6) adds += adds / 4;
    return adds;
}

TEST(stable_rates, zeros_settle_where_the_formula_says) {
    for (const auto& each : forms) {
        auto f = plain_stable_bloom::create(parameters_of(each)).value();
        SCOPED_TRACE(f.describe());
        stream keys(1);
        const std::uint64_t apart = memory_of(f);
        sample zeros;
        sample rate;
        for (std::uint64_t i = 0; i < 20 + scaled(200); ++i) {
            for (std::uint64_t add = 0; add < apart; ++add) f.add(keys.next());
            zeros.add(1 - f.fill_ratio());
            rate.add(f.expected_fpr());
        }
        const auto point = f.stable_point();
        EXPECT_TRUE(near_by_sigma(zeros.mean(), point.zero_fraction, zeros.standard_error()));
        // E[fill^k] is above (E fill)^k, by Jensen's inequality; the spread that was measured says by how much.
        const double fill = 1 - point.zero_fraction;
        const double k = f.params().k;
        const double jensen = k * (k - 1) / 2 * std::pow(fill, k - 2) * zeros.variance();
        EXPECT_TRUE(near_by_sigma(rate.mean(), point.fpr + jensen, rate.standard_error()));
        EXPECT_LT(jensen, 0.03 * point.fpr);
    }
}

TEST(stable_rates, false_positives_by_queries) {
    for (const form& each : {form{20'000, 0.1, 0}, form{20'000, 0.01, 0}, form{20'000, 0.001, 0}}) {
        auto f = plain_stable_bloom::create(parameters_of(each)).value();
        SCOPED_TRACE(f.describe());
        stream keys(2);
        stream absent(3);
        const std::uint64_t apart = memory_of(f);
        sample rate;
        for (std::uint64_t i = 0; i < 10 + scaled(20); ++i) {
            for (std::uint64_t add = 0; add < apart; ++add) f.add(keys.next());
            std::uint64_t hits = 0;
            const std::uint64_t queries = 200'000;
            for (std::uint64_t q = 0; q < queries; ++q) hits += f.may_contain(absent.next());
            rate.add(static_cast<double>(hits) / static_cast<double>(queries));
        }
        EXPECT_TRUE(near_by_sigma(rate.mean(), f.stable_point().fpr, rate.standard_error()));
        EXPECT_LE(f.stable_point().fpr, each.rate);
    }
}

// Small filters: the fill varies, and E[fill^k] is above (E fill)^k, which create() must leave room for. The rate of each state
// follows from its cells, so that 10^-6 needs no queries.
TEST(stable_rates, of_small_horizons_are_kept) {
    for (const std::uint64_t horizon : {2u, 5u, 30u, 100u})
        for (const double target : {1e-2, 1e-4, 1e-6}) {
            auto f = plain_stable_bloom::create(goal{.keys = horizon, .false_positive_rate = target}).value();
            SCOPED_TRACE(f.describe());
            stream keys(7);
            sample rate;
            const std::uint64_t apart = memory_of(f);
            for (std::uint64_t i = 0; i < 100 + divided(1'000'000) / apart; ++i) {
                for (std::uint64_t add = 0; add < apart; ++add) f.add(keys.next());
                rate.add(f.expected_fpr());
            }
            EXPECT_LE(rate.mean(), target + 5 * rate.standard_error()) << rate.mean() / target;
            EXPECT_GE(rate.mean(), 0.6 * target - 5 * rate.standard_error()) << rate.mean() / target;
        }
}

// Truncated decrements: over the target, by more than the measurement can blur.
TEST(stable_rates, decrements_must_be_rounded_up) {
    stable_bloom_parameters chosen{1 << 16, 3, 1, 0};
    const double target = 0.01;
    const auto least = math::stable_decrements(target, chosen.cells, chosen.k, 1).value();
    for (const std::uint64_t p : {least - 1, least}) {
        chosen.decrements = static_cast<std::uint32_t>(p);
        auto f = plain_stable_bloom::create(chosen).value();
        SCOPED_TRACE(f.describe());
        stream keys(4);
        sample rate;
        const std::uint64_t apart = memory_of(f);
        for (std::uint64_t i = 0; i < 20 + scaled(40); ++i) {
            for (std::uint64_t add = 0; add < apart; ++add) f.add(keys.next());
            rate.add(f.expected_fpr());
        }
        if (p == least)
            EXPECT_LT(rate.mean() - 5 * rate.standard_error(), target);
        else
            EXPECT_GT(rate.mean() - 5 * rate.standard_error(), target);
    }
}

// In filters so large that cells of one key hardly ever lie in one run; stream_math.h says what small ones do.
TEST(stable_rates, false_negatives_over_distance) {
    for (form each : forms) {
        each.horizon *= 5;
        auto f = plain_stable_bloom::create(parameters_of(each)).value();
        SCOPED_TRACE(f.describe());
        // Distances at which from 2 % to 95 % of what can be forgotten is.
        const double lost = f.false_negative_rate(std::uint64_t{1} << 60);
        std::vector<std::uint64_t> distances;
        std::uint64_t distance = 1;
        for (const double part : {0.02, 0.1, 0.3, 0.6, 0.95}) {
            while (f.false_negative_rate(distance) < part * lost) ++distance;
            distances.push_back(distance);
        }
        stream keys(5);
        const std::uint64_t apart = memory_of(f);
        for (std::uint64_t add = 0; add < 2 * apart; ++add) f.add(keys.next());
        std::vector<sample> missed(distances.size());
        for (std::uint64_t i = 0; i < 20 + scaled(20); ++i) {
            std::vector<std::uint64_t> misses(distances.size());
            const std::uint64_t trials = 2 * apart;
            for (std::uint64_t add = 0; add < trials; ++add) {
                f.add(keys.next());
                for (std::size_t d = 0; d < distances.size(); ++d)
                    misses[d] += !f.may_contain(keys.back(distances[d]));
            }
            for (std::size_t d = 0; d < distances.size(); ++d)
                missed[d].add(static_cast<double>(misses[d]) / static_cast<double>(trials));
        }
        for (std::size_t d = 0; d < distances.size(); ++d)
            EXPECT_TRUE(near_by_sigma(missed[d].mean(), f.false_negative_rate(distances[d]),
                                      missed[d].standard_error()))
                << "distance " << distances[d];
    }
}

// From empty: fpr_at() on the way up. A filter's runs follow from its counter alone, so the counter starts elsewhere in
// every trial.
TEST(stable_rates, fpr_at_on_the_way) {
    for (const auto& each : forms) {
        auto f = plain_stable_bloom::create(parameters_of(each)).value();
        SCOPED_TRACE(f.describe());
        stream keys(6);
        const std::vector<std::uint64_t> steps{10, 100, 300, 700, 1500, 4000};
        std::vector<sample> zeros(steps.size());
        std::vector<sample> rate(steps.size());
        for (std::uint64_t trial = 0; trial < 20 + scaled(60); ++trial) {
            f.clear();
            detail::storage_access::segments(f).front()[0] = trial << 32;
            std::uint64_t added = 0;
            for (std::size_t s = 0; s < steps.size(); ++s) {
                for (; added < steps[s]; ++added) f.add(keys.next());
                zeros[s].add(1 - f.fill_ratio());
                rate[s].add(f.expected_fpr());
            }
        }
        const auto& of = f.params();
        const std::uint32_t max = (1u << of.cell_bits) - 1;
        for (std::size_t s = 0; s < steps.size(); ++s) {
            const double zero = math::stable_zero_fraction_after(static_cast<double>(steps[s]), of.cells,
                                                                 of.k, max, of.decrements);
            EXPECT_TRUE(near_by_sigma(zeros[s].mean(), zero, zeros[s].standard_error())) << steps[s];
            const double k = of.k;
            const double jensen = k * (k - 1) / 2 * std::pow(1 - zero, k - 2) * zeros[s].variance();
            EXPECT_TRUE(near_by_sigma(rate[s].mean(), f.fpr_at(steps[s]) + jensen, rate[s].standard_error()))
                << steps[s];
        }
    }
}

} // namespace
} // namespace bouncer::test
