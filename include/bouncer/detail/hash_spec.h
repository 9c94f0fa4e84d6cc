// The identity of a hash: what a filter stores beside its bits, and what merge and open compare.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <bouncer/result.h>

namespace bouncer {

// The numbers are stored in files: append, never reorder.
enum class hash_algorithm : std::uint32_t {
    prehashed = 0, // the caller brings 64-bit hashes
    xxh3 = 1,
    xxh64 = 2,
    murmur3 = 3,
    fnv1a = 4,
    siphash13 = 5,
    siphash24 = 6,
    fnv1 = 7,
};

namespace detail {

// The name of a hash_algorithm; empty for every other id. This is the one place that says which ids there are.
std::string_view hash_name(std::uint32_t algorithm) noexcept;
// Whether it takes a secret key, or a seed; prehashed, fnv1a and fnv1 take neither.
bool hash_takes_key(std::uint32_t algorithm) noexcept;
bool hash_takes_seed(std::uint32_t algorithm) noexcept;

} // namespace detail

// A user's own hasher declares an id from here on; below it, ids belong to the library.
inline constexpr std::uint32_t first_user_hash_id = 0x80000000u;

struct hash_spec {
    std::uint32_t algorithm = 0;           // a hash_algorithm, or a user's id
    std::uint64_t seed_or_fingerprint = 0; // SipHash: the key's fingerprint. Otherwise the seed.

    friend bool operator==(const hash_spec&, const hash_spec&) = default;
};

// [any-thread] For messages: "xxh3, seed 0", "siphash13, key fingerprint 0x0123456789abcdef", "prehashed".
std::string to_string(const hash_spec& spec);

// [any-thread] Done if both are equal; wrong_key if they differ in the fingerprint of the secret key only;
// otherwise mismatch. `built` is the filter's, `given` the caller's.
result<void> check_same_hash(const hash_spec& built, const hash_spec& given);

// [any-thread] Refuses (invalid_argument) what no hasher can have: an id below first_user_hash_id that is not in
// hash_algorithm, and a seed where the algorithm takes none.
result<void> check_known_hash(const hash_spec& spec);

// A 128-bit key for SipHash. The library stores and prints only its fingerprint; keeping the key is up to the
// caller, and a filter is useless without it. It is not wiped from memory when it goes out of scope.
struct secret_key {
    std::array<std::byte, 16> bytes;

    // [any-thread] Exactly 32 hex digits, either case, first byte first. The message never repeats a digit.
    static result<secret_key> from_hex(std::string_view digits);

    // [any-thread] From the operating system's generator (getrandom); io if it fails.
    static result<secret_key> random();

    // [immutable] SipHash-2-4 under this key of "bouncer key v1": tells one key from another (two random keys
    // share it with probability 2^-64) and gives away no more of it than one hash of a known key would.
    std::uint64_t fingerprint() const noexcept;
};

} // namespace bouncer
