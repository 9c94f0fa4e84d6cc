// Parquet's split block in AVX2. Its 256 bits gain nothing from wider registers, so AVX-512 uses it too.
struct split_block {
    static constexpr std::size_t words_per_block = 4;
    static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return split_block_index(hash, blocks);
    }
    static bool covers(const std::uint64_t* block, std::uint64_t hash) noexcept {
        const __m256i salts = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(split_block_salts.data()));
        const __m256i low = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(hash)));
        const __m256i position = _mm256_srli_epi32(_mm256_mullo_epi32(low, salts), 27);
        const __m256i mask = _mm256_sllv_epi32(_mm256_set1_epi32(1), position);
        return _mm256_testc_si256(load_block_256(block), mask) != 0;
    }
};
