// bit_ops.h for cells in two adjacent lines (counters, generations): the specification, and batches of queries behind pointers,
// a table for each instruction set and no entry null.
#pragma once

#include <bouncer/detail/forms.h>
#include <bouncer/detail/isa.h>

#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

// Cells of half a byte or a byte (counters, generations) in two adjacent lines: a key has up to eight in each, with
// replacement, one for each byte of the line's position word. The low six bits pick a byte of the line, the next one its
// half.
inline constexpr std::uint32_t cells_of_line_most = 8;

struct cell_place {
    std::uint32_t word;  // in the line
    std::uint32_t shift; // of the cell's lowest bit
};

constexpr cell_place cell_of(std::uint64_t positions, std::uint32_t i, std::uint32_t cell_bits) noexcept {
    const auto byte = static_cast<std::uint32_t>(positions >> (8 * i)) & 127u;
    return {(byte & 63u) / 8, byte % 8 * 8 + (cell_bits == 4 ? byte / 64 * 4 : 0)};
}

// Cells of half a byte, or of a byte. at.units is the number of blocks of two lines; at.k, even and at most 16, the cells of a
// key.
template <std::uint32_t Bits>
struct pair_cells {
    static_assert(Bits == 4 || Bits == 8);
    static constexpr std::uint32_t cell_bits = Bits;
    static constexpr std::size_t block_words = 16;
    static constexpr std::uint64_t block_of(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return fast_range(hash, blocks);
    }
};

struct cell_ops {
    // [any-thread] answers[i] = whether the cells of hashes[i] are all other than zero; or whether one bit of `live` is in all
    // of them. Returns how many are. What the caller reads afterwards it reads after the cells: a windowed filter looks at
    // its epoch once more (windowed_bloom.h, invariant 4). So the loads are acquire, or x86-64's, which keep their order.
    std::size_t (*nonzero_each)(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                std::size_t count, bool* answers) noexcept;
    std::size_t (*common_each)(const std::uint64_t* words, extent at, std::uint8_t live,
                               const std::uint64_t* hashes, std::size_t count, bool* answers) noexcept;
};

struct cell_ops_table {
    cell_ops halves; // pair_cells<4>
    cell_ops bytes;  // pair_cells<8>
};

// [any-thread] The table of one instruction set; null when this processor, or this build, lacks it. And the one in use.
const cell_ops_table* cell_ops_of(isa which) noexcept;
const cell_ops_table& active_cell_ops() noexcept;

} // namespace bouncer::detail
