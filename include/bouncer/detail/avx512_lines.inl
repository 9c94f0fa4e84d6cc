// A line in AVX-512 (F): one register. See avx2_lines.inl, whose functions these are.
//
// Never an unmasked _mm512_ intrinsic: most of g++ 12's pass an undefined register to a builtin, and -Wall reports that
// in the code of whoever includes this header (the test integration.portable). Operators of vector types and maskz_
// forms with a full mask compile to the same instructions without a warning.
[[gnu::always_inline]] inline std::uint64_t turned(std::uint64_t position_word) noexcept {
    return ~position_word & position_mask;
}

struct line_positions {
    whole_line all;
};

[[gnu::always_inline]] inline line_positions spread(std::uint64_t turned_positions) noexcept {
    // Not __builtin_convertvector: g++ 12 makes 30 instructions of it.
    const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(turned_positions));
    return {__builtin_bit_cast(whole_line, _mm512_maskz_cvtepu8_epi64(0xff, bytes))};
}

// Lane i: the bits that lanes i and i + 4 have in common. The halves meet in the whole register: as two registers of 32
// bytes they cost moves between the registers that only AVX-512 has and those that all have (1.06 to 1.2 times the query).
[[gnu::always_inline]] inline __m256i halves_and(whole_line bits) noexcept {
    const whole_line both = bits & __builtin_shufflevector(bits, bits, 4, 5, 6, 7, 0, 1, 2, 3);
    return __builtin_bit_cast(__m256i, __builtin_shufflevector(both, both, 0, 1, 2, 3));
}

[[gnu::always_inline]] inline __m256i line_bits(const std::uint64_t* line, line_positions at) noexcept {
    return halves_and(load_block_512(line) << at.all);
}

[[gnu::always_inline]] inline bool all_set(__m256i lanes) noexcept {
    return _mm256_testc_pd(_mm256_castsi256_pd(lanes), _mm256_castsi256_pd(_mm256_set1_epi64x(-1))) != 0;
}

[[gnu::always_inline]] inline __m256i line_add(std::uint64_t* line, line_positions at) noexcept {
    const whole_line top = whole_line{} + (std::uint64_t{1} << 63);
    auto* const place = reinterpret_cast<whole_line*>(line);
    const whole_line old = *place;
    *place = old | (top >> at.all);
    return halves_and(old << at.all);
}
