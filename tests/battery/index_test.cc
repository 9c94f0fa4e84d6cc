// Index arithmetic at 2^40 bits and beyond, without the memory: layouts are asked, no filter is made.
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <array>
#include <set>

namespace bouncer::test {
namespace {

// Parameters of at least `bits` bits, or the largest that the kind allows.
template <class F>
typename F::parameters huge(std::uint64_t bits) {
    using layout = typename F::layout_type;
    auto solved = layout::solve({.keys = bits / 8, .false_positive_rate = 0.01});
    if (!solved) solved = layout::solve({.keys = bits / 8, .size_bytes = bits / 8 * 2});
    const auto chosen = solved.value();
    if (layout(chosen).word_count() * 64 < bits) { // then only because it is at its limit
        auto larger = chosen;
        size_parameter(larger) *= 2;
        EXPECT_FALSE(layout::check(larger).has_value()) << describe<F>(chosen);
    }
    return chosen;
}

template <class F>
class huge_index : public ::testing::Test {};
TYPED_TEST_SUITE(huge_index, plain_kinds_that<is_bit_filter>, kind_names);

TYPED_TEST(huge_index, stays_inside_for_extreme_hashes) {
    for (const unsigned exponent : {40u, 43u, 46u}) {
        const typename TypeParam::layout_type layout(huge<TypeParam>(std::uint64_t{1} << exponent));
        for (const std::uint64_t hash : extreme_hashes()) {
            layout.every_word(hash, [&](std::uint64_t word, std::uint64_t bits) {
                EXPECT_LT(word, layout.word_count());
                EXPECT_NE(bits, 0u);
                return true;
            });
        }
    }
}

// 64 equal parts of the range are hit equally often, and so are the 64 residues of the line's number and the 64 bits
// of a word: nothing is lost at the top, at the bottom or in between. The error is taken from the spread of the hits
// of single hashes, because the words of one hash may lie together.
TYPED_TEST(huge_index, spreads_over_the_whole_range) {
    const typename TypeParam::layout_type layout(huge<TypeParam>(std::uint64_t{1} << 40));
    SCOPED_TRACE(describe<TypeParam>(layout.params()));
    const std::uint64_t words = layout.word_count();
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
        layout.every_word(hash, [&](std::uint64_t word, std::uint64_t bits) {
            EXPECT_LT(word, words);
            lowest = std::min(lowest, word);
            highest = std::max(highest, word);
            const auto ones = static_cast<double>(std::popcount(bits));
            part[static_cast<std::size_t>(detail::uint128{word} * parts / words)] += ones;
            residue[word / 16 % parts] += ones;
            for (std::size_t b = 0; b < 64; ++b) bit[b] += static_cast<double>((bits >> b) & 1);
            return true;
        });
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
TYPED_TEST(huge_index, uses_the_lower_half_of_the_hash_too) {
    using layout_type = typename TypeParam::layout_type;
    const layout_type layout(huge<TypeParam>(std::uint64_t{1} << 46));
    const std::uint64_t unit = layout_type::one_block ? layout.word_count() / layout.block_count() : 1;
    // The first word of a flat layout may be in one slice of k only.
    const std::uint64_t range =
        layout.word_count() / unit / (layout_type::one_block ? 1 : layout.shape().k());
    std::set<std::uint64_t> reached;
    for (const std::uint64_t hash : random_hashes(2'000, 2)) {
        layout.every_word((std::uint64_t{0x9e3779b9} << 32) | (hash >> 32),
                          [&](std::uint64_t word, std::uint64_t) {
                              reached.insert(word / unit);
                              return false;
                          });
    }
    const std::uint64_t possible = std::max<std::uint64_t>(1, range >> 32);
    EXPECT_GE(reached.size(), std::min<std::uint64_t>(possible, 1'000)) << range;
}

} // namespace
} // namespace bouncer::test
