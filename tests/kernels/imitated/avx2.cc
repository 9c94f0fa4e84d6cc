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

#include <bouncer/detail/bit_ops.h>
#include <bouncer/detail/cell_ops.h>
#include <bouncer/words.h>

#include "kernels/tested_tables.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#define BOUNCER_LOAD_BY_WORD 1
#define BOUNCER_VECTOR
#define IMITATED_LINES <bouncer/detail/lines_avx2.inl>

namespace bouncer::detail {
namespace {

#include "kernels/imitated/table.inl"

const bool listed =
    (test::imitated_tables().push_back({"imitated avx2", &imitated_bits, &imitated_cells}), true);

TEST(imitated_avx2, is_among_the_tables) {
    EXPECT_TRUE(listed);
    for (const auto& each : test::all_tables())
        if (each.bits == &imitated_bits) return;
    FAIL();
}

} // namespace
} // namespace bouncer::detail
