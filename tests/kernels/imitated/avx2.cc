// The AVX2 kernels on machines without AVX2: their source, compiled against SIMDe, which imitates the instructions in
// portable C, as one more table for equality_test.cc. Lines are loaded by words, as under the checkers.
#pragma GCC diagnostic ignored "-Wpsabi" // vectors are passed within this file only
#if defined(__clang__)                   // SIMDe multiplies signed lanes that overflow
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/kernels.h>

#include "kernels/tested_tables.h"

#include <gtest/gtest.h>

#include <cstdint>

// Debian's SIMDe answers 1 as soon as one 64-bit lane of a half is zero.
#if !defined(__AVX__)
static inline int imitated_testz(__m256i a, __m256i b) {
    std::uint64_t both[4];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(both), _mm256_and_si256(a, b));
    return (both[0] | both[1] | both[2] | both[3]) == 0;
}
#undef _mm256_testz_si256
#define _mm256_testz_si256(a, b) imitated_testz(a, b)
#endif

#define BOUNCER_LOAD_BY_WORD 1

namespace bouncer::detail {
namespace {

namespace imitated {
#include <bouncer/detail/load_block.h>
#include <bouncer/detail/pipeline.inl>

#include <bouncer/detail/avx2_lines.inl>
} // namespace imitated

#include "kernels/imitated/table.inl"

const bool listed = (test::imitated_tables().push_back({"imitated avx2", &imitated::table, 8}), true);

TEST(imitated_avx2, is_among_the_tables) {
    EXPECT_TRUE(listed);
    for (const auto& each : test::all_tables())
        if (each.table == &imitated::table) return;
    FAIL();
}

} // namespace
} // namespace bouncer::detail
