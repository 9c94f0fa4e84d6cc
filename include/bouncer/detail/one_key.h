// One key and its line: inline where the including code is compiled for AVX2 or AVX-512, through a pointer to the
// library's kernel elsewhere on x86-64, and by the specification on other machines.
//
// What is compiled for AVX2 is always inlined and in a namespace of its own. That protects these functions, not the
// inline functions of a filter that they end up in: as with every header-only code, all files of a program that use
// filters should be compiled for the same instruction set, or the linker may keep a copy that an older processor cannot
// run. BOUNCER_ISA does not reach code that is compiled for AVX2 itself.
#pragma once

#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/kernels.h>

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bouncer::detail {

// The specification of lanes8 and lanes16: bit w of the j-th eight lanes from byte w of position word j.
inline bool lanes_cover(const std::uint64_t* block, std::uint64_t hash, std::size_t lines) noexcept {
    std::uint64_t missing = 0;
    for (std::size_t line = 0; line < lines; ++line) {
        const std::uint64_t positions = position_word(hash, line);
        for (std::size_t w = 0; w < 8; ++w)
            missing |= byte_bit(positions, w) & ~__atomic_load_n(block + 8 * line + w, __ATOMIC_RELAXED);
    }
    return missing == 0;
}

// [exclusive] Returns whether a bit was zero.
inline bool lanes_set(std::uint64_t* block, std::uint64_t hash, std::size_t lines) noexcept {
    std::uint64_t missing = 0;
    for (std::size_t line = 0; line < lines; ++line) {
        const std::uint64_t positions = position_word(hash, line);
        for (std::size_t w = 0; w < 8; ++w) {
            const std::uint64_t bit = byte_bit(positions, w);
            missing |= bit & ~block[8 * line + w];
            block[8 * line + w] |= bit;
        }
    }
    return missing != 0;
}

// The two words of sectors2 and their bits; `bits` of each, 1 to 8.
struct two_sectors {
    std::uint64_t word[2]; // in the line
    std::uint64_t bits[2];
};

#if defined(__AVX2__)

#if defined(__AVX512F__) && defined(__AVX512DQ__)
inline namespace for_avx512 {
#define BOUNCER_TARGET_AVX512
#include <bouncer/detail/load_block.h>

#include <bouncer/detail/avx512_lines.inl>
#undef BOUNCER_TARGET_AVX512
#else
inline namespace for_avx2 {
#include <bouncer/detail/load_block.h>

#include <bouncer/detail/avx2_lines.inl>
#endif

[[gnu::always_inline]] inline bool lanes8_covered(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return all_set(line_bits(block, spread(turned(position_word(hash, 0)))));
}
[[gnu::always_inline]] inline bool lanes16_covered(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes8_covered(block, hash) &&
           all_set(line_bits(block + 8, spread(turned(position_word(hash, 1)))));
}

[[gnu::always_inline]] inline bool set_lanes8(std::uint64_t* block, std::uint64_t hash) noexcept {
    return !all_set(line_add(block, spread(turned(position_word(hash, 0)))));
}
[[gnu::always_inline]] inline bool set_lanes16(std::uint64_t* block, std::uint64_t hash) noexcept {
    const bool first = set_lanes8(block, hash);
    return !all_set(line_add(block + 8, spread(turned(position_word(hash, 1))))) || first;
}

// Both words at once, and a bit of each at a time. The number of bits is not known to the compiler, so that one short
// function serves all; a function for each number, behind a jump, took 1.3 times as long.
[[gnu::always_inline]] inline __m128i both(std::uint64_t first, std::uint64_t second) noexcept {
    return _mm_set_epi64x(static_cast<long long>(second), static_cast<long long>(first));
}
[[gnu::always_inline]] inline __m128i lowest_positions(__m128i positions) noexcept {
    return _mm_and_si128(positions, _mm_set1_epi64x(63));
}
[[gnu::always_inline]] inline bool sectors2_covered(const std::uint64_t* line, std::uint64_t hash,
                                                    std::uint32_t bits) noexcept {
    const std::uint64_t first = position_word(hash, 0);
    const std::uint64_t second = position_word(hash, 1);
    const __m128i words = both(__atomic_load_n(line + (first >> 62), __ATOMIC_RELAXED),
                               __atomic_load_n(line + 4 + (second >> 62), __ATOMIC_RELAXED));
    __m128i at = both(turned(first), turned(second));
    __m128i set = _mm_set1_epi64x(-1);
#pragma GCC unroll 1
    for (std::uint32_t i = 0; i < bits; ++i, at = _mm_srli_epi64(at, 8))
        set = _mm_and_si128(set, _mm_sllv_epi64(words, lowest_positions(at)));
    return _mm_movemask_pd(_mm_castsi128_pd(set)) == 3;
}
[[gnu::always_inline]] inline two_sectors two_sectors_of(std::uint64_t hash, std::uint32_t bits) noexcept {
    const std::uint64_t first = position_word(hash, 0);
    const std::uint64_t second = position_word(hash, 1);
    __m128i at = both(first, second);
    __m128i set = _mm_setzero_si128();
#pragma GCC unroll 1
    for (std::uint32_t i = 0; i < bits; ++i, at = _mm_srli_epi64(at, 8))
        set = _mm_or_si128(set, _mm_sllv_epi64(_mm_set1_epi64x(1), lowest_positions(at)));
    return {{first >> 62, 4 + (second >> 62)},
            {static_cast<std::uint64_t>(_mm_cvtsi128_si64(set)),
             static_cast<std::uint64_t>(_mm_extract_epi64(set, 1))}};
}

} // inline namespace

#elif defined(__x86_64__)

inline bool lanes8_covered(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return active_lanes8_covers.load(std::memory_order_relaxed)(block, hash);
}
inline bool lanes16_covered(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return active_lanes16_covers.load(std::memory_order_relaxed)(block, hash);
}
inline bool set_lanes8(std::uint64_t* block, std::uint64_t hash) noexcept {
    return active_lanes8_set.load(std::memory_order_relaxed)(block, hash);
}
inline bool set_lanes16(std::uint64_t* block, std::uint64_t hash) noexcept {
    return active_lanes16_set.load(std::memory_order_relaxed)(block, hash);
}

#else

inline bool lanes8_covered(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_cover(block, hash, 1);
}
inline bool lanes16_covered(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_cover(block, hash, 2);
}
inline bool set_lanes8(std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_set(block, hash, 1);
}
inline bool set_lanes16(std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_set(block, hash, 2);
}

#endif

#if !defined(__AVX2__)

inline two_sectors two_sectors_of(std::uint64_t hash, std::uint32_t bits) noexcept {
    const sector first = sector_of(hash, 2, 0, bits);
    const sector second = sector_of(hash, 2, 1, bits);
    return {{first.word, second.word}, {first.bits, second.bits}};
}
inline bool sectors2_covered(const std::uint64_t* line, std::uint64_t hash, std::uint32_t bits) noexcept {
    const two_sectors at = two_sectors_of(hash, bits);
    return ((at.bits[0] & ~__atomic_load_n(line + at.word[0], __ATOMIC_RELAXED)) |
            (at.bits[1] & ~__atomic_load_n(line + at.word[1], __ATOMIC_RELAXED))) == 0;
}

#endif

} // namespace bouncer::detail
