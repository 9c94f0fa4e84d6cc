// What the layouts of bit filters share.
#pragma once

#include <bouncer/hash.h>
#include <bouncer/result.h>

#include <cstdint>

namespace bouncer::detail {

// The most 64-bit words a filter may have: 2^44, 128 TiB. Index arithmetic is exact far beyond.
inline constexpr std::uint64_t words_most = std::uint64_t{1} << 44;

// A layout that takes any hash.
struct takes_any_hash {
    using default_hasher = xxh3;
    static constexpr hash_spec default_hash() noexcept { return {}; } // prehashed
    static result<void> check_hash(const hash_spec&) noexcept { return {}; }
};

} // namespace bouncer::detail
