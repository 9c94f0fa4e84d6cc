// The AVX-512 kernel on machines without AVX-512: its source, compiled against SIMDe, which imitates the instructions
// in portable C. Only load_block, which is inline assembly there, is replaced by loads of words.
#if defined(__x86_64__) && __has_include(<simde/x86/avx512/set.h>)

#pragma GCC diagnostic ignored "-Wpsabi" // vectors are passed within this file only
#if defined(__clang__)                   // SIMDe multiplies signed lanes that overflow
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
#include <simde/x86/avx512/and.h>
#include <simde/x86/avx512/andnot.h>
#include <simde/x86/avx512/set.h>
#include <simde/x86/avx512/set1.h>
#include <simde/x86/avx512/sllv.h>
#include <simde/x86/avx512/srlv.h>
#include <simde/x86/avx512/test.h>

#include "kernels/reference.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

namespace bouncer::detail {
namespace {

inline __m256i load_block_256(const std::uint64_t* at) noexcept {
    const auto word = [=](int i) { return static_cast<long long>(at[i]); };
    return _mm256_set_epi64x(word(3), word(2), word(1), word(0));
}
inline __m512i load_block_512(const std::uint64_t* at) noexcept {
    const auto word = [=](int i) { return static_cast<long long>(at[i]); };
    return _mm512_set_epi64(word(7), word(6), word(5), word(4), word(3), word(2), word(1), word(0));
}

namespace simde_avx512 {
#include <bouncer/detail/pipeline.inl>

#include "kernels/avx512_blocks.inl"
#include "kernels/split_block.inl"

#include "kernels/block_batch.inl"
} // namespace simde_avx512

} // namespace
} // namespace bouncer::detail

namespace bouncer::test {
namespace {

namespace imitated = detail::simde_avx512;

TEST(imitated_avx512, lanes8_equals_the_specification) {
    const auto run = imitated::query_batch<imitated::lanes8_block>;
    EXPECT_EQ(differences<lanes8_reference>(run, scaled(10'000'000)), 0u);
    EXPECT_EQ(single_bit_differences<lanes8_reference>(run, scaled(200)), 0u);
    EXPECT_EQ(length_differences<lanes8_reference>(run), 0u);
    EXPECT_EQ(extreme_differences<lanes8_reference>(run), 0u);
}

TEST(imitated_avx512, lanes16_equals_the_specification) {
    const auto run = imitated::query_batch<imitated::lanes16_block>;
    EXPECT_EQ(differences<lanes16_reference>(run, scaled(10'000'000)), 0u);
    EXPECT_EQ(single_bit_differences<lanes16_reference>(run, scaled(200)), 0u);
    EXPECT_EQ(length_differences<lanes16_reference>(run), 0u);
    EXPECT_EQ(extreme_differences<lanes16_reference>(run), 0u);
}

TEST(imitated_avx512, split_block_equals_the_specification) {
    const auto run = imitated::query_batch<imitated::split_block>;
    EXPECT_EQ(differences<split_block_reference>(run, scaled(10'000'000)), 0u);
    EXPECT_EQ(single_bit_differences<split_block_reference>(run, scaled(200)), 0u);
    EXPECT_EQ(length_differences<split_block_reference>(run), 0u);
    EXPECT_EQ(extreme_differences<split_block_reference>(run), 0u);
}

} // namespace
} // namespace bouncer::test

#endif
