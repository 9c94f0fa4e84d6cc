// MurmurHash3_x64_128 (Austin Appleby, public domain): both halves, for the tests; filters use the first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

struct murmur3_halves {
    std::uint64_t h1;
    std::uint64_t h2;
};

murmur3_halves murmur3_x64_128(const std::byte* data, std::size_t size, std::uint32_t seed) noexcept;

} // namespace bouncer::detail
