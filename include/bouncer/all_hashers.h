// The one list of hashes. any_hasher, file headers, the command's --hash, the tests, the fuzz targets and the bench read it
// from here; tests hold the tables of the docs to it.
//
// A hasher of this list has, besides what hash.h asks of a user's own,
//     static constexpr std::uint32_t algorithm: its id, below first_user_hash_id and never reused;
//     static constexpr std::string_view name;
// and is made from nothing, from a seed (a public member `seed`, alone), or from a secret_key (an explicit constructor). The
// list reads from the type which of the three it is.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <bouncer/detail/hash_builtin.h>
#include <bouncer/detail/type_list.h>

namespace bouncer {

// xxh3 is first: any_hasher is that one by default. A type of its own, for short names of what is made of it.
struct all_hashers : type_list<xxh3, xxh64, murmur3, fnv1a, siphash13, siphash24, fnv1> {};

struct hash_info {
    std::uint32_t id = 0;
    std::string_view name;
    unsigned seed_bits = 0; // 0: it takes no seed
    bool takes_key = false;
    bool is_avalanching = false;
};

// Not a hash of keys: the caller brings 64-bit hashes.
inline constexpr hash_info prehashed{.name = "prehashed"};

namespace detail {

template <class Hasher>
consteval hash_info info_of() {
    hash_info out{.id = Hasher::algorithm,
                  .name = Hasher::name,
                  .takes_key = std::is_constructible_v<Hasher, const secret_key&>,
                  .is_avalanching = Hasher::is_avalanching};
    if constexpr (requires { Hasher::seed; }) out.seed_bits = 8 * sizeof(Hasher::seed);
    return out;
}

template <class... Hashers>
consteval auto hash_infos(type_list<Hashers...>) {
    return std::array{info_of<Hashers>()...};
}

// Of the seed and the key, a hasher takes what it can.
template <class Hasher>
Hasher hasher_from(std::uint64_t seed, const secret_key& key) noexcept {
    constexpr hash_info info = info_of<Hasher>();
    if constexpr (info.takes_key) {
        return Hasher(key);
    } else if constexpr (info.seed_bits != 0) {
        return Hasher{static_cast<decltype(Hasher::seed)>(seed)};
    } else {
        return Hasher{};
    }
}

// One of all_hashes, or prehashed; null for every other id.
const hash_info* find_hash(std::uint32_t id) noexcept;

} // namespace detail

// What there is to know of every hash, in the list's order.
inline constexpr auto all_hashes = detail::hash_infos(all_hashers{});
static_assert(detail::distinct(all_hashes));

} // namespace bouncer
