// any_hasher: one of the built-in hashers, chosen at run time by what a stored filter says of its hash.
#pragma once

#include <bouncer/hash.h>
#include <bouncer/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace bouncer {

// Thread safety: immutable, so any number of threads.
class any_hasher {
  public:
    // [any-thread] The hasher of a spec. For SipHash the key is needed, and compared by its fingerprint (wrong_key); other
    // hashes take none (invalid_argument). unsupported: prehashed, which has no hasher, and users' own.
    static result<any_hasher> make(const hash_spec& spec,
                                   const std::optional<secret_key>& key = std::nullopt);
    // [any-thread] By name, as the command and the C API do: xxh3, xxh64, murmur3, fnv1a, fnv1 (seed: 0 for the last
    // two); siphash13, siphash24 with a key.
    static result<any_hasher> make(std::string_view name, std::uint64_t seed,
                                   const std::optional<secret_key>& key = std::nullopt);

    // [immutable] As hash_key of the hasher itself.
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept;
    // [immutable] out[i] = the hash of keys[i]; one dispatch for all. Works on the shorter of the two.
    void batch(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const noexcept;
    // [immutable]
    hash_spec spec() const noexcept;

  private:
    using built_in = std::variant<xxh3, xxh64, murmur3, fnv1a, siphash13, siphash24, fnv1>;
    explicit any_hasher(const built_in& chosen) noexcept : chosen_(chosen) {}

    built_in chosen_;
};

} // namespace bouncer
