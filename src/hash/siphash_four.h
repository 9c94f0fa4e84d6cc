// Four keys side by side, for processors with AVX2.
#pragma once

#include <bouncer/detail/hash_builtin.h>

namespace bouncer::detail {

// out[i] = the hash of pieces[i], i < 4. Precondition: all have equally many whole words, size / 8.
template <int PerWord, int ToFinish>
void siphash_four(std::uint64_t k0, std::uint64_t k1, const key_piece* pieces, std::uint64_t* out) noexcept;

} // namespace bouncer::detail
