// key_sketch against the true number of distinct hashes.
#include "key_sketch.h"

#include <bouncer/detail/bits.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace bouncer::tool {
namespace {

std::vector<std::uint64_t> hashes_from(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; i < count; ++i) out.push_back(detail::mix64(first + i + 1));
    return out;
}

TEST(key_sketch, counts_nothing_as_nothing) {
    EXPECT_EQ(key_sketch().distinct(), 0);
}

// What the command promises, from one key to millions.
TEST(key_sketch, is_within_one_percent) {
    for (const std::uint64_t count : {1u, 2u, 10u, 100u, 1'000u, 20'000u, 131'072u, 400'000u, 3'000'000u}) {
        key_sketch sketch;
        sketch.add(hashes_from(0, count));
        const auto n = static_cast<double>(count);
        EXPECT_NEAR(sketch.distinct(), n, 0.01 * n) << count;
    }
}

// 64 sets: an error that is as small as the header says, and to neither side.
TEST(key_sketch, errs_as_little_as_it_says) {
    for (const std::uint64_t count : {50'000u, 200'000u}) {
        double sum = 0;
        double squares = 0;
        constexpr int sets = 64;
        for (std::uint64_t set = 0; set < sets; ++set) {
            key_sketch sketch;
            sketch.add(hashes_from(set << 32, count));
            const double error = sketch.distinct() / static_cast<double>(count) - 1;
            sum += error;
            squares += error * error;
        }
        constexpr double sigma = 0.0029;
        EXPECT_LT(std::sqrt(squares / sets), 1.5 * sigma) << count;
        EXPECT_LT(std::abs(sum / sets), 5 * sigma / std::sqrt(double{sets})) << count;
    }
}

TEST(key_sketch, counts_a_repeated_hash_once) {
    key_sketch sketch;
    const auto some = hashes_from(7, 5'000);
    sketch.add(some);
    const double once = sketch.distinct();
    for (int i = 0; i < 5; ++i) sketch.add(some);
    EXPECT_EQ(sketch.distinct(), once);
}

TEST(key_sketch, merged_is_as_if_all_had_come_to_one) {
    key_sketch all;
    key_sketch left;
    key_sketch right;
    all.add(hashes_from(0, 300'000));
    left.add(hashes_from(0, 200'000));
    right.add(hashes_from(100'000, 200'000));
    left.merge(right);
    EXPECT_EQ(left.distinct(), all.distinct());
}

// Hashes of which only the low, or the high, bits differ.
TEST(key_sketch, takes_any_hash) {
    for (const unsigned shift : {0u, 40u}) {
        key_sketch sketch;
        std::vector<std::uint64_t> hashes;
        for (std::uint64_t i = 0; i < 100'000; ++i) hashes.push_back(i << shift);
        sketch.add(hashes);
        EXPECT_NEAR(sketch.distinct(), 100'000, 1'000);
    }
}

} // namespace
} // namespace bouncer::tool
