// Query batches over cells of half a byte or a byte in two adjacent lines; included after block_batch.inl. A shuffle
// picks the bytes of up to eight cells from each 16 bytes of a line; of its four answers for a cell three are masked
// away.
struct cell_pair { // what in_groups asks of a Block
    static constexpr std::size_t words_per_block = 16;
    static constexpr std::size_t position_words = 2;
    [[gnu::always_inline]] static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return fast_range(hash, blocks);
    }
    [[gnu::always_inline]] static void positions_of(const std::uint64_t* hashes,
                                                    std::uint64_t* out) noexcept {
        const __m256i four = four_hashes(hashes);
        _mm256_store_si256(reinterpret_cast<__m256i*>(out), four_position_words(four, 0));
        _mm256_store_si256(reinterpret_cast<__m256i*>(out + ring_keys), four_position_words(four, 1));
    }
};

// Byte i: the cell of byte i of the first line's position word; byte 8 + i: of the second line's. A cell that is the
// upper half of its byte stays there.
template <std::uint32_t CellBits>
[[gnu::always_inline]] inline __m128i cells_at(const std::uint64_t* block, const std::uint64_t* at) noexcept {
    const __m256i positions = _mm256_broadcastsi128_si256(
        _mm_set_epi64x(static_cast<long long>(at[ring_keys]), static_cast<long long>(at[0])));
    const __m256i in_16 = _mm256_and_si256(positions, _mm256_set1_epi8(0x0f));
    // Which 16 bytes of the line (two bits), and which half of the byte: entry i of a table is what of the byte counts.
    const __m256i which =
        _mm256_and_si256(_mm256_srli_epi16(positions, 4), _mm256_set1_epi8(CellBits == 4 ? 7 : 3));
    constexpr long long low = CellBits == 4 ? 0x0f : 0xff;
    constexpr long long high = CellBits == 4 ? 0xf0 : 0;
    const __m256i first =
        _mm256_shuffle_epi8(_mm256_setr_epi64x(low | high << 32, 0, low << 8 | high << 40, 0), which);
    const __m256i second = _mm256_shuffle_epi8(
        _mm256_setr_epi64x(low << 16 | high << 48, 0,
                           low << 24 | static_cast<long long>(static_cast<std::uint64_t>(high) << 56), 0),
        which);
    const auto of_line = [&](const std::uint64_t* line) __attribute__((always_inline)) {
        return _mm256_or_si256(
            _mm256_and_si256(_mm256_shuffle_epi8(load_block_256(line), in_16), first),
            _mm256_and_si256(_mm256_shuffle_epi8(load_block_256(line + 4), in_16), second));
    };
    const __m256i both = _mm256_blend_epi32(of_line(block), of_line(block + 8), 0xcc);
    return _mm_or_si128(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

template <std::uint32_t CellBits, bool Common>
std::size_t query_cells(const std::uint64_t* words, std::uint64_t blocks, std::uint32_t each,
                        std::uint8_t live, const std::uint64_t* hashes, std::size_t count,
                        bool* answers) noexcept {
    // Bytes without a cell count as cells that have everything.
    const auto idle = static_cast<long long>(each >= 8 ? 0 : ~std::uint64_t{0} << (8 * each));
    const __m128i idle_bytes = _mm_set1_epi64x(idle);
    const std::uint64_t live_bits = CellBits == 4 ? live & 0x0fu : live; // above them lie a neighbour's bits
    const auto holds = [=](const std::uint64_t* block, const std::uint64_t* at)
        __attribute__((always_inline)) {
        __m128i cells = cells_at<CellBits>(block, at);
        if constexpr (Common) {
            if constexpr (CellBits == 4)
                cells = _mm_or_si128(cells, _mm_srli_epi16(cells, 4)); // of each byte the lower half counts
            cells = _mm_or_si128(cells, idle_bytes);
            cells = _mm_and_si128(cells, _mm_srli_si128(cells, 8));
            auto all = static_cast<std::uint64_t>(_mm_cvtsi128_si64(cells));
            all &= all >> 32;
            all &= all >> 16;
            all &= all >> 8;
            return (all & live_bits) != 0;
        } else {
            return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(cells, idle_bytes), _mm_setzero_si128())) ==
                   0;
        }
    };
    std::size_t found = 0;
    in_groups<cell_pair>(
        words, blocks, hashes, count,
        [&](std::size_t first, const std::uint64_t* const* lines, const std::uint64_t* positions)
            __attribute__((always_inline)) {
#pragma GCC unroll 8
                for (std::size_t i = 0; i < group_keys; ++i) {
                    const bool yes = holds(lines[i], positions + i);
                    answers[first + i] = yes;
                    found += yes;
                }
            });
    const std::size_t rest = count % group_keys;
    if (rest == 0) return found;
    last_group<cell_pair>(
        words, blocks, hashes + (count - rest), rest,
        [&](std::size_t, const std::uint64_t* const* lines, const std::uint64_t* positions) {
            for (std::size_t i = 0; i < rest; ++i) {
                answers[count - rest + i] = holds(lines[i], positions + i);
                found += answers[count - rest + i];
            }
        });
    return found;
}
