// The exact rates against known values, against each other, and at the edges.
#include "bouncer/math.h"

#include "math/binomial.h"
#include "math/occupancy.h"
#include "math/rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace bouncer::math {
namespace {

constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;

constexpr geometry flat(std::uint64_t bits, std::uint32_t k) {
    return {.sector_bits = bits, .bits_per_group = k};
}

// The textbook forms of flat filters, without the collision of hashes: docs/math.md.
double asymptotic_fpr(double bits, unsigned k, double keys) {
    return std::pow(-std::expm1(-(k * keys) / bits), k);
}
double classic_fpr(double bits, unsigned k, double keys) {
    return std::pow(-std::expm1(k * keys * std::log1p(-1 / bits)), k);
}

// Exact to 1e-16 for k up to 12, beyond which the terms of the alternating sum grow too large: the sum over d of P(k throws
// of the query hit d different bits) * P(d given bits are all set), the second by inclusion and exclusion over which of the
// d are missed.
double inclusion_exclusion_fpr(double bits, unsigned k, double keys) {
    const long double m = bits;
    const long double throws = static_cast<long double>(k) * keys;

    std::array<long double, 13> different{}; // P(d different bits) after some throws
    different[0] = 1;
    for (unsigned t = 0; t < k; ++t) {
        for (unsigned d = k; d != 0; --d)
            different[d] = different[d] * d / m + different[d - 1] * std::max(0.0L, m - d + 1) / m;
        different[0] = 0;
    }

    long double sum = 0;
    for (unsigned d = 1; d <= k && d <= m; ++d) {
        long double all_set = 0;
        long double choose = 1;
        for (unsigned missed = 0; missed <= d; ++missed) {
            const long double term =
                missed < m ? choose * std::exp(throws * std::log1p(-static_cast<long double>(missed) / m))
                           : 0;
            all_set += missed % 2 == 0 ? term : -term;
            choose = choose * (d - missed) / (missed + 1);
        }
        sum += different[d] * all_set;
    }
    return static_cast<double>(std::clamp(sum, 0.0L, 1.0L));
}

struct layout {
    const char* name;
    geometry shape; // bits_per_group is what is searched
    growth what;
    std::uint32_t from, to;         // the search over bits_per_group
    double bits[3];                 // per key, at 1 %, 0.1 % and 0.01 %
    std::uint64_t k[3] = {0, 0, 0}; // 0: not told
};

std::vector<geometry> candidates(const layout& l) {
    std::vector<geometry> shapes;
    for (std::uint32_t q = l.from; q <= l.to; ++q) {
        shapes.push_back(l.shape);
        shapes.back().bits_per_group = q;
    }
    return shapes;
}

// The table of bits per key that docs/math.md prints.
TEST(math, table_of_bits_per_key) {
    const layout table[] = {
        {"flat", {}, growth::sector_bits, 1, 32, {9.59, 14.38, 19.17}, {7, 10, 13}},
        {"512-bit block, any k",
         {.sector_bits = 512},
         growth::blocks,
         1,
         24,
         {9.92, 15.55, 22.03},
         {6, 9, 12}},
        {"8 x 64", {.groups = 8, .sector_bits = 64}, growth::blocks, 1, 1, {10.10, 15.72, 23.61}},
        {"8 x 64, 2 bits", {.groups = 8, .sector_bits = 64}, growth::blocks, 2, 2, {12.40, 17.15, 22.88}},
        {"8 x 32", {.groups = 8, .sector_bits = 32}, growth::blocks, 1, 1, {10.53, 16.89, 26.34}},
        {"16 x 64", {.groups = 16, .sector_bits = 64}, growth::blocks, 1, 1, {12.00, 16.24, 21.15}},
        {"2 x (4 x 64)",
         {.groups = 2, .sectors = 4, .sector_bits = 64},
         growth::blocks,
         1,
         8,
         {10.27, 17.04, 25.99},
         {6, 8, 10}},
        {"4 x (2 x 64)",
         {.groups = 4, .sectors = 2, .sector_bits = 64},
         growth::blocks,
         1,
         6,
         {10.11, 15.82, 22.56},
         {8, 8, 12}},
        {"128-bit block", {.sector_bits = 128}, growth::blocks, 1, 24, {10.85, 19.01, 30.94}, {6, 8, 10}},
        {"64-bit register", {.sector_bits = 64}, growth::blocks, 1, 24, {12.14, 24.00, 45.48}, {5, 7, 9}},
    };
    constexpr std::uint64_t keys = 1'000'000'000;
    for (const layout& l : table) {
        for (int i = 0; i < 3; ++i) {
            const double rate = std::pow(10.0, -2 - i);
            SCOPED_TRACE(std::string(l.name) + " at " + std::to_string(rate));
            std::optional<geometry> best;
            for (const geometry& shape : candidates(l)) {
                const auto sized = smallest(shape, l.what, 1, keys, rate, no_limit);
                ASSERT_TRUE(sized);
                if (!best || sized->total_bits() < best->total_bits()) best = sized;
            }
            EXPECT_NEAR(static_cast<double>(best->total_bits()) / keys, l.bits[i], 0.0051);
            if (l.k[i] != 0) {
                EXPECT_EQ(best->k(), l.k[i]);
            }
        }
    }
}

// Where the shortcuts in use elsewhere say 0.0081 % and 0.977 %.
TEST(math, where_published_shortcuts_err) {
    constexpr double keys = 1e8;
    const geometry line{
        .blocks = static_cast<std::uint64_t>(keys * 22 / 512), .sector_bits = 512, .bits_per_group = 12};
    EXPECT_NEAR(fpr(line, keys), 0.000101, 0.0000005);
    const geometry word{
        .blocks = static_cast<std::uint64_t>(keys * 12 / 64), .sector_bits = 64, .bits_per_group = 6};
    EXPECT_NEAR(fpr(word, keys), 0.01042, 0.000005);
}

// By hand: one key of 2 bits in 2 bits sets 1 (half the time) or 2; the query hits with 1/4 or 1.
TEST(math, tiny_filters_by_hand) {
    EXPECT_NEAR(fpr(flat(2, 2), 1), 0.5 * 0.25 + 0.5, 1e-15);
    EXPECT_NEAR(fpr(flat(10, 1), 1), 0.1, 1e-15);
    EXPECT_NEAR(fpr({.blocks = 4, .sector_bits = 10}, 1), 0.025, 1e-15);
    EXPECT_NEAR(fpr({.groups = 3, .sector_bits = 10}, 1), 0.001, 1e-15);
    EXPECT_NEAR(fpr({.sectors = 5, .sector_bits = 10}, 1), 0.02, 1e-15);
    // Two keys, two blocks: both in the query's block with 1/4, one with 1/2.
    EXPECT_NEAR(fpr({.blocks = 2, .sector_bits = 10}, 2), 0.25 * 0.19 + 0.5 * 0.1, 1e-15);
    EXPECT_DOUBLE_EQ(fpr(flat(1, 3), 1), 1);
}

TEST(math, partitioned_is_its_closed_form) {
    const geometry shape{.groups = 7, .sector_bits = 1370};
    EXPECT_NEAR(fpr(shape, 1000), std::pow(1 - std::pow(1 - 1 / 1370.0, 1000), 7), 1e-14);
}

// The load of a block is nearly Poisson when there are many blocks; summed here by factorials.
TEST(math, blocks_against_a_poisson_sum) {
    constexpr double load = 40;
    const geometry shape{.blocks = 100'000'000, .groups = 8, .sector_bits = 64};
    double sum = 0;
    for (int i = 0; i < 200; ++i)
        sum += std::exp(i * std::log(load) - load - std::lgamma(i + 1.0)) *
               std::pow(1 - std::pow(63 / 64.0, i), 8);
    const double exact = fpr(shape, load * 1e8);
    EXPECT_NEAR(exact / sum, 1, 1e-6);
}

TEST(math, inclusion_exclusion_agrees_with_the_chain_and_the_moments) {
    for (const std::uint64_t bits : {50u, 300u, 1000u, 1100u, 4096u, 100'000u, 10'000'000u}) {
        for (std::uint32_t k = 1; k <= 12; ++k) {
            for (const double bits_per_key : {2.0, 5.0, 9.6, 15.0}) {
                const double keys = std::round(static_cast<double>(bits) / bits_per_key);
                const double exact = inclusion_exclusion_fpr(static_cast<double>(bits), k, keys);
                EXPECT_NEAR(fpr(flat(bits, k), keys), exact, exact * 1e-7 + 1e-12)
                    << bits << " bits, k " << k << ", " << keys << " keys";
            }
        }
    }
}

// Beyond 1024 bits and throws the chain gives way to three cumulants: their error.
TEST(math, moments_agree_with_the_chain_beyond_1024_bits) {
    for (const std::uint64_t bits : {1100u, 2048u, 4096u}) {
        std::vector<double> probability(bits + 1, 0.0);
        probability[0] = 1;
        std::uint64_t thrown = 0;
        for (const double load : {0.3, 0.7, 1.5, 4.0}) {
            const auto throws = static_cast<std::uint64_t>(load * static_cast<double>(bits));
            for (; thrown < throws; ++thrown) {
                for (std::uint64_t x = bits; x != 0; --x)
                    probability[x] = (probability[x] * static_cast<double>(x) +
                                      probability[x - 1] * static_cast<double>(bits - x + 1)) /
                                     static_cast<double>(bits);
                probability[0] = 0;
            }
            if (throws <= 1024) continue;
            for (const std::uint32_t q : {2u, 3u, 7u, 13u, 20u, 32u}) {
                double exact = 0;
                for (std::uint64_t x = 1; x <= bits; ++x)
                    exact += probability[x] * std::pow(static_cast<double>(x) / static_cast<double>(bits), q);
                const double moment =
                    detail::moment_from_cumulants(static_cast<double>(bits), q, static_cast<double>(throws));
                const double bound = q <= 13 ? 1e-7 : 1e-5;
                EXPECT_NEAR(moment / exact, 1, bound) << bits << " bits, " << throws << " throws, q " << q;
            }
        }
    }
}

// A wide binomial is sampled, a narrow one summed: both must give the moments of the distribution.
TEST(math, binomial_means_of_any_width) {
    for (const double n : {1.0, 7.0, 1000.0, 20'000.0, 60'000.0, 1e6, 1e9, 1e13}) {
        for (const double p : {1e-9, 0.01, 0.5}) {
            const double scale = 1 / (10 * n * p + 10); // keeps the functions within [0, 1]
            const double mean = detail::binomial_mean(n, p, [&](double i) { return i * scale; }) / scale;
            const double square =
                detail::binomial_mean(n, p, [&](double i) { return i * i * scale * scale; });
            EXPECT_NEAR(mean, n * p, 1e-11 * n * p) << n << " " << p;
            const double second = (n * p * (1 - p) + n * n * p * p) * scale * scale;
            EXPECT_NEAR(square, second, 1e-11 * second) << n << " " << p;
        }
    }
}

TEST(math, closed_forms) {
    EXPECT_NEAR(asymptotic_fpr(9585, 7, 1000), 0.0100, 0.0001);
    EXPECT_LT(asymptotic_fpr(100, 7, 10), classic_fpr(100, 7, 10));
    EXPECT_LT(classic_fpr(100, 7, 10), fpr(flat(100, 7), 10)); // both promise too much for a small filter
    EXPECT_NEAR(asymptotic_fpr(1e12, 7, 1e11) / classic_fpr(1e12, 7, 1e11), 1, 1e-9);
    EXPECT_NEAR(lower_bound_bits_per_key(1 / 256.0), 8, 1e-12);
    EXPECT_EQ(lower_bound_bits_per_key(1), 0);
    EXPECT_NEAR(hash_collision_rate(1e10), 1e10 / 18446744073709551616.0, 1e-18);
    EXPECT_NEAR(hash_collision_rate(4294967296.0, 32), 1 - std::exp(-1.0), 1e-12);
}

// What docs/math.md prints on small filters and on overfill, in percent.
TEST(math, numbers_of_the_page) {
    struct small {
        double bits, keys;
        std::uint32_t k;
        double asymptotic, classic, exact;
    };
    for (const small& row :
         {small{64, 5, 8, 0.218, 0.228, 0.260}, small{200, 20, 7, 0.819, 0.829, 0.856},
          small{1000, 100, 7, 0.819, 0.821, 0.827}, small{10'000, 1000, 7, 0.819, 0.820, 0.820}}) {
        EXPECT_NEAR(100 * asymptotic_fpr(row.bits, row.k, row.keys), row.asymptotic, 0.00051);
        EXPECT_NEAR(100 * classic_fpr(row.bits, row.k, row.keys), row.classic, 0.00051);
        EXPECT_NEAR(100 * fpr(flat(static_cast<std::uint64_t>(row.bits), row.k), row.keys), row.exact,
                    0.00051);
    }
    const double keys[] = {500'000, 1'000'000, 1'500'000, 2'000'000, 3'000'000};
    const auto curve_of = [&](const geometry& shape, growth what) {
        const geometry sized = *smallest(shape, what, 1, 1'000'000, 0.01, no_limit);
        std::vector<double> curve;
        for (const double n : keys) curve.push_back(fpr(sized, n));
        return curve;
    };
    const auto line = curve_of({.groups = 8, .sector_bits = 64}, growth::blocks);
    const auto any_k = curve_of({.sector_bits = 512, .bits_per_group = 6}, growth::blocks);
    const auto plain = curve_of({.bits_per_group = 7}, growth::sector_bits);
    const double line_percent[] = {0.0245, 1.00, 6.00, 16.7, 46.3};
    const double any_k_percent[] = {0.0457, 1.00, 4.78, 12.3, 34.6};
    const double plain_percent[] = {0.0250, 1.00, 5.77, 15.7, 43.5};
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(100 * line[i] / line_percent[i], 1, 0.005);
        EXPECT_NEAR(100 * any_k[i] / any_k_percent[i], 1, 0.005);
        EXPECT_NEAR(100 * plain[i] / plain_percent[i], 1, 0.005);
    }
}

// At 1e-9 and 1e12 keys a 64-bit hash alone costs 5.4e-8: no size can meet that.
TEST(math, hash_collisions_bound_what_can_be_met) {
    const geometry shape{.groups = 16, .sector_bits = 64};
    EXPECT_FALSE(smallest(shape, growth::blocks, 1, 1'000'000'000'000, 1e-9, no_limit));
    EXPECT_TRUE(smallest(shape, growth::blocks, 1, 1'000'000'000'000, 1e-6, no_limit));
    EXPECT_GT(fpr({.blocks = 1u << 30, .groups = 16, .sector_bits = 1u << 20}, 1e9), 5.4e-11);
}

// A key sets one of two bits with a probability that rounds to 1, and still counts.
TEST(math, a_tiny_filter_with_a_bit_left_holds_more_than_no_key) {
    EXPECT_GT(keys_for_zero_fraction({.sector_bits = 2, .bits_per_group = 64}, 0.5), 0);
    EXPECT_EQ(keys_for_zero_fraction({.sector_bits = 2, .bits_per_group = 64}, 1), 0);
}

TEST(math, the_overfill_curve_rises_from_0_to_1) {
    const geometry shapes[] = {
        flat(500, 6),
        flat(100'000, 7),
        {.blocks = 1000, .groups = 8, .sector_bits = 64},
        {.blocks = 1000, .sector_bits = 512, .bits_per_group = 6},
        {.blocks = 100, .groups = 4, .sectors = 2, .sector_bits = 64, .bits_per_group = 2},
        {.blocks = 16, .sector_bits = 1'000'000, .bits_per_group = 7},
        {.groups = 4, .sectors = 3, .sector_bits = 1'000'000, .bits_per_group = 2}};
    for (const geometry& shape : shapes) {
        std::vector<double> keys{0};
        for (double n = 1; n < 1e14; n = std::ceil(n * 1.1)) keys.push_back(n);
        detail::rate_of rate(shape); // keeps its table from one number of keys to the next
        std::vector<double> curve;
        for (const double n : keys) curve.push_back(rate(static_cast<double>(shape.blocks), n));
        EXPECT_EQ(curve.front(), 0);
        EXPECT_NEAR(curve.back(), 1, 1e-12);
        for (std::size_t i = 1; i < curve.size(); ++i) {
            ASSERT_GE(curve[i], curve[i - 1] * (1 - 1e-9)) << keys[i] << " keys";
            ASSERT_LE(curve[i], 1);
        }
        EXPECT_DOUBLE_EQ(curve[30], fpr(shape, keys[30]));
    }
}

// Rates far below what a simulation can see, where only the few-key terms count.
TEST(math, low_rates) {
    // 1 key in 2^20 blocks of 8 x 64: the block is hit with 2^-20, its 8 bits with 64^-8; the hash with 2^-64.
    EXPECT_NEAR(fpr({.blocks = 1u << 20, .groups = 8, .sector_bits = 64}, 1) * std::ldexp(1.0, 68), 1 + 16,
                1e-9);
    const geometry big{.blocks = std::uint64_t{1} << 31, .groups = 8, .sector_bits = 64}; // 2^40 bits
    for (const double keys : {1e6, 1e8, 1e9}) {
        const double load = keys / std::ldexp(1.0, 31);
        double sum = 0;
        for (int i = 1; i < 80; ++i)
            sum += std::exp(i * std::log(load) - load - std::lgamma(i + 1.0)) *
                   std::pow(1 - std::pow(63 / 64.0, i), 8);
        const double expected = sum + hash_collision_rate(keys);
        EXPECT_NEAR(fpr(big, keys) / expected, 1, 1e-7) << keys;
    }
    // 64 flat bits per key and k = 44: near 1e-13, by the asymptotic form, which is right at that size.
    EXPECT_NEAR(fpr(flat(64'000'000, 44), 1e6) / (asymptotic_fpr(64e6, 44, 1e6) + hash_collision_rate(1e6)),
                1, 1e-4);
}

TEST(math, edges_give_numbers) {
    const geometry shapes[] = {flat(1, 1),
                               flat(64, 1'000'000),
                               flat(std::uint64_t{1} << 40, 7),
                               flat(std::uint64_t{1} << 62, 4'000'000'000),
                               {.blocks = std::uint64_t{1} << 60, .sector_bits = 512, .bits_per_group = 6},
                               {.blocks = 3, .sector_bits = 1u << 30, .bits_per_group = 6},
                               {.blocks = 3, .groups = 2, .sectors = 1'000'000, .sector_bits = 1u << 30},
                               flat(0, 3),
                               {.blocks = 0, .sector_bits = 64}};
    for (const geometry& shape : shapes) {
        EXPECT_EQ(fpr(shape, 0), 0);
        EXPECT_EQ(fpr(shape, -1), 0);
        EXPECT_EQ(expected_fill(shape, 0), 0);
        for (const double keys : {1.0, 1e3, 1e12, 1e18, 1e40, 1e300}) {
            for (const double value :
                 {fpr(shape, keys), expected_fill(shape, keys), fill_variance(shape, keys)}) {
                ASSERT_GE(value, 0) << shape.sector_bits << " bits, " << keys << " keys";
                ASSERT_LE(value, 1) << shape.sector_bits << " bits, " << keys << " keys";
            }
        }
        EXPECT_EQ(fpr(shape, 1e300), 1);
    }
}

} // namespace
} // namespace bouncer::math
