// The masks of block_mask.h in AVX2.

// Four one-bit lanes, lanes first .. first + 3 of the eight that `positions` holds.
inline __m256i four_lane_bits(std::uint64_t positions, int first) noexcept {
    const __m256i shifts = _mm256_setr_epi64x(16, 22, 28, 34);
    const __m256i word = _mm256_set1_epi64x(static_cast<long long>(positions >> (6 * first)));
    const __m256i position = _mm256_and_si256(_mm256_srlv_epi64(word, shifts), _mm256_set1_epi64x(63));
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), position);
}

inline bool line_covers(const std::uint64_t* line, std::uint64_t positions) noexcept {
    return (_mm256_testc_si256(load_block_256(line), four_lane_bits(positions, 0)) &
            _mm256_testc_si256(load_block_256(line + 4), four_lane_bits(positions, 4))) != 0;
}
