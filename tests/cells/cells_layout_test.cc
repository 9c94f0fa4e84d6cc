// Where the cells of a hash lie, and what scans of all cells say, against arithmetic of its own.
#include "cells/counting_forms.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/detail/cells.h>

#include <set>

namespace bouncer::test {
namespace {

using detail::cells;

// The hashes that the tests below ask for: random ones, and the ends of every range.
std::vector<std::uint64_t> asked(std::uint64_t stream) {
    auto out = random_hashes(scaled(4'000), stream);
    const auto extreme = extreme_hashes();
    out.insert(out.end(), extreme.begin(), extreme.end());
    return out;
}

// Every form, with units and k at which the ends matter too.
template <class Work>
void for_each_size(Work work) {
    for (const counting_form& which : counting_forms)
        for (const std::uint64_t units : {1u, 2u, 7u, 1000u})
            for (const std::uint32_t k : {2u, 6u, 16u}) {
                const std::uint64_t unit = which.form == cell_form::flat ? 64 : 1;
                const counting_bloom_parameters chosen{units * unit, k, which.bits, which.form};
                SCOPED_TRACE(plain_counting_bloom::describe(chosen));
                work(chosen, cells(chosen.units, k, which.bits, which.form));
            }
}

TEST(cells_layout, places_are_those_of_the_specification) {
    for_each_size([](const counting_bloom_parameters& chosen, const cells& where) {
        const exact_counters expected(chosen);
        std::uint64_t wrong = 0;
        for (const std::uint64_t hash : asked(1)) {
            std::vector<std::uint64_t> visited;
            where.every_cell(hash, [&](std::uint64_t word, std::uint32_t shift) {
                visited.push_back(word * where.cells_per_word() + shift / where.cell_bits());
                wrong += shift % where.cell_bits() != 0 || shift >= 64 || word >= where.word_count();
                return true;
            });
            wrong += visited.size() != chosen.k;
            std::set<std::uint64_t> once(visited.begin(), visited.end());
            const auto places = expected.places(hash);
            wrong += !std::equal(once.begin(), once.end(), places.begin(), places.end());
        }
        EXPECT_EQ(wrong, 0u);
    });
}

TEST(cells_layout, distinct_has_every_cell_once) {
    for_each_size([](const counting_bloom_parameters& chosen, const cells& where) {
        const exact_counters expected(chosen);
        std::uint64_t wrong = 0;
        for (const std::uint64_t hash : asked(2)) {
            std::vector<std::uint64_t> got;
            for (const auto& at : cells::distinct(where, hash))
                got.push_back(at.word * where.cells_per_word() + at.shift / where.cell_bits());
            std::sort(got.begin(), got.end());
            wrong += got != expected.places(hash);
        }
        EXPECT_EQ(wrong, 0u);
    });
}

TEST(cells_layout, a_visit_ends_when_it_is_told_to) {
    for_each_size([](const counting_bloom_parameters& chosen, const cells& where) {
        for (std::uint32_t stop = 1; stop <= chosen.k; ++stop) {
            std::uint32_t visits = 0;
            EXPECT_FALSE(where.every_cell(random_hash(3, stop),
                                          [&](std::uint64_t, std::uint32_t) { return ++visits != stop; }));
            EXPECT_EQ(visits, stop);
        }
    });
}

TEST(cells_layout, every_cell_is_in_a_line_that_is_prefetched) {
    for_each_size([](const counting_bloom_parameters&, const cells& where) {
        std::uint64_t outside = 0;
        for (const std::uint64_t hash : asked(4)) {
            std::set<std::uint64_t> lines;
            where.every_line(hash, [&](std::uint64_t word) { lines.insert(word / 8); });
            where.every_cell(hash, [&](std::uint64_t word, std::uint32_t) {
                outside += lines.count(word / 8) == 0;
                return true;
            });
            if (where.in_lines()) {
                EXPECT_EQ(lines.size(), 2u);
                EXPECT_EQ(*lines.begin() % 2, 0u);
            }
        }
        EXPECT_EQ(outside, 0u);
    });
}

// ---- scans -------------------------------------------------------------------------------------------------------

// Cells of every value, about half of them zero.
std::vector<std::uint64_t> random_words(const cells& where, std::uint64_t stream) {
    std::vector<std::uint64_t> out(where.word_count());
    for (std::size_t i = 0; i < out.size(); ++i)
        for (std::uint32_t shift = 0; shift < 64; shift += where.cell_bits()) {
            const std::uint64_t drawn = random_hash(stream, i * 64 + shift);
            if ((drawn >> 63) != 0) continue;
            out[i] |= (drawn & (~std::uint64_t{0} >> (64 - where.cell_bits()))) << shift;
        }
    return out;
}

// One cell after the other: does it count?
std::vector<bool> counting_cells(const cells& where, const detail::cell_source& from) {
    std::vector<bool> out;
    for (std::uint64_t i = 0; i < where.word_count(); ++i)
        for (std::uint32_t shift = 0; shift < 64; shift += where.cell_bits()) {
            std::uint64_t word = from.words[i];
            if (from.other != nullptr) word |= from.other[i];
            out.push_back((word >> shift & from.mask) != 0);
        }
    return out;
}

double share_of_true(const std::vector<bool>& of, std::size_t first, std::size_t count) {
    double sum = 0;
    for (std::size_t i = first; i < first + count; ++i) sum += of[i];
    return sum / static_cast<double>(count);
}

TEST(cells_layout, scans_count_what_the_mask_selects) {
    for_each_size([](const counting_bloom_parameters& chosen, const cells& where) {
        const auto words = random_words(where, 5);
        const auto others = random_words(where, 6);
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - where.cell_bits());
        for (const std::uint64_t mask : {all, std::uint64_t{1}, std::uint64_t{6}, (all >> 1) + 1})
            for (const std::uint64_t* const other :
                 {static_cast<const std::uint64_t*>(nullptr), others.data()}) {
                const detail::cell_source from{words.data(), mask, other};
                const auto counts = counting_cells(where, from);
                EXPECT_DOUBLE_EQ(detail::fill_of(where, from), share_of_true(counts, 0, counts.size()));
                double rate = 0;
                if (!where.in_lines()) {
                    rate = std::pow(share_of_true(counts, 0, counts.size()), chosen.k);
                } else {
                    const std::size_t line = 512 / where.cell_bits();
                    for (std::size_t block = 0; block < chosen.units; ++block)
                        rate += std::pow(share_of_true(counts, 2 * block * line, line) *
                                             share_of_true(counts, (2 * block + 1) * line, line),
                                         chosen.k / 2);
                    rate /= static_cast<double>(chosen.units);
                }
                EXPECT_NEAR(detail::answer_rate(where, from), rate, 1e-12);
            }
    });
}

// ---- what makes no sense -------------------------------------------------------------------------------------------

TEST(cells_layout, refuses_what_makes_no_sense) {
    const auto check = [](std::uint64_t units, std::uint32_t k, std::uint32_t bits, cell_form form) {
        return cells(units, k, bits, form).check("units");
    };
    constexpr auto lines = cell_form::two_lines;
    constexpr auto flat = cell_form::flat;
    EXPECT_TRUE(check(1, 2, 4, lines));
    EXPECT_TRUE(check(1, 16, 8, lines));
    EXPECT_TRUE(check(std::uint64_t{1} << 40, 16, 8, lines));
    EXPECT_TRUE(check(64, 1, 32, flat));
    EXPECT_TRUE(check(128, 32, 4, flat));
    EXPECT_TRUE(check(std::uint64_t{1} << 46, 32, 16, flat));
    EXPECT_TRUE(fails_with(check(0, 6, 4, lines), error_code::invalid_argument, "units", "0"));
    EXPECT_TRUE(fails_with(check(0, 6, 8, flat), error_code::invalid_argument, "units", "0"));
    EXPECT_TRUE(fails_with(check(1, 0, 4, lines), error_code::invalid_argument, "k", "0"));
    EXPECT_TRUE(fails_with(check(1, 7, 4, lines), error_code::invalid_argument, "even", "7"));
    EXPECT_TRUE(fails_with(check(1, 18, 4, lines), error_code::invalid_argument, "16", "18"));
    EXPECT_TRUE(fails_with(check(64, 33, 8, flat), error_code::invalid_argument, "32", "33"));
    EXPECT_TRUE(fails_with(check(1, 6, 16, lines), error_code::invalid_argument, "4 or 8", "16"));
    EXPECT_TRUE(fails_with(check(96, 6, 16, flat), error_code::invalid_argument, "64", "96"));
    EXPECT_TRUE(fails_with(check(16, 6, 32, flat), error_code::invalid_argument, "64", "16"));
    EXPECT_TRUE(fails_with(check(64, 6, 4, flat), error_code::invalid_argument, "128", "64"));
    EXPECT_TRUE(fails_with(check(64, 6, 8, static_cast<cell_form>(9)), error_code::invalid_argument, "9"));
    EXPECT_TRUE(fails_with(check((std::uint64_t{1} << 40) + 1, 6, 4, lines), error_code::too_large,
                           "1099511627776", "1099511627777"));
    EXPECT_TRUE(fails_with(check(~std::uint64_t{63}, 6, 8, flat), error_code::too_large, "140737488355328"));
}

} // namespace
} // namespace bouncer::test
