// Unaligned little-endian loads: all hashes read their input by these, and so agree on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bouncer::detail {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big,
              "bouncer knows little-endian and big-endian machines only");

inline std::uint32_t load_le32(const std::byte* from) noexcept {
    std::uint32_t word;
    std::memcpy(&word, from, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
    return word;
}

inline std::uint64_t load_le64(const std::byte* from) noexcept {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

// Zero to seven bytes, zeros above. `eight_before_end`: the eight bytes that end with them may be read, which
// makes one load of it instead of one per byte.
inline std::uint64_t load_le_tail(const std::byte* from, std::size_t count, bool eight_before_end) noexcept {
    if (count == 0) return 0;
    if (eight_before_end) return load_le64(from + count - 8) >> (64 - 8 * count);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) word |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    return word;
}

} // namespace bouncer::detail
