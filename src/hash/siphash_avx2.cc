#if defined(__x86_64__)

#include "hash/siphash_four.h"

#include <bouncer/detail/hash_load.h>

#include <immintrin.h>

#define BOUNCER_TARGET_AVX2
#include "base/target_begin.h"

namespace bouncer::detail {
namespace {

using four_words [[gnu::vector_size(32)]] = std::uint64_t;

// There is no rotation before AVX-512; by whole bytes it is one shuffle.
template <int Count>
[[gnu::always_inline]] inline four_words rotate(four_words words) noexcept {
    if constexpr (Count == 32) {
        return four_words(_mm256_shuffle_epi32(__m256i(words), 0xb1));
    } else if constexpr (Count == 16) {
        const __m256i bytes = _mm256_setr_epi64x(0x0504030201000706, 0x0d0c0b0a09080f0e, 0x0504030201000706,
                                                 0x0d0c0b0a09080f0e);
        return four_words(_mm256_shuffle_epi8(__m256i(words), bytes));
    } else {
        return words << Count | words >> (64 - Count);
    }
}

#include "hash/siphash.inl"

} // namespace

template <int PerWord, int ToFinish>
void siphash_four(std::uint64_t k0, std::uint64_t k1, const key_piece* pieces, std::uint64_t* out) noexcept {
    const auto each = [&](auto word) {
        return four_words{word(pieces[0]), word(pieces[1]), word(pieces[2]), word(pieces[3])};
    };
    const four_words hashes =
        siphash<PerWord, ToFinish>(four_words{} + k0, four_words{} + k1, pieces[0].size / 8, each);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), __m256i(hashes));
}

template void siphash_four<1, 3>(std::uint64_t, std::uint64_t, const key_piece*, std::uint64_t*) noexcept;
template void siphash_four<2, 4>(std::uint64_t, std::uint64_t, const key_piece*, std::uint64_t*) noexcept;

} // namespace bouncer::detail

#include "base/target_end.h"

#endif
