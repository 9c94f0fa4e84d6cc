// Kernels over cells in two adjacent lines, each that this processor can run or that can be imitated, against the
// specification (cell_of).
#include "kernels/tested_tables.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/detail/cell_ops.h>
#include <bouncer/detail/forms.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bouncer::test {
namespace {

// A kernel, or something with a fault to be found.
using cell_run = std::function<std::size_t(const std::uint64_t* words, std::uint64_t blocks,
                                           std::uint32_t each, std::uint8_t live, const std::uint64_t* hashes,
                                           std::size_t count, bool* answers)>;

struct cell_reference {
    std::string name;
    std::uint32_t cell_bits;
    bool common; // a bit of `live` in all cells; else all cells other than zero

    cell_run run_of(const detail::cell_ops_table& table) const {
        const detail::cell_ops& row = cell_bits == 4 ? table.halves : table.bytes;
        if (common)
            return [ask = row.common_each](const std::uint64_t* words, std::uint64_t blocks,
                                           std::uint32_t each, std::uint8_t live, const std::uint64_t* hashes,
                                           std::size_t count, bool* answers) {
                return ask(words, {blocks, 2 * each}, live, hashes, count, answers);
            };
        return [ask = row.nonzero_each](const std::uint64_t* words, std::uint64_t blocks, std::uint32_t each,
                                        std::uint8_t, const std::uint64_t* hashes, std::size_t count,
                                        bool* answers) {
            return ask(words, {blocks, 2 * each}, hashes, count, answers);
        };
    }
};

// Pairs of lines in memory that is aligned as a filter's is.
class cell_blocks {
  public:
    explicit cell_blocks(std::uint64_t blocks) : pairs_(blocks) {}

    std::uint64_t blocks() const { return pairs_.size(); }
    std::uint64_t word_count() const { return 16 * pairs_.size(); }
    std::uint64_t* words() { return pairs_[0].words; }
    const std::uint64_t* words() const { return pairs_[0].words; }
    void fill(std::uint64_t value) {
        for (std::uint64_t i = 0; i < word_count(); ++i) words()[i] = value;
    }

    // The cells of a hash, by the specification.
    std::vector<std::uint32_t> cells(std::uint64_t hash, std::uint32_t each, std::uint32_t cell_bits) const {
        std::vector<std::uint32_t> out;
        const std::uint64_t* const block = words() + 16 * detail::fast_range(hash, blocks());
        for (std::uint32_t line = 0; line < 2; ++line)
            for (std::uint32_t i = 0; i < each; ++i) {
                const auto at = detail::cell_of(detail::position_word(hash, line), i, cell_bits);
                out.push_back(static_cast<std::uint32_t>(block[8 * line + at.word] >> at.shift) &
                              ((1u << cell_bits) - 1));
            }
        return out;
    }
    // Writes `value` into the cell with this number among cells().
    void set_cell(std::uint64_t hash, std::uint32_t number, std::uint32_t each, std::uint32_t cell_bits,
                  std::uint64_t value) {
        const std::uint32_t line = number / each;
        const auto at = detail::cell_of(detail::position_word(hash, line), number % each, cell_bits);
        std::uint64_t& word = words()[16 * detail::fast_range(hash, blocks()) + 8 * line + at.word];
        word &= ~(((std::uint64_t{1} << cell_bits) - 1) << at.shift);
        word |= value << at.shift;
    }
    bool answer(const cell_reference& which, std::uint64_t hash, std::uint32_t each,
                std::uint8_t live) const {
        std::uint32_t all = live;
        bool some_zero = false;
        for (const std::uint32_t cell : cells(hash, each, which.cell_bits)) {
            all &= cell;
            some_zero |= cell == 0;
        }
        return which.common ? all != 0 : !some_zero;
    }

  private:
    struct alignas(128) pair {
        std::uint64_t words[16] = {};
    };
    std::vector<pair> pairs_;
};

std::uint64_t batch_differences(const cell_reference& which, const cell_run& kernel,
                                const cell_blocks& blocks, std::uint32_t each, std::uint8_t live,
                                const std::vector<std::uint64_t>& hashes) {
    answers got(hashes.size() + 1, true);
    const std::size_t found =
        kernel(blocks.words(), blocks.blocks(), each, live, hashes.data(), hashes.size(), got.span().data());
    std::size_t expected = 0;
    std::uint64_t wrong = !got[hashes.size()]; // written behind the last
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const bool yes = blocks.answer(which, hashes[i], each, live);
        wrong += got[i] != yes;
        expected += yes;
    }
    return wrong + (found != expected);
}

// Cells of which about one in `zero_of` is zero, and the others have about three quarters of their bits.
void fill_randomly(cell_blocks& blocks, std::uint32_t cell_bits, std::uint64_t zero_of,
                   std::uint64_t stream) {
    for (std::uint64_t i = 0; i < blocks.word_count(); ++i) {
        std::uint64_t word = random_hash(stream, 2 * i) | random_hash(stream, 2 * i + 1);
        for (std::uint32_t shift = 0; shift < 64; shift += cell_bits)
            if (random_hash(stream + 1, i * 16 + shift / 4) % zero_of == 0)
                word &= ~(((std::uint64_t{1} << cell_bits) - 1) << shift);
        blocks.words()[i] = word;
    }
}

class cell_kernels : public ::testing::TestWithParam<cell_reference> {
  protected:
    // work(kernel) for every table.
    template <class Work>
    static void for_each_table(Work work) {
        for (const named_table& table : all_tables()) {
            SCOPED_TRACE(table.name);
            work(GetParam().run_of(*table.cells));
        }
    }
    // All of `live` where it is asked for; one value where it is not, and has no meaning.
    static std::vector<std::uint8_t> some_live() {
        if (!GetParam().common) return {0};
        if (GetParam().cell_bits == 4) return {0, 1, 2, 4, 7, 8, 14, 15};
        return {0, 1, 0x7f, 0x80, 0xbf, 0xfe, 0xff};
    }
};
INSTANTIATE_TEST_SUITE_P(all, cell_kernels,
                         ::testing::Values(cell_reference{"nonzero_halves", 4, false},
                                           cell_reference{"nonzero_bytes", 8, false},
                                           cell_reference{"common_halves", 4, true},
                                           cell_reference{"common_bytes", 8, true}),
                         [](const auto& info) { return info.param.name; });

TEST_P(cell_kernels, equal_the_specification) {
    for_each_table([](const cell_run& kernel) {
        for (const std::uint64_t count : {1u, 3u, 1'000u}) {
            cell_blocks blocks(count);
            for (std::uint32_t each = 1; each <= detail::cells_of_line_most; ++each)
                for (const std::uint8_t live : some_live()) {
                    fill_randomly(blocks, GetParam().cell_bits, 2 * each + 1, 10 * each + live);
                    const auto hashes = random_hashes(scaled(20'000) / share() + 100, 1);
                    EXPECT_EQ(batch_differences(GetParam(), kernel, blocks, each, live, hashes), 0u)
                        << count << " blocks, " << each << " cells a line, live " << unsigned{live};
                }
        }
    });
}

// A cell that is the only one without: "no" is right for cells of the key, and for no other.
std::uint64_t single_cell_differences(const cell_reference& which, const cell_run& kernel,
                                      std::uint64_t hashes) {
    std::uint64_t wrong = 0;
    cell_blocks blocks(2);
    const std::uint64_t cell = (std::uint64_t{1} << which.cell_bits) - 1;
    for (std::uint64_t i = 0; i < hashes; ++i) {
        const std::uint64_t hash = random_hash(2, i);
        const auto each = static_cast<std::uint32_t>(1 + i % detail::cells_of_line_most);
        for (std::uint64_t word = 0; word < blocks.word_count(); ++word)
            for (std::uint32_t shift = 0; shift < 64; shift += which.cell_bits) {
                blocks.fill(~std::uint64_t{0});
                blocks.words()[word] &= ~(cell << shift);
                wrong += batch_differences(which, kernel, blocks, each, 1, {hash});
            }
    }
    return wrong;
}

// A cell that has one bit alone, any of them: it is other than zero, and common where that bit is live.
std::uint64_t single_bit_differences(const cell_reference& which, const cell_run& kernel,
                                     std::uint64_t hashes) {
    std::uint64_t wrong = 0;
    cell_blocks blocks(2);
    for (std::uint64_t i = 0; i < hashes; ++i) {
        const std::uint64_t hash = random_hash(3, i);
        const auto each = static_cast<std::uint32_t>(1 + i % detail::cells_of_line_most);
        for (std::uint32_t number = 0; number < 2 * each; ++number)
            for (std::uint32_t bit = 0; bit < which.cell_bits; ++bit)
                for (std::uint32_t live = 0; live < which.cell_bits; ++live) {
                    blocks.fill(~std::uint64_t{0});
                    blocks.set_cell(hash, number, each, which.cell_bits, std::uint64_t{1} << bit);
                    wrong += batch_differences(which, kernel, blocks, each,
                                               static_cast<std::uint8_t>(1u << live), {hash});
                }
    }
    return wrong;
}

TEST_P(cell_kernels, look_at_the_cells_of_the_key_and_no_other) {
    for_each_table([](const cell_run& kernel) {
        EXPECT_EQ(single_cell_differences(GetParam(), kernel, scaled(400) / share() + 8), 0u);
        EXPECT_EQ(single_bit_differences(GetParam(), kernel, scaled(400) / share() + 8), 0u);
    });
}

TEST_P(cell_kernels, serve_every_length) {
    for_each_table([](const cell_run& kernel) {
        for (const std::uint64_t count : {1u, 50u, 5'000u, 40'000u}) { // the last beyond 4 MiB
            if (count == 40'000 && !whole_sizes) continue;
            cell_blocks blocks(count);
            fill_randomly(blocks, GetParam().cell_bits, 6, 7);
            for (std::size_t length = 0; length <= 150; ++length)
                EXPECT_EQ(batch_differences(GetParam(), kernel, blocks, 3, some_live().back(),
                                            random_hashes(length, 4)),
                          0u)
                    << length;
        }
    });
}

TEST_P(cell_kernels, serve_extreme_hashes_and_fills) {
    for_each_table([](const cell_run& kernel) {
        for (const std::uint64_t count : {1u, 2u, 7u, 64u})
            for (const std::uint64_t value :
                 {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8000000080000000},
                  std::uint64_t{0x1010101010101010}, std::uint64_t{0x0101010101010101},
                  std::uint64_t{0xf00ff00ff00ff00f}}) {
                cell_blocks blocks(count);
                blocks.fill(value);
                for (const std::uint32_t each : {1u, 3u, 8u})
                    for (const std::uint8_t live : some_live())
                        EXPECT_EQ(batch_differences(GetParam(), kernel, blocks, each, live, extreme_hashes()),
                                  0u);
            }
    });
}

// Bits of `live` that a cell does not have are in no cell, whatever its neighbour has.
TEST_P(cell_kernels, know_no_bits_beyond_the_cell) {
    for_each_table([](const cell_run& kernel) {
        if (!GetParam().common) return;
        cell_blocks blocks(20);
        fill_randomly(blocks, GetParam().cell_bits, 1'000, 9);
        for (unsigned live = 0; live < 256; ++live)
            EXPECT_EQ(batch_differences(GetParam(), kernel, blocks, 2, static_cast<std::uint8_t>(live),
                                        random_hashes(100, 5)),
                      0u)
                << live;
    });
}

// The comparisons can fail: kernels that pass over a cell, take the other half of a byte, or forget what is live.
TEST_P(cell_kernels, with_a_fault_would_be_found) {
    const cell_reference& which = GetParam();
    const auto faulty = [](auto answer) {
        return [answer](const std::uint64_t* words, std::uint64_t blocks, std::uint32_t each,
                        std::uint8_t live, const std::uint64_t* hashes, std::size_t count, bool* out) {
            std::size_t found = 0;
            for (std::size_t i = 0; i < count; ++i) {
                cell_blocks copy(blocks);
                std::copy(words, words + copy.word_count(), copy.words());
                out[i] = answer(copy, hashes[i], each, live);
                found += out[i];
            }
            return found;
        };
    };
    // The last cell of the second line always has everything.
    const auto too_few =
        faulty([&](cell_blocks& copy, std::uint64_t hash, std::uint32_t each, std::uint8_t live) {
            copy.set_cell(hash, 2 * each - 1, each, which.cell_bits, (1u << which.cell_bits) - 1);
            return copy.answer(which, hash, each, live);
        });
    EXPECT_GT(single_cell_differences(which, too_few, 8), 0u);
    if (which.common) {
        EXPECT_GT(single_bit_differences(which, too_few, 8), 0u);
    }
    const auto other_half =
        faulty([&](cell_blocks& copy, std::uint64_t hash, std::uint32_t each, std::uint8_t live) {
            for (std::uint64_t i = 0; i < copy.word_count(); ++i) {
                const std::uint64_t word = copy.words()[i];
                copy.words()[i] = (word >> 4 & 0x0f0f0f0f0f0f0f0fu) | (word & 0x0f0f0f0f0f0f0f0fu) << 4;
            }
            return copy.answer(which, hash, each, live);
        });
    if (which.cell_bits == 4) {
        EXPECT_GT(single_cell_differences(which, other_half, 8), 0u);
    }
    const auto all_live = faulty([&](cell_blocks& copy, std::uint64_t hash, std::uint32_t each,
                                     std::uint8_t) { return copy.answer(which, hash, each, 0xff); });
    EXPECT_EQ(single_bit_differences(which, all_live, 8) != 0, which.common);
}

} // namespace
} // namespace bouncer::test
