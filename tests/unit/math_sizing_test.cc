// Sizing: tight, the inverse of the rate, and the best k.
#include "bouncer/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace bouncer::math {
namespace {

constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;

struct question {
    geometry shape;
    growth what;
    std::uint64_t granule;
};

const question questions[] = {
    {{.bits_per_group = 7}, growth::sector_bits, 1},
    {{.bits_per_group = 7}, growth::sector_bits, 64},
    {{.bits_per_group = 20}, growth::sector_bits, 512},
    {{.groups = 10}, growth::sector_bits, 64},
    {{.groups = 8, .sector_bits = 64}, growth::blocks, 1},
    {{.groups = 8, .sector_bits = 64, .bits_per_group = 2}, growth::blocks, 1},
    {{.groups = 8, .sector_bits = 32}, growth::blocks, 2},
    {{.groups = 16, .sector_bits = 64}, growth::blocks, 1},
    {{.sector_bits = 512, .bits_per_group = 9}, growth::blocks, 1},
    {{.groups = 4, .sectors = 2, .sector_bits = 64, .bits_per_group = 2}, growth::blocks, 1},
    {{.sector_bits = 64, .bits_per_group = 5}, growth::blocks, 8},
};

TEST(math_sizing, smallest_is_tight) {
    for (const question& q : questions) {
        for (const std::uint64_t keys : {1ull, 3ull, 50ull, 1000ull, 1'000'000ull, 1'000'000'000'000ull}) {
            for (const double rate : {0.1, 0.01, 1e-4, 1e-6}) {
                const auto found = smallest(q.shape, q.what, q.granule, keys, rate, no_limit);
                ASSERT_TRUE(found) << keys << " keys at " << rate;
                EXPECT_LE(fpr(*found, static_cast<double>(keys)), rate);
                geometry less = *found;
                std::uint64_t& size = q.what == growth::blocks ? less.blocks : less.sector_bits;
                ASSERT_EQ(size % q.granule, 0u);
                size -= q.granule;
                if (size != 0) {
                    EXPECT_GT(fpr(less, static_cast<double>(keys)), rate) << keys << " keys at " << rate;
                }

                // The same question with just that room, and with less.
                const std::uint64_t room = size + q.granule;
                EXPECT_EQ(smallest(q.shape, q.what, q.granule, keys, rate, room), found);
                EXPECT_EQ(smallest(q.shape, q.what, q.granule, keys, rate, room - 1), std::nullopt);
            }
        }
    }
}

TEST(math_sizing, capacity_is_the_inverse) {
    for (const question& q : questions) {
        for (const std::uint64_t keys : {1ull, 50ull, 1000ull, 1'000'000ull, 10'000'000'000ull}) {
            for (const double rate : {0.1, 0.01, 1e-4}) {
                const auto found = smallest(q.shape, q.what, q.granule, keys, rate, no_limit);
                ASSERT_TRUE(found);
                const std::uint64_t most = capacity(*found, rate);
                EXPECT_GE(most, keys);
                EXPECT_LE(fpr(*found, static_cast<double>(most)), rate);
                EXPECT_GT(fpr(*found, static_cast<double>(most + 1)), rate);
            }
        }
    }
}

TEST(math_sizing, capacity_at_the_edges) {
    EXPECT_EQ(capacity({.sector_bits = 8, .bits_per_group = 3}, 1e-9), 0u);
    EXPECT_EQ(capacity({.sector_bits = 0}, 0.5), 0u);
    EXPECT_EQ(capacity({.sector_bits = 512, .bits_per_group = 3}, 0), 0u);
    EXPECT_EQ(capacity({.sector_bits = 512, .bits_per_group = 3}, 1), std::uint64_t{1} << 63);
    // 2^40 bits at 1 %, 9.59 bits per key.
    EXPECT_NEAR(
        static_cast<double>(capacity({.sector_bits = std::uint64_t{1} << 40, .bits_per_group = 7}, 0.01)),
        std::ldexp(1.0, 40) / 9.593, 1e7);
}

TEST(math_sizing, no_keys_need_one_granule) {
    EXPECT_EQ(smallest({.bits_per_group = 7}, growth::sector_bits, 64, 0, 0.01, no_limit)->sector_bits, 64u);
    EXPECT_EQ(smallest({.bits_per_group = 7}, growth::sector_bits, 64, 0, 0.01, 63), std::nullopt);
    EXPECT_EQ(smallest({.sector_bits = 64}, growth::blocks, 1, 5, 0.0, no_limit), std::nullopt);
    EXPECT_EQ(smallest({.sector_bits = 64}, growth::blocks, 1, 5, 1.0, no_limit)->blocks, 1u);
}

// total_bits() of an answer must not wrap.
TEST(math_sizing, answers_fit_64_bits) {
    const auto found = smallest({.groups = 1000, .sector_bits = 1u << 30}, growth::blocks, 1, 1, 1e-300,
                                std::numeric_limits<std::uint64_t>::max());
    ASSERT_FALSE(found); // the collision of hashes alone is above that rate
    EXPECT_EQ(smallest({.groups = 8, .sector_bits = 64}, growth::blocks, 1, std::uint64_t{1} << 62, 0.5,
                       std::numeric_limits<std::uint64_t>::max()),
              std::nullopt);
}

// k = m/n ln 2, rounded, needs more bits somewhere.
TEST(math_sizing, best_k_is_searched_not_rounded) {
    bool rounding_errs = false;
    for (const std::uint64_t keys : {1ull, 2ull, 7ull, 40ull, 100ull, 5000ull}) {
        for (const double rate : {0.2, 0.05, 0.01, 1e-3, 1e-5}) {
            const auto bits_with = [&](std::uint32_t k) {
                return smallest({.bits_per_group = k}, growth::sector_bits, 1, keys, rate, no_limit)
                    .value()
                    .total_bits();
            };
            std::uint64_t best = no_limit;
            for (std::uint32_t k = 1; k <= 30; ++k) best = std::min(best, bits_with(k));
            const auto rounded = static_cast<std::uint32_t>(std::max(1L, std::lround(std::log2(1 / rate))));
            EXPECT_LE(best, bits_with(rounded));
            rounding_errs |= bits_with(rounded) > best;
        }
    }
    EXPECT_TRUE(rounding_errs);
}

} // namespace
} // namespace bouncer::math
