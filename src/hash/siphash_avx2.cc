#if defined(__x86_64__)

#include "hash/siphash_four.h"

#include <bouncer/detail/hash_load.h>

#include <immintrin.h>

#define BOUNCER_TARGET_AVX2
#include "base/target_begin.h"

namespace bouncer::detail {
namespace {

struct four_words {
    __m256i lanes;
};

template <class Lanes>
[[gnu::always_inline]] inline Lanes all(std::uint64_t word) noexcept {
    return {_mm256_set1_epi64x(static_cast<long long>(word))};
}
[[gnu::always_inline]] inline four_words add(four_words a, four_words b) noexcept {
    return {_mm256_add_epi64(a.lanes, b.lanes)};
}
[[gnu::always_inline]] inline four_words operator^(four_words a, four_words b) noexcept {
    return {_mm256_xor_si256(a.lanes, b.lanes)};
}
// There is no rotation before AVX-512; by whole bytes it is one shuffle.
template <int Count>
[[gnu::always_inline]] inline four_words rotate(four_words words) noexcept {
    if constexpr (Count == 32) {
        return {_mm256_shuffle_epi32(words.lanes, 0xb1)};
    } else if constexpr (Count == 16) {
        const __m256i bytes = _mm256_setr_epi64x(0x0504030201000706, 0x0d0c0b0a09080f0e, 0x0504030201000706,
                                                 0x0d0c0b0a09080f0e);
        return {_mm256_shuffle_epi8(words.lanes, bytes)};
    } else {
        return {_mm256_or_si256(_mm256_slli_epi64(words.lanes, Count),
                                _mm256_srli_epi64(words.lanes, 64 - Count))};
    }
}

#include "hash/siphash.inl"

[[gnu::always_inline]] inline four_words side_by_side(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                                      std::uint64_t d) noexcept {
    return {_mm256_setr_epi64x(static_cast<long long>(a), static_cast<long long>(b),
                               static_cast<long long>(c), static_cast<long long>(d))};
}

template <int PerWord, int ToFinish>
[[gnu::always_inline]] inline void four_hashes(std::uint64_t k0, std::uint64_t k1, const key_piece* keys,
                                               std::uint64_t* out) noexcept {
    siphash_state<four_words> state(all<four_words>(k0), all<four_words>(k1));
    const std::size_t bytes = keys[0].size / 8 * 8;
    for (std::size_t at = 0; at < bytes; at += 8)
        state.absorb<PerWord>(side_by_side(load_le64(keys[0].data + at), load_le64(keys[1].data + at),
                                           load_le64(keys[2].data + at), load_le64(keys[3].data + at)));
    state.absorb<PerWord>(side_by_side(siphash_last_word(keys[0]), siphash_last_word(keys[1]),
                                       siphash_last_word(keys[2]), siphash_last_word(keys[3])));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), state.finish<ToFinish>().lanes);
}

} // namespace

void siphash13_four(std::uint64_t k0, std::uint64_t k1, const key_piece* pieces,
                    std::uint64_t* out) noexcept {
    four_hashes<1, 3>(k0, k1, pieces, out);
}
void siphash24_four(std::uint64_t k0, std::uint64_t k1, const key_piece* pieces,
                    std::uint64_t* out) noexcept {
    four_hashes<2, 4>(k0, k1, pieces, out);
}

} // namespace bouncer::detail

#include "base/target_end.h"

#endif
