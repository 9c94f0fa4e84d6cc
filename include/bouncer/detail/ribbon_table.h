// How a ribbon lies in words, and how a hash is looked up in it. This scalar code is the specification.
//
// A shard has four layers. Each is a table of `slots` rows of `columns` bits; a key starts at one slot and its
// coefficients, 64 bits of which the first is set, say which of the 64 rows from there on are xored: the result is the
// key's fingerprint. Starts lie in buckets of 128; a code of two bits per bucket says how many of its first starts were
// bumped, that is left to the next layer. The last layer bumps nobody.
//
// Words of a shard: the codes of layers 0 to 2, one after the other, filled up to a line; then the layers' rows, column by
// column: a block is 64 rows, a word for each column. The first `narrow` part of a layer's blocks has a column less, by
// which a rate between two powers of two costs what it must.
#pragma once

#include <bouncer/detail/bits.h>

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bouncer::detail::ribbon {

inline constexpr std::size_t layers = 4;
inline constexpr std::uint64_t width = 64; // coefficients of a key
inline constexpr std::uint64_t bucket_starts = 128;
inline constexpr std::uint64_t entry_words = 4;
// At the end of the filter: columns are read by eights.
inline constexpr std::uint64_t spare_words = 8;
// By code: starts below this in their bucket were bumped. 18 and 39 were found best by building sets of 100k to 1M keys
// with thresholds of 14 to 26 and 30 to 64: 0.24 % of space above the bound with 8 columns, 0.29 % with 14 and 30.
inline constexpr std::array<std::uint32_t, 4> bumped_below = {128, 39, 18, 0};

// A directory entry as it is stored:
//   word 0  place of the shard's first word (48 bits), attempt of the last layer (8 bits)
//   word 1  slots of layers 0 and 1 (32 bits each)   word 2  of layers 2 and 3
//   word 3  words of codes, filled up to a line
struct shard_view {
    const std::uint64_t* entry;

    std::uint64_t place() const noexcept { return entry[0] & ((std::uint64_t{1} << 48) - 1); }
    std::uint64_t attempt() const noexcept { return entry[0] >> 48; }
    std::uint64_t slots(std::size_t layer) const noexcept {
        return entry[1 + layer / 2] >> (32 * (layer % 2)) & 0xffffffffu;
    }
    std::uint64_t code_words() const noexcept { return entry[3]; }
};

constexpr std::uint64_t starts_of(std::uint64_t slots) noexcept {
    return slots - (width - 1);
}
constexpr std::uint64_t code_words_of(std::uint64_t slots) noexcept {
    if (slots == 0) return 0;
    return (starts_of(slots) + 32 * bucket_starts - 1) / (32 * bucket_starts);
}

// Rows in columns: `columns` words per block, one less for the first blocks, as many as hold at most the part
// `narrow` / 2^32 of the starts. (Not of the blocks: the last one has a single start, so that small filters would have
// more narrow keys than they may.)
struct row_shape {
    std::uint32_t columns;
    std::uint32_t narrow;

    constexpr std::uint64_t narrow_blocks(std::uint64_t slots) const noexcept {
        return slots == 0 ? 0 : starts_of(slots) * narrow >> (32 + 6); // both below 2^32
    }
    constexpr std::uint64_t words_of(std::uint64_t slots) const noexcept {
        return slots / 64 * columns - narrow_blocks(slots);
    }
};

// What stands for a key in a layer. `key` is the seeded hash in layer 0.
constexpr std::uint64_t coefficients_of(std::uint64_t key) noexcept {
    return mul_fold(key ^ 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u) | 1;
}
constexpr std::uint64_t fingerprint_of(std::uint64_t key) noexcept {
    return mul_fold(key ^ 0xc2b2ae3d27d4eb4fu, 0xa0761d6478bd642fu);
}
// The same key in the next layer. Bijective, so keys stay distinct.
constexpr std::uint64_t next_key(std::uint64_t key, std::size_t layer, std::uint64_t attempt) noexcept {
    return mix64(key + 0x9e6c63d0876a9a47u * (layer + 1) +
                 (layer == layers - 2 ? 0x8cb92ba72f3d8dd7u * attempt : 0));
}

// Where a key is looked up.
struct location {
    const std::uint64_t* block; // of its start
    std::uint32_t columns;      // that count: also the words to the next block
    std::uint32_t shift;        // of the start in its block
    std::uint64_t key;
};

constexpr std::uint32_t code_at(const std::uint64_t* codes, std::uint64_t bucket) noexcept {
    return static_cast<std::uint32_t>(codes[bucket / 32] >> (bucket % 32 * 2) & 3);
}

constexpr location locate(const std::uint64_t* rows, std::uint64_t slots, const row_shape& shape,
                          std::uint64_t start, std::uint64_t key) noexcept {
    const std::uint64_t block = start / 64;
    const std::uint64_t narrow = shape.narrow_blocks(slots);
    const bool is_narrow = block < narrow;
    const std::uint32_t columns = shape.columns - is_narrow;
    return {rows + block * shape.columns - (is_narrow ? block : narrow), columns,
            static_cast<std::uint32_t>(start % 64), key};
}

// Bit i: the parity of (here[i] & low) ^ (next[i] & high), for eight columns.
[[gnu::always_inline]] inline std::uint32_t eight_parities(const std::uint64_t* here,
                                                           const std::uint64_t* next, std::uint64_t low,
                                                           std::uint64_t high) noexcept {
#if defined(__SSE2__)
    const __m128i lows = _mm_set1_epi64x(static_cast<long long>(low));
    const __m128i highs = _mm_set1_epi64x(static_cast<long long>(high));
    const auto pair = [&](int i) __attribute__((always_inline)) {
        return _mm_castsi128_ps(
            _mm_xor_si128(_mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(here) + i), lows),
                          _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(next) + i), highs)));
    };
    // Halves xored until one bit is left: four columns to 32 bits each, eight to 16, then within 16.
    const auto four = [&](__m128 a, __m128 b) __attribute__((always_inline)) {
        const __m128i sum = _mm_castps_si128(_mm_xor_ps(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)),
                                                        _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1))));
        return _mm_srai_epi32(_mm_xor_si128(sum, _mm_slli_epi32(sum, 16)), 16);
    };
    __m128i sum = _mm_packs_epi32(four(pair(0), pair(1)), four(pair(2), pair(3)));
    sum = _mm_xor_si128(sum, _mm_slli_epi16(sum, 8));
    sum = _mm_xor_si128(sum, _mm_slli_epi16(sum, 4));
    sum = _mm_xor_si128(sum, _mm_slli_epi16(sum, 2));
    sum = _mm_xor_si128(sum, _mm_slli_epi16(sum, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(sum, sum))) & 0xffu;
#else
    std::uint32_t out = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
        const std::uint64_t sum = (here[i] & low) ^ (next[i] & high);
        out |= static_cast<std::uint32_t>(__builtin_parityll(sum)) << i;
    }
    return out;
#endif
}

// Whether the rows xored give the fingerprint, in all columns that count. Reads columns by eights: a line beyond a layer.
[[gnu::always_inline]] inline bool matches(const location& at) noexcept {
    const std::uint64_t coefficients = coefficients_of(at.key);
    const std::uint64_t fingerprint = fingerprint_of(at.key);
    const std::uint64_t low = coefficients << at.shift;
    // A start at the first row of a block needs no further block, and there may be none.
    const std::uint64_t high = at.shift == 0 ? 0 : coefficients >> (64 - at.shift);
    const std::uint64_t* const next = at.block + (at.shift == 0 ? 0 : at.columns);
    const auto good = [&](std::uint32_t first) __attribute__((always_inline)) {
        const std::uint32_t wrong = eight_parities(at.block + first, next + first, low, high) ^
                                    static_cast<std::uint32_t>(fingerprint >> first & 0xff);
        const std::uint32_t left = at.columns - first;
        return (wrong & (left < 8 ? (1u << left) - 1 : 0xffu)) == 0;
    };
    // Up to eight columns without a branch on the answer, which nobody can guess.
    if (at.columns <= 8) [[likely]]
        return good(0);
    for (std::uint32_t first = 0; first < at.columns; first += 8)
        if (!good(first)) return false;
    return true;
}

// Layer 0 of a key: most keys end there.
struct first_look {
    std::uint64_t start;
    const std::uint64_t* codes;
    const std::uint64_t* rows;
    std::uint64_t slots;
};
[[gnu::always_inline]] inline first_look look_first(const std::uint64_t* words, const shard_view& shard,
                                                    std::uint64_t place_in_shard) noexcept {
    const std::uint64_t* const codes = words + shard.place();
    const std::uint64_t slots = shard.slots(0);
    return {slots == 0 ? 0 : fast_range(place_in_shard, starts_of(slots)), codes, codes + shard.code_words(),
            slots};
}
[[gnu::always_inline]] inline bool stays(const first_look& at) noexcept {
    return at.slots != 0 &&
           at.start % bucket_starts >= bumped_below[code_at(at.codes, at.start / bucket_starts)];
}

// The layers after the first. A shard without keys has no slots at all.
bool contains_later(const first_look& first, const shard_view& shard, const row_shape& shape,
                    std::uint64_t key) noexcept;

} // namespace bouncer::detail::ribbon
