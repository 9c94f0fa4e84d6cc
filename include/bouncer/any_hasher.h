// any_hasher: one of the hashers of all_hashers.h, chosen at run time: given as itself, by name, or by what a stored filter
// says of its hash. keyed<F, any_hasher> is a filter of keys whose hash a rebuild can change while it serves: from xxh3 to
// siphash13 with a secret key, when somebody has begun to choose keys against it. docs/under_attack.md
//
// What the choice costs: one predicted branch per key, one dispatch per batch. XXH3 stays inline, and a query takes
// up to 7 % longer than with xxh3 as the type; in a loop over integers that is wholly inlined, up to 17 %. Every other hash
// takes one more function call than it would as the type.
#pragma once

#include <bouncer/hash.h>
#include <bouncer/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace bouncer {

// Thread safety: immutable, so any number of threads. Another choice is another any_hasher, in another filter.
template <class List>
class basic_any_hasher {
  public:
    // Its results are those of hash_key, which mixes them where the chosen hasher does not.
    static constexpr bool is_avalanching = true;

    // [any-thread] xxh3 with seed 0.
    basic_any_hasher() noexcept = default;
    // [any-thread] Every hasher of the list converts: keyed<F, any_hasher>::create(goal, siphash13(key)).
    template <detail::listed_in<List> Hasher>
    basic_any_hasher(const Hasher& chosen) noexcept : chosen_(chosen) {}

    // [any-thread] The hasher of a spec. For SipHash the key is needed, and compared by its fingerprint (wrong_key); other
    // hashes take none (invalid_argument). unsupported: prehashed, which has no hasher, and users' own.
    static result<basic_any_hasher> make(const hash_spec& spec,
                                         const std::optional<secret_key>& key = std::nullopt);
    // [any-thread] By name, as the command and the C API do. Without a seed (0) and a key where the hash takes none.
    static result<basic_any_hasher> make(std::string_view name, std::uint64_t seed,
                                         const std::optional<secret_key>& key = std::nullopt);

    // [immutable] As hash_key of the chosen hasher.
    template <hashable_key Key>
    [[gnu::always_inline]] std::uint64_t operator()(const Key& key) const noexcept {
        if (const xxh3* const fast = std::get_if<xxh3>(&chosen_); fast != nullptr) [[likely]]
            return hash_key(*fast, key);
        if constexpr (detail::is_key_scalar<Key>) {
            return by_call(key);
        } else {
            const auto owner = detail::key_bytes(key);
            return by_call(std::span<const std::byte>(owner));
        }
    }
    // [immutable] out[i] = the hash of keys[i]; one dispatch for all. Works on the shorter of the two.
    void batch(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const noexcept;
    // [immutable] work(the chosen hasher, of its own type).
    template <class Work>
    decltype(auto) visit(Work&& work) const {
        return std::visit(std::forward<Work>(work), chosen_);
    }
    // [immutable] That of the chosen hasher, so filters and files do not tell how it was chosen.
    hash_spec spec() const noexcept;

  private:
    // Takes numbers by value, and is pure, for the sake of the fast path: passing the address of a key would cost that a
    // store and a stack frame, and after a call that may write it would load the filter's fields again. Together 0.5 ns.
    template <class Key>
    [[gnu::noinline, gnu::pure]] std::uint64_t by_call(Key key) const noexcept {
        const auto owner = detail::key_bytes(key);
        const std::span<const std::byte> bytes(owner);
        if (const siphash13* const secret = std::get_if<siphash13>(&chosen_); secret != nullptr)
            return (*secret)(bytes);
        return other(bytes);
    }
    [[gnu::pure]] std::uint64_t other(std::span<const std::byte> key) const noexcept;

    static constexpr auto hashes = detail::hash_infos(List{});

    static result<basic_any_hasher> made(const hash_info& hash, std::uint64_t seed,
                                         const std::optional<secret_key>& key);

    typename List::template apply<std::variant> chosen_;
};

} // namespace bouncer
