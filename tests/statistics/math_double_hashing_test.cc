// What double hashing adds to the rate of a flat filter: docs/math.md quotes these cases.
#include "bouncer/detail/bits.h"
#include "bouncer/math.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace bouncer::math {
namespace {

using bouncer::detail::fast_range;
using bouncer::detail::mix64;
using test::near_by_sigma;
using test::sample;
using test::scaled;

struct flat_case {
    std::uint32_t bits; // a prime
    std::uint32_t k;
    int keys;
};

// P(k different random bits are all set).
double of_fill(const std::vector<std::uint8_t>& bits, std::uint32_t k) {
    const auto set = static_cast<double>(std::count(bits.begin(), bits.end(), 1));
    double rate = 1;
    for (std::uint32_t i = 0; i < k; ++i) rate *= (set - i) / (static_cast<double>(bits.size()) - i);
    return rate;
}

// (h1 + i h2) mod m: all m starts of so many random strides, less what the fill alone gives.
sample excess_mod_prime(const flat_case& c, std::uint64_t filters, std::uint64_t strides) {
    std::uint64_t state = c.bits;
    const auto below = [&](std::uint32_t range) {
        return static_cast<std::uint32_t>(fast_range(mix64(state += 0x9e3779b97f4a7c15u), range));
    };
    sample excess;
    for (std::uint64_t f = 0; f < filters; ++f) {
        std::vector<std::uint8_t> bits(c.bits, 0);
        const auto next = [&](std::uint32_t at, std::uint32_t stride) {
            return at + stride >= c.bits ? at + stride - c.bits : at + stride;
        };
        for (int key = 0; key < c.keys; ++key) {
            std::uint32_t at = below(c.bits);
            const std::uint32_t stride = 1 + below(c.bits - 1);
            for (std::uint32_t i = 0; i < c.k; ++i, at = next(at, stride)) bits[at] = 1;
        }
        const double plain = of_fill(bits, c.k);
        for (std::uint64_t s = 0; s < strides; ++s) {
            const std::uint32_t stride = 1 + below(c.bits - 1);
            std::uint32_t hits = 0;
            for (std::uint32_t start = 0; start < c.bits; ++start) {
                std::uint32_t at = start;
                std::uint32_t i = 0;
                for (; i < c.k && bits[at] != 0; ++i) at = next(at, stride);
                hits += i == c.k;
            }
            excess.add(hits / static_cast<double>(c.bits) - plain);
        }
    }
    return excess;
}

// P(at least 3 of `count` bits were still to be set), each clear with probability 1 - fill.
double three_or_more(unsigned count, double fill) {
    const double clear = 1 - fill;
    const double n = count;
    const double none = std::pow(fill, n);
    const double one = n * std::pow(fill, n - 1) * clear;
    const double two = n * (n - 1) / 2 * std::pow(fill, n - 2) * clear * clear;
    return std::max(0.0, 1 - none - one - two);
}

// What plain double hashing (positions h1 + i h2 mod m, h2 never 0, m prime) adds to the rate of a flat filter.
// A stored key and a query are two arithmetic progressions mod m; where they meet is a line in the k x k grid
// of (index in one, index in the other), and each line has a chance of 1/(m (m-1)). Two common positions are as
// frequent as with independent hashing (progressions are pairwise independent); three and more are not.
double double_hashing_excess(double bits, unsigned k, double keys) {
    if (!(keys > 0) || !(bits > 1)) return 0;
    const int n = static_cast<int>(std::min(k, 1024u));
    const double fill = -std::expm1(n * std::max(0.0, keys - 1) * std::log1p(-1 / bits));

    // Lines of slope (p, q) through exactly c grid points: windows(c) counts runs of c, inside longer lines too.
    double sum = 0;
    for (int p = 1; 2 * p < n; ++p) {
        for (int q = p; 2 * q < n; ++q) {
            if (std::gcd(p, q) != 1) continue;
            const auto windows = [&](int c) {
                return static_cast<double>(std::max(0, n - (c - 1) * p)) * std::max(0, n - (c - 1) * q);
            };
            double lines_of_slope = 0;
            for (int c = 3; (c - 1) * q < n; ++c) {
                const double lines = windows(c) - 2 * windows(c + 1) + windows(c + 2);
                if (lines > 0)
                    lines_of_slope +=
                        lines * std::pow(fill, n - c) * three_or_more(static_cast<unsigned>(c), fill);
            }
            // Slopes (p, q), (p, -q) and, mirrored, (q, p), (q, -p).
            sum += (p == q ? 2 : 4) * lines_of_slope;
        }
    }
    return std::min(sum * keys / (bits * (bits - 1)), 1 - std::pow(fill, n));
}

TEST(math_double_hashing, excess_of_small_filters) {
    for (const flat_case& c : {flat_case{1439, 10, 100}, flat_case{1931, 13, 100}}) {
        const sample excess = excess_mod_prime(c, std::max<std::uint64_t>(16, scaled(200)), 400);
        EXPECT_TRUE(near_by_sigma(excess.mean(), double_hashing_excess(c.bits, c.k, c.keys),
                                  excess.standard_error()));
    }
}

// 1000 keys at 1e-4 and at 1e-5: 1.18 and 2.13 times the rate of independent hashes.
TEST(math_double_hashing, excess_of_a_thousand_keys) {
    const flat_case cases[] = {{19181, 13, 1000}, {23971, 17, 1000}};
    const double ratios[] = {1.178, 2.13};
    for (int i = 0; i < 2; ++i) {
        const flat_case& c = cases[i];
        const double expected = double_hashing_excess(c.bits, c.k, c.keys);
        const double plain = fpr({.sector_bits = c.bits, .bits_per_group = c.k}, c.keys);
        EXPECT_NEAR(1 + expected / plain, ratios[i], 0.005);
        const sample excess = excess_mod_prime(c, std::max<std::uint64_t>(16, scaled(40)), scaled(250));
        EXPECT_TRUE(near_by_sigma(excess.mean(), expected, excess.standard_error()));
    }
}

// Sums of 64 bits, each reduced to a position. How, and what is added to the step on the way:
enum class sums { modulo, modulo_plus_index, high, high_plus_index, high_plus_third_hash };

sample excess_of_sums(sums kind, const flat_case& c, std::uint64_t filters, std::uint64_t queries) {
    const bool modulo = kind == sums::modulo || kind == sums::modulo_plus_index;
    const bool index = kind == sums::modulo_plus_index || kind == sums::high_plus_index;
    std::uint64_t state = 1000 + static_cast<std::uint64_t>(kind);
    const auto random = [&] { return mix64(state += 0x9e3779b97f4a7c15u); };
    std::vector<std::uint8_t> bits;
    const auto visit = [&](auto touch) {
        std::uint64_t x = random();
        std::uint64_t b = random();
        const std::uint64_t third = random();
        for (std::uint32_t i = 0; i < c.k; ++i) {
            if (!touch(bits[modulo ? x % c.bits : fast_range(x, c.bits)])) return false;
            x += b;
            if (index) b += i;
            if (kind == sums::high_plus_third_hash) b += third;
        }
        return true;
    };
    sample excess;
    for (std::uint64_t f = 0; f < filters; ++f) {
        bits.assign(c.bits, 0);
        for (int key = 0; key < c.keys; ++key) visit([](std::uint8_t& bit) { return bit = 1, true; });
        const double fill =
            static_cast<double>(std::count(bits.begin(), bits.end(), 1)) / static_cast<double>(c.bits);
        std::uint64_t hits = 0;
        for (std::uint64_t q = 0; q < queries; ++q) hits += visit([](std::uint8_t& bit) { return bit != 0; });
        excess.add(static_cast<double>(hits) / static_cast<double>(queries) - std::pow(fill, c.k));
    }
    return excess;
}

TEST(math_double_hashing, only_a_third_hash_cures_multiply_high) {
    const flat_case c{1931, 13, 100};
    const std::uint64_t filters = std::max<std::uint64_t>(16, scaled(300));
    // An index is invisible in the high bits of a sum.
    for (const sums kind : {sums::modulo, sums::high, sums::high_plus_index}) {
        const sample excess = excess_of_sums(kind, c, filters, 50'000);
        EXPECT_GT(excess.mean(), 5 * excess.standard_error()) << static_cast<int>(kind);
    }
    const sample third = excess_of_sums(sums::high_plus_third_hash, c, filters, 50'000);
    EXPECT_TRUE(near_by_sigma(third.mean(), 0, third.standard_error()));
    // Under modulo an index helps, though less than a hash.
    const double plain = excess_of_sums(sums::modulo, c, filters, 50'000).mean();
    const sample index = excess_of_sums(sums::modulo_plus_index, c, filters, 50'000);
    EXPECT_LT(index.mean() + 5 * index.standard_error(), plain);
}

// Two keys with all k positions in common: 4.01 / (m k)^3 for k = 7 by the integral in docs/math.md.
TEST(math_double_hashing, chance_that_two_keys_share_all_positions) {
    constexpr std::uint64_t m = 20;
    constexpr int k = 7;
    std::uint64_t state = 77;
    const auto random = [&] { return mix64(state += 0x9e3779b97f4a7c15u); };
    const std::uint64_t pairs = scaled(60'000'000);
    std::uint64_t same = 0;
    for (std::uint64_t p = 0; p < pairs; ++p) {
        std::uint64_t x = random(), y = random();
        if (fast_range(x, m) != fast_range(y, m)) continue;
        std::uint64_t b = random(), c = random(), d = random(), e = random();
        int i = 0;
        for (; i < k && fast_range(x, m) == fast_range(y, m); ++i) {
            x += b;
            b += c;
            y += d;
            d += e;
        }
        same += i == k;
    }
    EXPECT_TRUE(test::within_sigma(static_cast<double>(same), static_cast<double>(pairs),
                                   4.011 / std::pow(static_cast<double>(m * k), 3)));
}

} // namespace
} // namespace bouncer::math
