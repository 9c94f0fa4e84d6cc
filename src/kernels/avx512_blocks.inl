// The masks of block_mask.h in AVX-512.

inline __m512i eight_lane_bits(std::uint64_t positions) noexcept {
    const __m512i shifts = _mm512_set_epi64(58, 52, 46, 40, 34, 28, 22, 16);
    const __m512i word = _mm512_set1_epi64(static_cast<long long>(positions));
    const __m512i position = _mm512_and_si512(_mm512_srlv_epi64(word, shifts), _mm512_set1_epi64(63));
    return _mm512_sllv_epi64(_mm512_set1_epi64(1), position);
}

// No lane of the mask may have a bit that the line lacks.
inline bool line_covers(const std::uint64_t* line, std::uint64_t positions) noexcept {
    const __m512i missing = _mm512_andnot_si512(load_block_512(line), eight_lane_bits(positions));
    return _mm512_test_epi64_mask(missing, missing) == 0;
}
