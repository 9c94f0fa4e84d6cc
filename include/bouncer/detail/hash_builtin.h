// The built-in hashers: small values, called with bytes. Keys of other forms go through hash_key (hash.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <bouncer/detail/hash_spec.h>
#include <bouncer/detail/hash_xxh.h>

namespace bouncer {

namespace detail {

struct key_piece {
    const std::byte* data;
    std::size_t size;
};

std::uint64_t murmur3_low64(const std::byte* data, std::size_t size, std::uint32_t seed) noexcept;
[[gnu::pure]] std::uint64_t siphash13_bytes(const secret_key& key, const std::byte* data,
                                            std::size_t size) noexcept;
std::uint64_t siphash24_bytes(const secret_key& key, const std::byte* data, std::size_t size) noexcept;
void siphash13_batch(const secret_key& key, const key_piece* pieces, std::size_t count,
                     std::uint64_t* out) noexcept;
void siphash24_batch(const secret_key& key, const key_piece* pieces, std::size_t count,
                     std::uint64_t* out) noexcept;

} // namespace detail

// XXH3, 64 bits: the default. A seed separates filters from each other, it does not stop an attacker.
struct xxh3 {
    std::uint64_t seed = 0;

    static constexpr std::uint32_t algorithm = static_cast<std::uint32_t>(hash_algorithm::xxh3);
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

    static constexpr std::uint32_t algorithm = static_cast<std::uint32_t>(hash_algorithm::xxh64);
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

    static constexpr std::uint32_t algorithm = static_cast<std::uint32_t>(hash_algorithm::murmur3);
    static constexpr bool is_avalanching = true;

    // [immutable]
    hash_spec spec() const noexcept { return {algorithm, seed}; }
    // [immutable]
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        return detail::murmur3_low64(key.data(), key.size(), seed);
    }
};

// FNV-1a, 64 bits: for comparison only. One multiply per byte, and short keys that differ in the last byte
// agree in most high bits, so hash_key mixes its result once more; this call returns the published value.
struct fnv1a {
    static constexpr std::uint32_t algorithm = static_cast<std::uint32_t>(hash_algorithm::fnv1a);
    static constexpr bool is_avalanching = false;

    // [immutable]
    hash_spec spec() const noexcept { return {algorithm, 0}; }
    // [immutable]
    constexpr std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        std::uint64_t x = 0xcbf29ce484222325u;
        for (const std::byte b : key) x = (x ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
        return x;
    }
};

// FNV-1, 64 bits (multiply, then xor: FNV-1a does the two the other way round): for interchange only. dcso_bloom takes
// its bits from the published value, so hash_key passes it on as it is, weak as it is: a key's last byte reaches the
// low eight bits alone. In any other kind that spoils the rate; take fnv1a or better.
struct fnv1 {
    static constexpr std::uint32_t algorithm = static_cast<std::uint32_t>(hash_algorithm::fnv1);
    static constexpr bool is_avalanching = false;

    // [immutable]
    hash_spec spec() const noexcept { return {algorithm, 0}; }
    // [immutable]
    constexpr std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        std::uint64_t x = 0xcbf29ce484222325u;
        for (const std::byte b : key) x = (x * 0x100000001b3u) ^ std::to_integer<std::uint64_t>(b);
        return x;
    }
};

// SipHash-1-3 under a secret key: the choice for keys that strangers pick. There is no default key.
class siphash13 {
  public:
    static constexpr std::uint32_t algorithm = static_cast<std::uint32_t>(hash_algorithm::siphash13);
    static constexpr bool is_avalanching = true;

    explicit siphash13(const secret_key& key) noexcept : key_(key) {}

    // [immutable] Computes the fingerprint: the cost of one SipHash-2-4 of 14 bytes.
    hash_spec spec() const noexcept { return {algorithm, key_.fingerprint()}; }
    // [immutable]
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        return detail::siphash13_bytes(key_, key.data(), key.size());
    }
    // [immutable] out[i] = the hash of pieces[i].
    void batch(const detail::key_piece* pieces, std::size_t count, std::uint64_t* out) const noexcept {
        detail::siphash13_batch(key_, pieces, count, out);
    }

  private:
    secret_key key_;
};

// SipHash-2-4, the version first published, with a larger margin at 1.5 to 1.8 times the cost of 1-3.
class siphash24 {
  public:
    static constexpr std::uint32_t algorithm = static_cast<std::uint32_t>(hash_algorithm::siphash24);
    static constexpr bool is_avalanching = true;

    explicit siphash24(const secret_key& key) noexcept : key_(key) {}

    // [immutable] Computes the fingerprint: the cost of one more hash of 14 bytes.
    hash_spec spec() const noexcept { return {algorithm, key_.fingerprint()}; }
    // [immutable]
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept {
        return detail::siphash24_bytes(key_, key.data(), key.size());
    }
    // [immutable] out[i] = the hash of pieces[i].
    void batch(const detail::key_piece* pieces, std::size_t count, std::uint64_t* out) const noexcept {
        detail::siphash24_batch(key_, pieces, count, out);
    }

  private:
    secret_key key_;
};

} // namespace bouncer
