// The scalar specification: which bits a hash sets in a block. Every SIMD kernel is tested equal to this file, so a
// filter written on one machine reads the same on every other. Moving a bit here is a new layout version.
//
// A block is picked from the top bits of the hash (fast_range). The positions inside it come from position_word(),
// an independent odd multiply, never from the hash itself: within one block the top bits are all alike, and
// positions taken from them measured 1.6 % instead of 1.0 % at 10M keys.
#pragma once

#include <bouncer/detail/bits.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

// Odd multipliers without structure: the first 64 fractional bits of sqrt(2) and sqrt(3), made odd.
inline constexpr std::array<std::uint64_t, 2> position_multipliers{0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu};

// The j-th word of position bits. An odd multiply makes the high bits good and leaves the low ones weak; the fold
// repairs bits 0..31.
constexpr std::uint64_t position_word(std::uint64_t hash, std::size_t j) noexcept {
    const std::uint64_t g = hash * position_multipliers[j];
    return g ^ (g >> 32);
}

// A word of positions has eight bytes; the low six bits of each are the position of a bit in a 64-bit word. Bytes, not
// six bits after six bits: a vector unit spreads the bytes of a word over its lanes in one instruction, where shifting
// and masking takes two.
inline constexpr std::uint64_t position_mask = 0x3f3f3f3f3f3f3f3fu;

constexpr std::uint64_t byte_bit(std::uint64_t positions, std::size_t byte) noexcept {
    return std::uint64_t{1} << ((positions >> (8 * byte)) & 63u);
}

// `count` (1 to 8) bits of one word, with replacement, from the bytes first, first + 1, ... A jump into a row of shifts:
// g++ vectorises a loop, and queries took more than twice as long for the three or four bits that it has.
constexpr std::uint64_t byte_bits(std::uint64_t positions, std::size_t first, std::size_t count) noexcept {
    const std::uint64_t from = positions >> (8 * first);
    std::uint64_t bits = 0;
    switch (count) {
    default: bits |= byte_bit(from, 7); [[fallthrough]];
    case 7: bits |= byte_bit(from, 6); [[fallthrough]];
    case 6: bits |= byte_bit(from, 5); [[fallthrough]];
    case 5: bits |= byte_bit(from, 4); [[fallthrough]];
    case 4: bits |= byte_bit(from, 3); [[fallthrough]];
    case 3: bits |= byte_bit(from, 2); [[fallthrough]];
    case 2: bits |= byte_bit(from, 1); [[fallthrough]];
    case 1: bits |= byte_bit(from, 0);
    }
    return bits;
}

// Sectors: a line is `groups` (2 or 4) runs of neighbouring words; a key picks one word of each run and sets some bits
// of it, so an add writes 2 or 4 words and not 8. Each group has 16 / groups bytes of two position words, at most one
// bit from each; the top bits of its last byte, which no position uses, pick the word.
inline constexpr std::uint32_t sectors_k_most = 16;

struct sector {
    std::uint32_t word; // in the line
    std::uint64_t bits;
};

constexpr sector sector_of(std::uint64_t hash, std::uint32_t groups, std::uint32_t group,
                           std::uint32_t bits) noexcept {
    const std::uint32_t bytes = 16 / groups; // 8 or 4
    const std::uint32_t run = 8 / groups;    // 4 or 2 words
    const std::uint64_t positions = position_word(hash, group * bytes / 8);
    const std::uint32_t first = group * bytes % 8;
    const auto pick = static_cast<std::uint32_t>((positions >> (8 * (first + bytes - 1) + 6)) & 3u);
    return {group * run + pick % run, byte_bits(positions, first, bits)};
}

// k bits of one 64-bit word, with replacement: a byte of positions each.
inline constexpr unsigned register_k_most = 8;

constexpr std::uint64_t mask_register(std::uint64_t hash, unsigned k) noexcept {
    return byte_bits(position_word(hash, 0), 0, k);
}

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

// The eight salts of Parquet's split block Bloom filter, as its format specification publishes them.
inline constexpr std::array<std::uint32_t, 8> split_block_salts{
    0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du, 0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};

// Parquet's mask: one bit in each of eight 32-bit lanes. Lane 2w is the low half of word w, so that on a
// little-endian machine the words are Parquet's bytes.
constexpr std::uint64_t split_block_word(std::uint64_t hash, std::size_t word) noexcept {
    const auto low = static_cast<std::uint32_t>(hash);
    const std::uint32_t even = (low * split_block_salts[2 * word]) >> 27;
    const std::uint32_t odd = (low * split_block_salts[2 * word + 1]) >> 27;
    return (std::uint64_t{1} << even) | (std::uint64_t{1} << (32u + odd));
}

// Parquet's choice of a block: a 32-bit fast range over the high half of the hash.
constexpr std::uint64_t split_block_index(std::uint64_t hash, std::uint64_t blocks) noexcept {
    return ((hash >> 32) * blocks) >> 32;
}

} // namespace bouncer::detail
