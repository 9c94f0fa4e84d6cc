// XXH3-64 and XXH64: keys of at most 16 bytes inline, longer ones by libxxhash's code in src/hash/.
//
// The short forms are written out here, from the xxHash specification, because including <xxhash.h> with
// XXH_INLINE_ALL in a public header renames XXH3_state_t and its kin for whoever includes it: a user's own
// function that takes one then fails to compile (if <xxhash.h> came first) or to link (if it came after). The
// tests hold both to libxxhash for every length from 0 to 1024.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <bouncer/detail/bits.h>
#include <bouncer/detail/hash_load.h>

namespace bouncer::detail {

// The longest key hashed inline. Sixteen bytes cover integers, UUIDs and IPv6 addresses; beyond
// it XXH3 walks through its secret, and a call costs less than the code at every place of use.
inline constexpr std::size_t xxh_inline_bytes = 16;

inline constexpr std::uint64_t xxh_prime1 = 0x9e3779b185ebca87u;
inline constexpr std::uint64_t xxh_prime2 = 0xc2b2ae3d27d4eb4fu;
inline constexpr std::uint64_t xxh_prime3 = 0x165667b19e3779f9u;
inline constexpr std::uint64_t xxh_prime4 = 0x85ebca77c2b2ae63u;
inline constexpr std::uint64_t xxh_prime5 = 0x27d4eb2f165667c5u;

// Precondition: size > xxh_inline_bytes. Defined in src/hash/.
std::uint64_t xxh3_long(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;
std::uint64_t xxh64_long(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;
// With vectors of 32 bytes. Precondition: x86-64, and active_isa() is not scalar.
std::uint64_t xxh3_wide(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;

constexpr std::uint64_t xxh64_avalanche(std::uint64_t x) noexcept {
    x = (x ^ (x >> 33)) * xxh_prime2;
    x = (x ^ (x >> 29)) * xxh_prime3;
    return x ^ (x >> 32);
}

// The constants below are xors of neighbouring words of XXH3's default secret, at the byte offsets named.

constexpr std::uint64_t xxh3_0(std::uint64_t seed) noexcept {
    return xxh64_avalanche(seed ^ 0x8726f9105dc21ddcu); // 56, 64
}

constexpr std::uint64_t xxh3_1to3(std::uint64_t first, std::uint64_t middle, std::uint64_t last,
                                  std::uint64_t size, std::uint64_t seed) noexcept {
    const std::uint64_t packed = last | size << 8 | first << 16 | middle << 24;
    return xxh64_avalanche(packed ^ (0x87275a9bu + seed)); // 0, 4
}

// first and last: the first and the last four bytes, which overlap for sizes below eight.
constexpr std::uint64_t xxh3_4to8(std::uint32_t first, std::uint32_t last, std::uint64_t size,
                                  std::uint64_t seed) noexcept {
    constexpr std::uint64_t multiplier = 0x9fb21c651e98df25u;
    seed ^= std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(seed))} << 32;
    std::uint64_t x = (last + (std::uint64_t{first} << 32)) ^ (0xc73ab174c5ecd5a2u - seed); // 8, 16
    x = (x ^ std::rotl(x, 49) ^ std::rotl(x, 24)) * multiplier;
    x = (x ^ ((x >> 35) + size)) * multiplier;
    return x ^ (x >> 28);
}

// first and last: the first and the last eight bytes, which overlap for sizes below sixteen.
constexpr std::uint64_t xxh3_9to16(std::uint64_t first, std::uint64_t last, std::uint64_t size,
                                   std::uint64_t seed) noexcept {
    const std::uint64_t low = first ^ (0x6782737bea4239b9u + seed); // 24, 32
    const std::uint64_t high = last ^ (0xaf56bc3b0996523au - seed); // 40, 48
    std::uint64_t x = size + __builtin_bswap64(low) + high + mul_fold(low, high);
    x = (x ^ (x >> 37)) * 0x165667919e3779f9u;
    return x ^ (x >> 32);
}

// Forced inline: with a size known at compile time only one branch is left, a dozen instructions. 9 to 16 bytes first,
// by one comparison: identifiers in text, UUIDs, IPv6 addresses.
[[gnu::always_inline]] inline std::uint64_t xxh3_bytes(const std::byte* data, std::size_t size,
                                                       std::uint64_t seed) noexcept {
    if (size - 9 < 8) [[likely]]
        return xxh3_9to16(load_le64(data), load_le64(data + size - 8), size, seed);
    if (size > xxh_inline_bytes) return xxh3_long(data, size, seed);
    if (size >= 4) return xxh3_4to8(load_le32(data), load_le32(data + size - 4), size, seed);
    if (size == 0) return xxh3_0(seed);
    return xxh3_1to3(std::to_integer<std::uint64_t>(data[0]), std::to_integer<std::uint64_t>(data[size / 2]),
                     std::to_integer<std::uint64_t>(data[size - 1]), size, seed);
}

[[gnu::always_inline]] inline std::uint64_t xxh64_bytes(const std::byte* data, std::size_t size,
                                                        std::uint64_t seed) noexcept {
    if (size > xxh_inline_bytes) return xxh64_long(data, size, seed);
    std::uint64_t x = seed + xxh_prime5 + size;
    for (; size >= 8; data += 8, size -= 8) {
        x ^= std::rotl(load_le64(data) * xxh_prime2, 31) * xxh_prime1;
        x = std::rotl(x, 27) * xxh_prime1 + xxh_prime4;
    }
    if (size >= 4) {
        x ^= load_le32(data) * xxh_prime1;
        x = std::rotl(x, 23) * xxh_prime2 + xxh_prime3;
        data += 4, size -= 4;
    }
    for (; size > 0; ++data, --size) {
        x ^= std::to_integer<std::uint64_t>(*data) * xxh_prime5;
        x = std::rotl(x, 11) * xxh_prime1;
    }
    return xxh64_avalanche(x);
}

} // namespace bouncer::detail
