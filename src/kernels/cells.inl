// Batches of queries over cells in two adjacent lines, and their table; included after batch.inl. With vectors a shuffle picks
// the bytes of up to eight cells from each 16 bytes of a line; of its four answers for a cell three are masked away.

// Groups of eight, as for bits: see in_groups, which asks this of a form.
template <std::uint32_t Bits>
struct probe<pair_cells<Bits>>
#if defined(BOUNCER_VECTOR)
    : aimed_early<2, false> {
};
#else
{
    BOUNCER_INLINE static void aim8(const std::uint64_t*, key_group&) noexcept {}
};
#endif

#if defined(BOUNCER_VECTOR)

// Byte i: the cell of byte i of the first line's position word; byte 8 + i: of the second line's. A cell that is the
// upper half of its byte stays there.
template <std::uint32_t CellBits>
BOUNCER_INLINE __m128i cells_at(const std::uint64_t* block, std::uint64_t first_line,
                                std::uint64_t second_line) noexcept {
    const __m256i positions = _mm256_broadcastsi128_si256(
        _mm_set_epi64x(static_cast<long long>(second_line), static_cast<long long>(first_line)));
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
    const auto of_line = [&](const std::uint64_t* from) __attribute__((always_inline)) {
        return _mm256_or_si256(
            _mm256_and_si256(_mm256_shuffle_epi8(load_half_line(from), in_16), first),
            _mm256_and_si256(_mm256_shuffle_epi8(load_half_line(from + 4), in_16), second));
    };
    const __m256i both = _mm256_blend_epi32(of_line(block), of_line(block + 8), 0xcc);
    return _mm_or_si128(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

// Whether the cells of one key are all other than zero; or have one of the bits `live` in common.
template <std::uint32_t CellBits>
class cell_test {
  public:
    // Bytes without a cell count as cells that have everything.
    explicit cell_test(extent at) noexcept
        : idle_(_mm_set1_epi64x(static_cast<long long>(at.k >= 16 ? 0 : ~std::uint64_t{0} << (4 * at.k)))) {}

    BOUNCER_INLINE bool nonzero(__m128i cells) const noexcept {
        return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(cells, idle_), _mm_setzero_si128())) == 0;
    }
    BOUNCER_INLINE bool common(__m128i cells, std::uint64_t live) const noexcept {
        if constexpr (CellBits == 4) {
            cells = _mm_or_si128(cells, _mm_srli_epi16(cells, 4)); // of each byte the lower half counts
            live &= 0x0fu;                                         // above it lie a neighbour's bits
        }
        cells = _mm_or_si128(cells, idle_);
        cells = _mm_and_si128(cells, _mm_srli_si128(cells, 8));
        auto all = static_cast<std::uint64_t>(_mm_cvtsi128_si64(cells));
        all &= all >> 32;
        all &= all >> 16;
        all &= all >> 8;
        return (all & live) != 0;
    }

  private:
    __m128i idle_;
};

// holds(cells) for every key.
template <std::uint32_t Bits, class Holds>
BOUNCER_INLINE std::size_t ask_cells(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                     std::size_t count, bool* answers, Holds holds) noexcept {
    using form = pair_cells<Bits>;
    std::size_t found = 0;
    const auto eight = [&](const std::uint64_t* of, const key_group& group, bool* to, std::size_t keys)
        __attribute__((always_inline)) {
        const positions_of_eight<2, false> positions(of, group);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < keys; ++i) {
            to[i] = holds(cells_at<Bits>(words + group.at8[i], positions.of[i], positions.of[8 + i]));
            found += to[i];
        }
    };
    in_groups<form>(
        words, at, hashes,
        count, [&](std::size_t first, const key_group& group) __attribute__((always_inline)) {
            eight(hashes + first, group, answers + first, group_keys);
        });
    if (count % group_keys == 0) return found;
    const last_keys<form> last(at, hashes, count);
    eight(last.hashes, last.group, answers + (count - last.count), last.count);
    return found;
}
template <std::uint32_t Bits>
std::size_t nonzero_each(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                         std::size_t count, bool* answers) noexcept {
    const cell_test<Bits> test(at);
    return ask_cells<Bits>(
        words, at, hashes, count,
        answers, [=](__m128i cells) __attribute__((always_inline)) { return test.nonzero(cells); });
}
template <std::uint32_t Bits>
std::size_t common_each(const std::uint64_t* words, extent at, std::uint8_t live, const std::uint64_t* hashes,
                        std::size_t count, bool* answers) noexcept {
    const cell_test<Bits> test(at);
    return ask_cells<Bits>(
        words, at, hashes, count,
        answers, [=](__m128i cells) __attribute__((always_inline)) { return test.common(cells, live); });
}

#else

// The specification. holds(whether none was zero, the cells anded). The loads are acquire (see cell_ops.h); on x86-64 they cost
// what relaxed ones cost.
template <std::uint32_t Bits, class Holds>
BOUNCER_INLINE std::size_t ask_cells(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                     std::size_t count, bool* answers, Holds holds) noexcept {
    std::size_t found = 0;
    pipeline(
        count, 16,
        [=](std::size_t i) __attribute__((always_inline)) {
            const std::uint64_t* const block = words + 16 * fast_range(hashes[i], at.units);
            __builtin_prefetch(block);
            __builtin_prefetch(block + 8);
        },
        [&](std::size_t i) __attribute__((always_inline)) {
            std::uint64_t common = ~std::uint64_t{0};
            bool nonzero = true;
            for (std::uint32_t side = 0; side < 2 && nonzero; ++side) {
                const std::uint64_t* const from = words + 16 * fast_range(hashes[i], at.units) + 8 * side;
                const std::uint64_t positions = position_word(hashes[i], side);
                for (std::uint32_t c = 0; c < at.k / 2 && nonzero; ++c) {
                    const cell_place place = cell_of(positions, c, Bits);
                    const std::uint64_t cell =
                        const_words::load<std::memory_order_acquire>(from + place.word) >> place.shift &
                        ((1u << Bits) - 1);
                    common &= cell;
                    nonzero = cell != 0;
                }
            }
            answers[i] = holds(nonzero, common);
            found += answers[i];
        });
    return found;
}
template <std::uint32_t Bits>
std::size_t nonzero_each(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                         std::size_t count, bool* answers) noexcept {
    return ask_cells<Bits>(words, at, hashes, count, answers,
                           [](bool nonzero, std::uint64_t) { return nonzero; });
}
template <std::uint32_t Bits>
std::size_t common_each(const std::uint64_t* words, extent at, std::uint8_t live, const std::uint64_t* hashes,
                        std::size_t count, bool* answers) noexcept {
    return ask_cells<Bits>(words, at, hashes, count, answers, [=](bool nonzero, std::uint64_t common) {
        return nonzero && (common & live) != 0;
    });
}

#endif

template <std::uint32_t Bits>
constexpr cell_ops cell_row() noexcept {
    return {nonzero_each<Bits>, common_each<Bits>};
}
constexpr cell_ops_table cell_table() noexcept {
    return {cell_row<4>(), cell_row<8>()};
}
