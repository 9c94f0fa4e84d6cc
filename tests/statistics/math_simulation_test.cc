// The formulas of docs/math.md against brute force: random filters, random queries.
#include "bouncer/detail/bits.h"
#include "bouncer/math.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace bouncer::math {
namespace {

using test::near_by_sigma;
using test::sample;
using test::scaled;

class random_source { // SplitMix64
  public:
    explicit random_source(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() { return bouncer::detail::mix64(state_ += 0x9e3779b97f4a7c15u); }
    std::uint64_t below(std::uint64_t range) { return bouncer::detail::fast_range((*this)(), range); }

  private:
    std::uint64_t state_;
};

// A filter of any geometry, one byte per bit; every throw is a fresh random number.
class toy_filter {
  public:
    toy_filter(const geometry& shape, random_source& random)
        : shape_(shape), random_(random), bits_(shape.total_bits(), 0) {}

    void add() {
        visit([](std::uint8_t& bit) { return bit = 1, true; });
    }
    bool query() {
        return visit([](std::uint8_t& bit) { return bit != 0; });
    }
    double fill() const {
        return static_cast<double>(std::count(bits_.begin(), bits_.end(), 1)) /
               static_cast<double>(bits_.size());
    }
    // The FPR of this very filter: a query's bits are independent once the filter stands.
    double rate() const {
        double sum = 0;
        auto bit = bits_.begin();
        for (std::uint64_t block = 0; block < shape_.blocks; ++block) {
            double all = 1;
            for (std::uint32_t group = 0; group < shape_.groups; ++group) {
                double one = 0;
                for (std::uint32_t sector = 0; sector < shape_.sectors; ++sector) {
                    const auto end = bit + static_cast<std::ptrdiff_t>(shape_.sector_bits);
                    const auto set = static_cast<double>(std::count(bit, end, 1));
                    one += std::pow(set / static_cast<double>(shape_.sector_bits), shape_.bits_per_group);
                    bit = end;
                }
                all *= one / shape_.sectors;
            }
            sum += all;
        }
        return sum / static_cast<double>(shape_.blocks);
    }

  private:
    template <class Touch>
    bool visit(Touch touch) {
        const std::uint64_t block = random_.below(shape_.blocks);
        for (std::uint32_t group = 0; group < shape_.groups; ++group) {
            const std::uint64_t sector =
                (block * shape_.groups + group) * shape_.sectors + random_.below(shape_.sectors);
            for (std::uint32_t bit = 0; bit < shape_.bits_per_group; ++bit)
                if (!touch(bits_[sector * shape_.sector_bits + random_.below(shape_.sector_bits)]))
                    return false;
        }
        return true;
    }

    geometry shape_;
    random_source& random_;
    std::vector<std::uint8_t> bits_;
};

struct toy {
    const char* name;
    geometry shape;
    int keys;
};

const toy toys[] = {
    {"flat, 20 bits", {.sector_bits = 20, .bits_per_group = 3}, 4},
    {"flat, 97 bits", {.sector_bits = 97, .bits_per_group = 7}, 10},
    {"flat, 700 bits", {.sector_bits = 700, .bits_per_group = 5}, 90},
    {"flat, 5000 bits, by moments", {.sector_bits = 5000, .bits_per_group = 4}, 800},
    {"partitioned", {.groups = 5, .sector_bits = 101}, 70},
    {"8 x 64, few blocks", {.blocks = 3, .groups = 8, .sector_bits = 64}, 130},
    {"8 x 64, 2 bits", {.blocks = 7, .groups = 8, .sector_bits = 64, .bits_per_group = 2}, 280},
    {"16 x 64", {.blocks = 4, .groups = 16, .sector_bits = 64}, 360},
    {"8 x 32", {.blocks = 12, .groups = 8, .sector_bits = 32}, 270},
    {"line, any k", {.blocks = 5, .sector_bits = 512, .bits_per_group = 6}, 250},
    {"128-bit block", {.blocks = 20, .sector_bits = 128, .bits_per_group = 6}, 250},
    {"register", {.blocks = 40, .sector_bits = 64, .bits_per_group = 5}, 250},
    {"cache-sectorised",
     {.blocks = 6, .groups = 4, .sectors = 2, .sector_bits = 64, .bits_per_group = 2},
     300},
    {"odd numbers", {.blocks = 3, .groups = 2, .sectors = 3, .sector_bits = 50, .bits_per_group = 3}, 60},
    {"large blocks, by moments", {.blocks = 2, .sector_bits = 3000, .bits_per_group = 5}, 800},
};

std::uint64_t filters(std::uint64_t n) {
    return std::max<std::uint64_t>(16, scaled(n));
}

// Nothing but throws: filters, queries, hits.
TEST(math_simulation, rate_by_queries) {
    random_source random(1);
    for (const toy& t : toys) {
        SCOPED_TRACE(t.name);
        sample rates;
        for (std::uint64_t f = 0; f < filters(1000); ++f) {
            toy_filter filter(t.shape, random);
            for (int i = 0; i < t.keys; ++i) filter.add();
            int hits = 0;
            for (int i = 0; i < 1000; ++i) hits += filter.query();
            rates.add(hits / 1000.0);
        }
        EXPECT_TRUE(near_by_sigma(rates.mean(), fpr(t.shape, t.keys), rates.standard_error()));
    }
}

// Without the noise of queries, so low rates can be seen: all the keys, half, a fifth. Low rates are skewed
// between filters, so there are at least 500.
TEST(math_simulation, rate_by_fill) {
    random_source random(2);
    for (const toy& t : toys) {
        for (const int part : {1, 2, 5}) {
            const int keys = std::max(1, t.keys / part);
            SCOPED_TRACE(std::string(t.name) + ", " + std::to_string(keys) + " keys");
            sample rates;
            for (std::uint64_t f = 0; f < std::max<std::uint64_t>(500, scaled(2000)); ++f) {
                toy_filter filter(t.shape, random);
                for (int i = 0; i < keys; ++i) filter.add();
                rates.add(filter.rate());
            }
            // One key in a partitioned filter leaves no spread at all; the sum is then exact.
            const double expected = fpr(t.shape, keys);
            EXPECT_TRUE(near_by_sigma(rates.mean(), expected, rates.standard_error() + expected * 1e-12));
        }
    }
}

// The independence that the textbook form assumes is off by more than 5 sigma below 100 bits.
TEST(math_simulation, the_textbook_form_fails_for_small_filters) {
    random_source random(3);
    const geometry shape{.sector_bits = 64, .bits_per_group = 8};
    sample rates;
    for (int f = 0; f < 20'000; ++f) { // cheap enough not to scale
        toy_filter filter(shape, random);
        for (int i = 0; i < 5; ++i) filter.add();
        rates.add(filter.rate());
    }
    EXPECT_TRUE(near_by_sigma(rates.mean(), fpr(shape, 5), rates.standard_error()));
    const double textbook = std::pow(expected_fill(shape, 5), 8);
    EXPECT_GT(rates.mean() - textbook, 5 * rates.standard_error());
}

TEST(math_simulation, mean_and_variance_of_the_fill) {
    random_source random(4);
    for (const toy& t : toys) {
        SCOPED_TRACE(t.name);
        sample fills;
        for (std::uint64_t f = 0; f < filters(4000); ++f) {
            toy_filter filter(t.shape, random);
            for (int i = 0; i < t.keys; ++i) filter.add();
            fills.add(filter.fill());
        }
        const double variance = fill_variance(t.shape, t.keys);
        EXPECT_TRUE(
            near_by_sigma(fills.mean(), expected_fill(t.shape, t.keys), std::sqrt(variance / fills.count())));
        // A sample variance of nearly normal values has a relative error of sqrt(2 / count).
        EXPECT_TRUE(near_by_sigma(fills.variance(), variance, variance * std::sqrt(2 / (fills.count() - 1))));
    }
}

// The estimate from one filter's zero bits: its bias over many filters is below 0.5 %.
TEST(math_simulation, cardinality) {
    random_source random(5);
    for (const toy& t : toys) {
        if (t.shape.total_bits() < 500) continue; // bias grows as 1 / bits
        SCOPED_TRACE(t.name);
        sample estimates;
        for (std::uint64_t f = 0; f < filters(2000); ++f) {
            toy_filter filter(t.shape, random);
            for (int i = 0; i < t.keys; ++i) filter.add();
            estimates.add(keys_for_zero_fraction(t.shape, 1 - filter.fill()));
        }
        EXPECT_NEAR(estimates.mean(), t.keys, 0.005 * t.keys + 5 * estimates.standard_error());
    }
}

} // namespace
} // namespace bouncer::math
