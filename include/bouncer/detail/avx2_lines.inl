// A line in AVX2: two registers. Text to be included after load_block.h, in a target region or in code that is
// compiled for AVX2 anyway.

// Kernels work with turned positions, 63 - position: shifted left by that, a bit stands at the top of its lane, where
// instructions pick it up. Where a comment says that a lane is set, its top bit is; its other bits are noise.
[[gnu::always_inline]] inline std::uint64_t turned(std::uint64_t position_word) noexcept {
    return ~position_word & position_mask;
}

// The eight turned positions of a word, one to a 64-bit lane: a byte shuffle of copies of the word. Copies from memory
// cost no more than loading it; zero-extending moves were no faster.
struct line_positions {
    __m256i low, high;
};

[[gnu::always_inline]] inline line_positions spread(std::uint64_t turned_positions) noexcept {
    const __m256i copies = _mm256_set1_epi64x(static_cast<long long>(turned_positions));
    constexpr auto alone =
        static_cast<long long>(0x8080808080808000u); // the other bytes of a lane become zero
    return {_mm256_shuffle_epi8(copies, _mm256_setr_epi64x(alone, alone + 1, alone + 2, alone + 3)),
            _mm256_shuffle_epi8(copies, _mm256_setr_epi64x(alone + 4, alone + 5, alone + 6, alone + 7))};
}

// Lane i is set when the line has the bits of its lanes i and i + 4. To shift the line takes one instruction less than
// to make a mask and compare.
[[gnu::always_inline]] inline __m256i line_bits(const std::uint64_t* line, line_positions at) noexcept {
    return _mm256_and_si256(_mm256_sllv_epi64(load_block_256(line), at.low),
                            _mm256_sllv_epi64(load_block_256(line + 4), at.high));
}

[[gnu::always_inline]] inline bool all_set(__m256i lanes) noexcept {
    return _mm256_testc_pd(_mm256_castsi256_pd(lanes), _mm256_castsi256_pd(_mm256_set1_epi64x(-1))) != 0;
}

// [exclusive] Sets the bits; returns line_bits() before.
[[gnu::always_inline]] inline __m256i line_add(std::uint64_t* line, line_positions at) noexcept {
    const __m256i top = _mm256_set1_epi64x(static_cast<long long>(std::uint64_t{1} << 63));
    auto* const low = reinterpret_cast<__m256i*>(line);
    const __m256i old_low = _mm256_load_si256(low);
    const __m256i old_high = _mm256_load_si256(low + 1);
    _mm256_store_si256(low, _mm256_or_si256(old_low, _mm256_srlv_epi64(top, at.low)));
    _mm256_store_si256(low + 1, _mm256_or_si256(old_high, _mm256_srlv_epi64(top, at.high)));
    return _mm256_and_si256(_mm256_sllv_epi64(old_low, at.low), _mm256_sllv_epi64(old_high, at.high));
}
