// XXH3 with vectors of 32 bytes, for processors with AVX2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

#if defined(__x86_64__)
// Precondition: active_isa() is not scalar.
std::uint64_t xxh3_wide(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;
#endif

} // namespace bouncer::detail
