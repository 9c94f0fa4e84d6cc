// The identity of a hash: what a filter stores beside its bits, and what merge and open compare.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <bouncer/result.h>

namespace bouncer {

// A user's own hasher declares an id from here on; below it, ids belong to the library.
inline constexpr std::uint32_t first_user_hash_id = 0x80000000u;

struct hash_spec {
    std::uint32_t algorithm = 0;           // the id of one of all_hashers or a user's own; 0: prehashed
    std::uint64_t seed_or_fingerprint = 0; // SipHash: the key's fingerprint. Otherwise the seed.

    friend bool operator==(const hash_spec&, const hash_spec&) = default;
};

// [any-thread] For messages: "xxh3, seed 0", "siphash13, key fingerprint 0x0123456789abcdef", "prehashed".
std::string to_string(const hash_spec& spec);

// [any-thread] Done if both are equal; wrong_key if they differ in the fingerprint of the secret key only;
// otherwise mismatch. `built` is the filter's, `given` the caller's.
result<void> check_same_hash(const hash_spec& built, const hash_spec& given);

// [any-thread] Refuses (invalid_argument) what no hasher can have: an id below first_user_hash_id that no hash has, and a
// seed where the hash takes none.
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
