// The built-in hashers: small values, called with bytes. Keys of other forms go through hash_key (hash.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <bouncer/detail/hash_spec.h>
#include <bouncer/detail/hash_xxh.h>

namespace bouncer {

namespace detail {

struct key_piece {
    const std::byte* data;
    std::size_t size;
};

// MurmurHash3_x64_128 (Austin Appleby, public domain): both halves, and the first alone, which filters use.
std::array<std::uint64_t, 2> murmur3_x64_128(const std::byte* data, std::size_t size,
                                             std::uint32_t seed) noexcept;
std::uint64_t murmur3_low64(const std::byte* data, std::size_t size, std::uint32_t seed) noexcept;

} // namespace detail

// XXH3, 64 bits: the default. A seed separates filters from each other, it does not stop an attacker.
struct xxh3 {
    std::uint64_t seed = 0;

    static constexpr std::uint32_t algorithm = 1;
    static constexpr std::string_view name = "xxh3";
    static constexpr bool is_avalanching = true;

    // [immutable]
    hash_spec spec() const noexcept { return {algorithm, seed}; }
    // [immutable] Inline up to 16 bytes, one call beyond.
    [[gnu::always_inline]] std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        return detail::xxh3_bytes(key.data(), key.size(), seed);
    }
};

// XXH64: for files that others read (Parquet's filter fixes it, with seed 0).
struct xxh64 {
    std::uint64_t seed = 0;

    static constexpr std::uint32_t algorithm = 2;
    static constexpr std::string_view name = "xxh64";
    static constexpr bool is_avalanching = true;

    // [immutable]
    hash_spec spec() const noexcept { return {algorithm, seed}; }
    // [immutable] Inline up to 16 bytes, one call beyond.
    [[gnu::always_inline]] std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        return detail::xxh64_bytes(key.data(), key.size(), seed);
    }
};

// MurmurHash3_x64_128, its first 64 bits (h1): for systems that already hash so.
struct murmur3 {
    std::uint32_t seed = 0;

    static constexpr std::uint32_t algorithm = 3;
    static constexpr std::string_view name = "murmur3";
    static constexpr bool is_avalanching = true;

    // [immutable]
    hash_spec spec() const noexcept { return {algorithm, seed}; }
    // [immutable]
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        return detail::murmur3_low64(key.data(), key.size(), seed);
    }
};

// FNV, 64 bits: one multiply per byte. This call returns the published value.
template <std::uint32_t Id, bool XorFirst>
struct basic_fnv {
    static constexpr std::uint32_t algorithm = Id;
    static constexpr std::string_view name = XorFirst ? "fnv1a" : "fnv1";
    static constexpr bool is_avalanching = false;
    static constexpr bool passed_unmixed = !XorFirst;

    // [immutable]
    hash_spec spec() const noexcept { return {algorithm, 0}; }
    // [immutable]
    constexpr std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        constexpr std::uint64_t prime = 0x100000001b3u;
        std::uint64_t x = 0xcbf29ce484222325u;
        for (const std::byte b : key) {
            const auto octet = std::to_integer<std::uint64_t>(b);
            x = XorFirst ? (x ^ octet) * prime : (x * prime) ^ octet;
        }
        return x;
    }
};

// For comparison only: short keys that differ in the last byte agree in most high bits, so hash_key mixes the result.
using fnv1a = basic_fnv<4, true>;
// For interchange only: dcso_bloom takes its bits from the published value, so hash_key passes it on as it is, weak as it
// is: a key's last byte reaches the low eight bits alone. In any other kind that spoils the rate; take fnv1a or better.
using fnv1 = basic_fnv<7, false>;

// SipHash under a secret key: for keys that strangers pick. There is no default key.
template <std::uint32_t Id, int PerWord, int ToFinish>
class basic_siphash {
    static constexpr char text[] = {'s', 'i', 'p', 'h', 'a', 's', 'h', '0' + PerWord, '0' + ToFinish};

  public:
    static constexpr std::uint32_t algorithm = Id;
    static constexpr std::string_view name{text, sizeof text};
    static constexpr bool is_avalanching = true;

    explicit basic_siphash(const secret_key& key) noexcept : key_(key) {}

    // [immutable] Computes the fingerprint: the cost of one SipHash-2-4 of 14 bytes.
    hash_spec spec() const noexcept { return {algorithm, key_.fingerprint()}; }
    // [immutable]
    [[gnu::pure]] std::uint64_t operator()(std::span<const std::byte> key) const noexcept;
    // [immutable] out[i] = the hash of pieces[i].
    void batch(const detail::key_piece* pieces, std::size_t count, std::uint64_t* out) const noexcept;

  private:
    secret_key key_;
};

// The choice where a secret key is needed.
using siphash13 = basic_siphash<5, 1, 3>;
// The version first published, with a larger margin at 1.5 to 1.8 times the cost of 1-3.
using siphash24 = basic_siphash<6, 2, 4>;

} // namespace bouncer
