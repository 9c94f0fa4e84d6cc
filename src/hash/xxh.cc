// XXH3 and XXH64 of keys beyond the inline limit. libxxhash's code is compiled in, so nothing needs libxxhash.so.
#include <bouncer/detail/hash_xxh.h>
#include <bouncer/detail/isa.h>

#include "hash/libxxhash.h"

namespace bouncer::detail {

std::uint64_t xxh3_long(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept {
    if (size <= xxh_inline_bytes)
        __builtin_unreachable(); // spares the library its own branches for short keys
#if defined(__x86_64__)
    constexpr std::size_t scalar_bytes = 240; // up to here XXH3 uses no vectors
    if (size > scalar_bytes && active_isa() != isa::scalar) return xxh3_wide(data, size, seed);
#endif
    return XXH3_64bits_withSeed(data, size, seed);
}

std::uint64_t xxh64_long(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept {
    return XXH64(data, size, seed);
}

} // namespace bouncer::detail
