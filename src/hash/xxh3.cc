// XXH3 of keys beyond the inline limit. libxxhash's code is compiled in, so nothing needs libxxhash.so.
#include <bouncer/detail/hash_xxh.h>
#include <bouncer/detail/isa.h>

#include "hash/xxh3_wide.h"

// In a build for AVX-512 g++ 12 warns about undefined registers in xxHash's code for it. AVX2 loses nothing: xxh3_wide,
// which takes the long keys, uses it too.
#if defined(__AVX512F__)
#define XXH_VECTOR 2 // XXH_AVX2
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

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

} // namespace bouncer::detail
