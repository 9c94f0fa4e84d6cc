// XXH64 of keys beyond the inline limit. libxxhash's code is compiled in, so nothing needs libxxhash.so.
#include <bouncer/detail/hash_xxh.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bouncer::detail {

std::uint64_t xxh64_long(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept {
    return XXH64(data, size, seed);
}

} // namespace bouncer::detail
