// Integer arithmetic shared by hashes, layouts and kernels.
#pragma once

#include <cstdint>

namespace bouncer::detail {

__extension__ typedef unsigned __int128 uint128; // both compilers have it; -Wpedantic wants it announced

constexpr std::uint64_t mul_high(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128>(a) * b) >> 64);
}

// Both halves of the product, xored: one multiply, which g++ does not see in mul_high(a, b) ^ a * b.
constexpr std::uint64_t mul_fold(std::uint64_t a, std::uint64_t b) noexcept {
    const uint128 product = static_cast<uint128>(a) * b;
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

// A hash spread over [0, range): multiply-high, so no division, and unbiased to range / 2^64 for every range.
// It spends the top log2(range) bits of the hash; whoever needs further bits must take them from
// position_word().
constexpr std::uint64_t fast_range(std::uint64_t hash, std::uint64_t range) noexcept {
    return mul_high(hash, range);
}

// A full 64-bit mixer (two xor-shift-multiply rounds with the constants of David Stafford's "Mix13", as in
// SplitMix64): every input bit reaches every output bit. Bijective.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x;
}
// Its inverse: unmix64(mix64(x)) == x. A shift is undone by shifts, an odd factor by its inverse modulo 2^64.
constexpr std::uint64_t unmix64(std::uint64_t x) noexcept {
    x ^= x >> 31 ^ x >> 62;
    x *= 0x319642b2d24d8ec3u;
    x ^= x >> 27 ^ x >> 54;
    x *= 0x96de1b173f119089u;
    x ^= x >> 30 ^ x >> 60;
    return x;
}
static_assert(0x94d049bb133111ebu * 0x319642b2d24d8ec3u == 1 &&
              0xbf58476d1ce4e5b9u * 0x96de1b173f119089u == 1);
static_assert(unmix64(mix64(0x0123456789abcdefu)) == 0x0123456789abcdefu);

} // namespace bouncer::detail
