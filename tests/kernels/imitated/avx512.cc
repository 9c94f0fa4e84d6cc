// The AVX-512 kernels on machines without AVX-512; see avx2.cc.
#pragma GCC diagnostic ignored "-Wpsabi" // vectors are passed within this file only
#if defined(__clang__)                   // SIMDe multiplies signed lanes that overflow
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/avx512/mov_mask.h>
#include <simde/x86/avx512/rolv.h>
#include <simde/x86/avx512/rorv.h>
#include <simde/x86/avx512/set.h>
#include <simde/x86/avx512/test.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include <bouncer/detail/bit_ops.h>
#include <bouncer/detail/cell_ops.h>
#include <bouncer/words.h>

#include "kernels/tested_tables.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

// What Debian's SIMDe lacks.
#if !defined(_mm512_maskz_cvtepu8_epi64) && !defined(__AVX512F__)
[[gnu::always_inline]] static inline __m512i imitated_maskz_cvtepu8_epi64(unsigned mask, __m128i bytes) {
    unsigned char each[16];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(each), bytes);
    for (unsigned i = 0; i < 8; ++i)
        if (((mask >> i) & 1) == 0) each[i] = 0;
    return _mm512_set_epi64(each[7], each[6], each[5], each[4], each[3], each[2], each[1], each[0]);
}
#define _mm512_maskz_cvtepu8_epi64(mask, bytes) imitated_maskz_cvtepu8_epi64(mask, bytes)
#endif
#if !defined(__AVX512BW__)
using __mmask8 = simde__mmask8;
using __mmask32 = simde__mmask32;
#define _mm512_kunpackb(high, low) (((high)&0xffu) << 8 | ((low)&0xffu))
#define _mm512_kunpackw(high, low) (((high)&0xffffu) << 16 | ((low)&0xffffu))
#define _mm512_kunpackd(high, low) (std::uint64_t{high} << 32 | std::uint32_t{low})
#endif

#define BOUNCER_LOAD_BY_WORD 1
#define BOUNCER_TARGET_AVX512
#define BOUNCER_VECTOR
#define IMITATED_LINES <bouncer/detail/lines_avx512.inl>

namespace bouncer::detail {
namespace {

#include "kernels/imitated/table.inl"

const bool listed =
    (test::imitated_tables().push_back({"imitated avx512", &imitated_bits, &imitated_cells}), true);

TEST(imitated_avx512, is_among_the_tables) {
    EXPECT_TRUE(listed);
    for (const auto& each : test::all_tables())
        if (each.bits == &imitated_bits) return;
    FAIL();
}

} // namespace
} // namespace bouncer::detail
