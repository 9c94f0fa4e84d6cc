// Numbers in files: little-endian, at any address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

template <class T>
void put(std::byte* to, T value) noexcept {
    for (std::size_t i = 0; i < sizeof value; ++i)
        to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}
template <class T>
T get(const std::byte* from) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    return static_cast<T>(value);
}

} // namespace bouncer::detail
