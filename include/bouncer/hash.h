// Hashing of keys: hash_key(hasher, key) is the one way from a key of any form to the 64 bits a filter sees.
//
// No allocation, no virtual call and no std::function on any path. Hashers are values without state that
// changes: one may be used by any number of threads at once.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include <bouncer/all_hashers.h>
#include <bouncer/detail/bits.h>
#include <bouncer/detail/hash_key_bytes.h>
#include <bouncer/detail/hash_spec.h>

namespace bouncer {

// any_hasher.h: one of a list, chosen at run time.
template <class List>
class basic_any_hasher;
using any_hasher = basic_any_hasher<all_hashers>;

namespace detail {

template <class Hasher>
concept builtin_hasher = listed_in<Hasher, all_hashers>;

template <class Hasher>
inline constexpr bool is_any_hasher = false;
template <class List>
inline constexpr bool is_any_hasher<basic_any_hasher<List>> = true;

template <class Hasher>
concept library_hasher = builtin_hasher<Hasher> || is_any_hasher<Hasher>;

// Handed on as published although it does not avalanche: the bits of files that others wrote depend on it.
template <class Hasher>
concept passed_unmixed = builtin_hasher<Hasher> && requires {
    requires Hasher::passed_unmixed;
};

// `static constexpr std::uint32_t algorithm`, at least first_user_hash_id.
template <class Hasher>
concept user_hasher = std::is_same_v<decltype(Hasher::algorithm), const std::uint32_t> &&
                      Hasher::algorithm >= first_user_hash_id;

template <class Hasher>
concept known_hasher = library_hasher<Hasher> || user_hasher<Hasher>;

// 64 bits or nothing: a 32-bit hash spoils the rate of any filter beyond about 100 million keys.
template <class T>
concept hash_value = std::unsigned_integral<T> && sizeof(T) == 8;

template <class Hasher, class Argument>
concept hashes = std::is_nothrow_invocable_v<const Hasher&, const Argument&> &&
    hash_value<std::invoke_result_t<const Hasher&, const Argument&>>;

// The conversion of a char pointer to std::string_view is not noexcept, so text is handed over as a view.
template <class Hasher, class Key>
concept hashes_text = text<Key> && hashes<Hasher, std::string_view>;

template <class Hasher, class Key>
concept hashes_bytes = hashable_key<Key> && hashes<Hasher, std::span<const std::byte>>;

// Hashers that take many keys at once, of keys that are bytes in memory: not what only converts to text, which may make
// it in one buffer for all.
template <class Hasher, class Key>
concept hashes_pieces = builtin_hasher<Hasher> && byte_range<Key> && !is_character_array<Key> &&
                        requires(const Hasher& hasher, const key_piece* pieces, std::uint64_t* out) {
    hasher.batch(pieces, std::size_t{}, out);
};

template <class Hasher>
consteval bool avalanches() {
    if constexpr (requires { typename Hasher::is_avalanching; }) {
        if constexpr (requires { bool{Hasher::is_avalanching::value}; }) return Hasher::is_avalanching::value;
        return true;
    } else if constexpr (requires { bool{Hasher::is_avalanching}; }) {
        return Hasher::is_avalanching;
    }
    return false;
}

} // namespace detail

// Hashers that may hash Key: a built-in one or any_hasher for any hashable_key; a user's own if it declares
//     static constexpr std::uint32_t algorithm = 0x80000000 or more;
// and its call operator is const, noexcept and returns 64 bits, and takes (the first that fits)
//     a Key, of any type, a struct too;
//     text, as std::string_view;
//     a hashable_key, as std::span<const std::byte>.
// It may also have is_avalanching, see below, and
//     hash_spec spec() const;
// of which the seed or fingerprint is used (without it, 0). A hasher with a seed needs it, or filters of
// different seeds pass for the same.
template <class Hasher, class Key>
concept hasher_for = (detail::library_hasher<Hasher> && hashable_key<Key>) ||
                     (detail::user_hasher<Hasher> &&
                      (detail::hashes<Hasher, Key> || detail::hashes_text<Hasher, Key> ||
                       detail::hashes_bytes<Hasher, Key>));

// Whether every input bit reaches every bit of Hasher's result. A hasher says so by `static constexpr bool
// is_avalanching = true` or by a nested type of that name (`using is_avalanching = void`, as for Boost and
// ankerl; a std::false_type says no). Without it the result passes mix64 (but that of fnv1 does not), two multiplies, so that even the
// identity of sequential integers keeps the false-positive rate. Declaring it of a hash that does not
// breaks the rate silently.
template <class Hasher>
inline constexpr bool hash_is_avalanching = detail::avalanches<Hasher>();

// [any-thread] The 64 bits that stand for the key in a filter. They are the same on every machine for the
// built-in hashers, and part of every stored filter.
template <class Hasher, class Key>
requires hasher_for<Hasher, Key>
[[gnu::always_inline]] inline std::uint64_t hash_key(const Hasher& hasher, const Key& key) noexcept {
    std::uint64_t hash;
    if constexpr (detail::is_any_hasher<Hasher> ||
                  (detail::user_hasher<Hasher> && detail::hashes<Hasher, Key>)) {
        hash = hasher(key);
    } else {
        const auto owner = detail::key_bytes(key);
        const std::span<const std::byte> bytes(owner);
        if constexpr (detail::user_hasher<Hasher> && detail::hashes_text<Hasher, Key>) {
            hash = hasher(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        } else {
            hash = hasher(bytes);
        }
    }
    if constexpr (!hash_is_avalanching<Hasher> && !detail::passed_unmixed<Hasher>) hash = detail::mix64(hash);
    return hash;
}

// [any-thread] out[i] = hash_key(hasher, keys[i]) for a vector, array or span of keys. Works on the shorter of the two.
template <class Hasher, class Keys>
requires std::ranges::contiguous_range<const Keys> && std::ranges::sized_range<const Keys> &&
    hasher_for<Hasher, std::ranges::range_value_t<const Keys>>
void hash_batch(const Hasher& hasher, const Keys& keys, std::span<std::uint64_t> out) noexcept {
    const auto* const first = std::ranges::data(keys);
    const std::size_t count = std::min<std::size_t>(std::ranges::size(keys), out.size());
    if constexpr (detail::is_any_hasher<Hasher>) {
        hasher.visit([&](const auto& chosen) { hash_batch(chosen, keys, out); });
    } else if constexpr (detail::hashes_pieces<Hasher, std::ranges::range_value_t<const Keys>>) {
        constexpr std::size_t most = 64;
        detail::key_piece pieces[most];
        for (std::size_t done = 0; done < count; done += most) {
            const std::size_t some = std::min(most, count - done);
            for (std::size_t i = 0; i < some; ++i) {
                const std::span<const std::byte> bytes = detail::key_bytes(first[done + i]);
                pieces[i] = {bytes.data(), bytes.size()};
            }
            hasher.batch(pieces, some, out.data() + done);
        }
    } else {
        for (std::size_t i = 0; i < count; ++i) out[i] = hash_key(hasher, first[i]);
    }
}

// [any-thread] What identifies the hasher in a stored filter. The algorithm is the one that a user's hasher declares; of
// any_hasher it is the chosen one's.
template <detail::known_hasher Hasher>
hash_spec spec_of(const Hasher& hasher) noexcept {
    if constexpr (detail::library_hasher<Hasher>) {
        return hasher.spec();
    } else if constexpr (requires { hasher.spec(); }) {
        const hash_spec spec = hasher.spec();
        return {Hasher::algorithm, spec.seed_or_fingerprint};
    } else {
        return {Hasher::algorithm, 0};
    }
}

} // namespace bouncer
