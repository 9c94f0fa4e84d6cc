// A line in AVX-512 (F): one register. See avx2_lines.inl, whose functions these are.
[[gnu::always_inline]] inline std::uint64_t turned(std::uint64_t position_word) noexcept {
    return ~position_word & position_mask;
}

struct line_positions {
    __m512i all;
};

[[gnu::always_inline]] inline line_positions spread(std::uint64_t turned_positions) noexcept {
    return {_mm512_cvtepu8_epi64(_mm_cvtsi64_si128(static_cast<long long>(turned_positions)))};
}

[[gnu::always_inline]] inline __m256i line_bits(const std::uint64_t* line, line_positions at) noexcept {
    const __m512i bits = _mm512_sllv_epi64(load_block_512(line), at.all);
    return _mm256_and_si256(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1));
}

[[gnu::always_inline]] inline bool all_set(__m256i lanes) noexcept {
    return _mm256_testc_pd(_mm256_castsi256_pd(lanes), _mm256_castsi256_pd(_mm256_set1_epi64x(-1))) != 0;
}

[[gnu::always_inline]] inline __m256i line_add(std::uint64_t* line, line_positions at) noexcept {
    const __m512i mask =
        _mm512_srlv_epi64(_mm512_set1_epi64(static_cast<long long>(std::uint64_t{1} << 63)), at.all);
    const __m512i old = _mm512_load_si512(line);
    _mm512_store_si512(line, _mm512_or_si512(old, mask));
    const __m512i bits = _mm512_sllv_epi64(old, at.all);
    return _mm256_and_si256(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1));
}
