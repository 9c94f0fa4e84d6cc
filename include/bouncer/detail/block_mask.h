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

// Odd multipliers without structure: the first 64 fractional bits of sqrt(2), sqrt(3) and sqrt(5), made odd.
inline constexpr std::array<std::uint64_t, 3> position_multipliers{0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu,
                                                                   0x3c6ef372fe94f82bu};

// The j-th word of position bits. An odd multiply makes the high bits good and leaves the low ones weak; the fold
// repairs bits 0..31, and users take bits from the top.
constexpr std::uint64_t position_word(std::uint64_t hash, std::size_t j) noexcept {
    const std::uint64_t g = hash * position_multipliers[j];
    return g ^ (g >> 32);
}

// One bit in each of eight (or twice eight) 64-bit lanes: six bits of position each, the top 48 of a word.
inline constexpr unsigned lane_shift(std::size_t lane) noexcept {
    return 16u + 6u * static_cast<unsigned>(lane);
}

constexpr std::uint64_t lane_bit(std::uint64_t positions, std::size_t lane) noexcept {
    return std::uint64_t{1} << ((positions >> lane_shift(lane)) & 63u);
}

// k bits anywhere in a 512-bit line, with replacement: nine bits of position each, six positions to a word.
inline constexpr unsigned any_k_most = 16;

constexpr std::array<std::uint64_t, 8> mask_any_k(std::uint64_t hash, unsigned k) noexcept {
    std::array<std::uint64_t, 8> mask{};
    std::uint64_t positions = 0;
    for (unsigned i = 0; i < k; ++i) {
        positions = i % 6u == 0 ? position_word(hash, i / 6u) >> 10 : positions >> 9;
        mask[(positions >> 6) & 7u] |= std::uint64_t{1} << (positions & 63u);
    }
    return mask;
}

// k bits of one 64-bit word, with replacement: six bits of position each, the top 60 of a word.
inline constexpr unsigned register_k_most = 10;

constexpr std::uint64_t mask_register(std::uint64_t hash, unsigned k) noexcept {
    const std::uint64_t positions = position_word(hash, 0);
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < k; ++i) mask |= std::uint64_t{1} << ((positions >> (4u + 6u * i)) & 63u);
    return mask;
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
