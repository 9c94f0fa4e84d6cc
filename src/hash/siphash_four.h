// Four keys side by side, for processors with AVX2.
#pragma once

#include <bouncer/detail/hash_builtin.h>

namespace bouncer::detail {

// out[i] = the hash of pieces[i], i < 4. Precondition: all have equally many whole words, size / 8.
using siphash_four = void(std::uint64_t k0, std::uint64_t k1, const key_piece* pieces,
                          std::uint64_t* out) noexcept;

#if defined(__x86_64__)
siphash_four siphash13_four;
siphash_four siphash24_four;
#endif

} // namespace bouncer::detail
