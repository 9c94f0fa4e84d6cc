// probe<Form> as the including file is compiled: with the vector unit inline where it has one (-march=native and the like).
// probes_inline<Form> says whether that is the best there is, or whether the library's table (bit_ops.h) may have better.
//
// What is compiled for a vector unit is always inlined and in a namespace of its own. That protects these functions, not the
// inline functions of a filter that they end up in: as with every header-only code, all files of a program that use
// filters should be compiled for the same instruction set, or the linker may keep a copy that an older processor cannot
// run. BOUNCER_ISA does not reach code that is compiled for a vector unit itself.
#pragma once

#include <bouncer/detail/bit_ops.h>
#include <bouncer/words.h>

#include <array>
#include <bit>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#define BOUNCER_VECTOR
#endif

namespace bouncer::detail {

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
inline namespace for_avx512 {
#define BOUNCER_TARGET_AVX512
#include <bouncer/detail/load_block.inl>

#include <bouncer/detail/lines_pair.inl>

#include <bouncer/detail/lines_avx512.inl>

#include <bouncer/detail/probes.inl>
#undef BOUNCER_TARGET_AVX512
template <class Form>
inline constexpr bool probes_inline = true;
} // namespace for_avx512
#elif defined(__AVX2__)
inline namespace for_avx2 {
#include <bouncer/detail/load_block.inl>

#include <bouncer/detail/lines_pair.inl>

#include <bouncer/detail/lines_avx2.inl>

#include <bouncer/detail/probes.inl>
template <class Form>
inline constexpr bool probes_inline = true;
} // namespace for_avx2
#else
inline namespace by_specification {
#include <bouncer/detail/probes.inl>
#if defined(__x86_64__)
template <class Form>
inline constexpr bool probes_inline =
    Form::block_words == 0; // one bit here, one there: nothing to win from vectors
#else
template <class Form>
inline constexpr bool probes_inline = true;
#endif
} // namespace by_specification
#endif

} // namespace bouncer::detail

#undef BOUNCER_VECTOR
#undef BOUNCER_INLINE
