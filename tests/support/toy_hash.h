// The list of hashes with one more. A toy is in no file of the library, so its id is a user's.
#pragma once

#include <bouncer/hash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bouncer::test {

struct toy_hash {
    std::uint16_t seed = 0;

    static constexpr std::uint32_t algorithm = first_user_hash_id + 7;
    static constexpr std::string_view name = "toy";
    static constexpr bool is_avalanching = false;

    hash_spec spec() const noexcept { return {algorithm, seed}; }
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept { return key.size() + seed; }
};

template <class... Hashers>
type_list<Hashers..., toy_hash> with_toy(type_list<Hashers...>);
using all_hashers_and_toy = decltype(with_toy(all_hashers{}));

inline constexpr auto all_hashes_and_toy = bouncer::detail::hash_infos(all_hashers_and_toy{});

} // namespace bouncer::test
