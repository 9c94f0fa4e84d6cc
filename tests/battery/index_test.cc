// Index arithmetic at 2^40 bits and beyond, without the memory: layouts are asked, no filter is made.
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace bouncer::test {
namespace {

class huge_index : public kind_test {
  protected:
    // Parameters of at least `bits` bits, or the largest that the kind allows.
    choice huge(std::uint64_t bits) const {
        auto solved = k.solve({.keys = bits / 8, .false_positive_rate = 0.01});
        if (!solved) solved = k.solve({.keys = bits / 8, .size_bytes = bits / 8 * 2});
        const choice chosen = solved.value();
        if (words_in(chosen) * 64 < bits) { // then only because it is at its limit
            const choice larger = k.with_size(chosen, 2 * k.size_in(chosen));
            EXPECT_FALSE(k.check(larger).has_value()) << k.describe(chosen);
        }
        return chosen;
    }
    std::uint64_t words_in(const choice& chosen) const { return k.size_bytes_of(chosen) / 8; }
};
INSTANTIATE_TEST_SUITE_P(all, huge_index, plain_subjects_that(&facts::bits), subject_names);

TEST_P(huge_index, stays_inside_for_extreme_hashes) {
    for (const unsigned exponent : {40u, 43u, 46u}) {
        const choice chosen = huge(std::uint64_t{1} << exponent);
        for (const std::uint64_t hash : extreme_hashes()) {
            for (const auto& [word, bits] : k.words_of(chosen, hash)) {
                EXPECT_LT(word, words_in(chosen));
                EXPECT_NE(bits, 0u);
            }
        }
    }
}

// 64 equal parts of the range are hit equally often, and so are the 64 residues of the line's number and the 64 bits
// of a word: nothing is lost at the top, at the bottom or in between. The error is taken from the spread of the hits
// of single hashes, because the words of one hash may lie together.
TEST_P(huge_index, spreads_over_the_whole_range) {
    const choice chosen = huge(std::uint64_t{1} << 40);
    SCOPED_TRACE(k.describe(chosen));
    const std::uint64_t words = words_in(chosen);
    constexpr std::size_t parts = 64;
    std::array<sample, parts> by_part;
    std::array<sample, parts> by_residue;
    std::array<sample, parts> by_bit;
    std::uint64_t lowest = words;
    std::uint64_t highest = 0;
    for (const std::uint64_t hash : random_hashes(10'000, 1)) {
        std::array<double, parts> part{};
        std::array<double, parts> residue{};
        std::array<double, parts> bit{};
        for (const auto& [word, bits] : k.words_of(chosen, hash)) {
            EXPECT_LT(word, words);
            lowest = std::min(lowest, word);
            highest = std::max(highest, word);
            const auto ones = static_cast<double>(std::popcount(bits));
            part[static_cast<std::size_t>(detail::uint128{word} * parts / words)] += ones;
            residue[word / 16 % parts] += ones;
            for (std::size_t b = 0; b < 64; ++b) bit[b] += static_cast<double>((bits >> b) & 1);
        }
        for (std::size_t i = 0; i < parts; ++i) {
            by_part[i].add(part[i]);
            by_residue[i].add(residue[i]);
            by_bit[i].add(bit[i]);
        }
    }
    for (const auto* counts : {&by_part, &by_residue, &by_bit}) {
        double mean = 0;
        for (const sample& each : *counts) mean += each.mean() / parts;
        for (std::size_t i = 0; i < parts; ++i)
            EXPECT_TRUE(near_by_sigma((*counts)[i].mean(), mean, (*counts)[i].standard_error(), 5.5))
                << "part " << i;
    }
    EXPECT_LT(lowest, words / 50);
    EXPECT_GT(highest, words - words / 50);
}

// Hashes that agree in their upper half still reach different words: a multiply in 32 bits, or in floating point, would
// leave holes. Parquet's layout does use only 32 bits for the block, and is limited to 2^22 blocks for that.
TEST_P(huge_index, uses_the_lower_half_of_the_hash_too) {
    const choice chosen = huge(std::uint64_t{1} << 46);
    const math::geometry shape = k.shape_of(chosen);
    const std::uint64_t unit = k.is.one_block ? words_in(chosen) / shape.blocks : 1;
    // The first word of a flat layout may be in one slice of k only.
    const std::uint64_t range = words_in(chosen) / unit / (k.is.one_block ? 1 : shape.k());
    std::set<std::uint64_t> reached;
    for (const std::uint64_t hash : random_hashes(2'000, 2)) {
        const std::uint64_t equal_above = (std::uint64_t{0x9e3779b9} << 32) | (hash >> 32);
        reached.insert(k.words_of(chosen, equal_above).front().word / unit);
    }
    const std::uint64_t possible = std::max<std::uint64_t>(1, range >> 32);
    EXPECT_GE(reached.size(), std::min<std::uint64_t>(possible, 1'000)) << range;
}

} // namespace
} // namespace bouncer::test
