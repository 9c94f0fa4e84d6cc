// The AVX-512 kernels on machines without AVX-512; see avx2.cc.
#pragma GCC diagnostic ignored "-Wpsabi" // vectors are passed within this file only
#if defined(__clang__)                   // SIMDe multiplies signed lanes that overflow
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
#include <simde/x86/avx512/set.h>

#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/kernels.h>

#include "kernels/tested_tables.h"

#include <gtest/gtest.h>

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

#define BOUNCER_LOAD_BY_WORD 1
#define BOUNCER_TARGET_AVX512

namespace bouncer::detail {
namespace {

namespace imitated {
#include <bouncer/detail/load_block.h>
#include <bouncer/detail/pipeline.inl>

#include <bouncer/detail/avx512_lines.inl>
} // namespace imitated

#include "kernels/imitated/table.inl"

const bool listed = (test::imitated_tables().push_back({"imitated avx512", &imitated::table, 8}), true);

TEST(imitated_avx512, is_among_the_tables) {
    EXPECT_TRUE(listed);
    for (const auto& each : test::all_tables())
        if (each.table == &imitated::table) return;
    FAIL();
}

} // namespace
} // namespace bouncer::detail
