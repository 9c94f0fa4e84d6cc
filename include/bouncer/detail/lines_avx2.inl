// A line in AVX2: a pair. A lane is marked when its top bit is set, which instructions pick up from there.
using line = pair;
// Position words in batches: with the prefetch, long before the test.
inline constexpr bool aim_early = true;
// Of one key: what yes() will say, while it is still in a register; and the same in a batch, for bools().
using pending = __m256i;
using key_marks = __m256i;

// Positions are turned to 63 - position: shifted left by that, a bit stands at the top of its lane.
BOUNCER_INLINE std::uint64_t aim(std::uint64_t positions) noexcept {
    return ~positions & position_mask;
}
BOUNCER_INLINE line aim(line positions) noexcept {
    const __m256i mask = repeated(position_mask);
    return {_mm256_andnot_si256(positions.low, mask), _mm256_andnot_si256(positions.high, mask)};
}
BOUNCER_INLINE line spread(std::uint64_t aimed) noexcept {
    constexpr auto alone =
        static_cast<long long>(0x8080808080808000u); // the other bytes of a lane become zero
    const __m256i copies = repeated(aimed);
    return {_mm256_shuffle_epi8(copies, _mm256_setr_epi64x(alone, alone + 1, alone + 2, alone + 3)),
            _mm256_shuffle_epi8(copies, _mm256_setr_epi64x(alone + 4, alone + 5, alone + 6, alone + 7))};
}
BOUNCER_INLINE line spread_at(const std::uint64_t* aimed) noexcept {
    return spread(*aimed);
}
BOUNCER_INLINE pair pick(pair words, pair aimed) noexcept {
    return {_mm256_sllv_epi64(words.low, aimed.low), _mm256_sllv_epi64(words.high, aimed.high)};
}
BOUNCER_INLINE pair bits_at(pair aimed) noexcept {
    const __m256i top = repeated(std::uint64_t{1} << 63);
    return {_mm256_srlv_epi64(top, aimed.low), _mm256_srlv_epi64(top, aimed.high)};
}

BOUNCER_INLINE line load_line(const std::uint64_t* at) noexcept {
    return {load_half_line(at), load_half_line(at + 4)};
}
BOUNCER_INLINE line load_each(const std::uint64_t* words, const std::uint64_t* at) noexcept {
    return {load_four(words, at), load_four(words, at + 4)};
}
BOUNCER_INLINE line load_hashes(const std::uint64_t* at) noexcept {
    return {load_hash_four(at), load_hash_four(at + 4)};
}
// [exclusive]
BOUNCER_INLINE void store_line(std::uint64_t* at, line from) noexcept {
    _mm256_store_si256(reinterpret_cast<__m256i*>(at), from.low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(at + 4), from.high);
}
BOUNCER_INLINE line operator|(line a, line b) noexcept {
    return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}
BOUNCER_INLINE line operator<<(line a, int by) noexcept {
    return {_mm256_slli_epi64(a.low, by), _mm256_slli_epi64(a.high, by)};
}
BOUNCER_INLINE line operator>>(line a, int by) noexcept {
    return {_mm256_srli_epi64(a.low, by), _mm256_srli_epi64(a.high, by)};
}
BOUNCER_INLINE line in_all_lanes(std::uint64_t word) noexcept {
    return {repeated(word), repeated(word)};
}

// One byte of each lane after the other, as positions: a shuffle brings it down, alone in its lane.
struct byte_table {
    alignas(32) std::uint64_t of[8][4] = {};
    constexpr byte_table() noexcept {
        for (std::uint32_t byte = 0; byte < 8; ++byte)
            for (std::uint32_t lane = 0; lane < 4; ++lane)
                of[byte][lane] = 0x8080808080808000u + byte + lane % 2 * 8;
    }
};
inline constexpr byte_table byte_controls;
class byte_steps {
  public:
    BOUNCER_INLINE byte_steps(line aimed, std::uint32_t first) noexcept
        : aimed_(aimed), control_(reinterpret_cast<const __m256i*>(byte_controls.of[first])) {}
    BOUNCER_INLINE line next(line words) noexcept {
        const __m256i control = _mm256_load_si256(control_++);
        return pick(words,
                    {_mm256_shuffle_epi8(aimed_.low, control), _mm256_shuffle_epi8(aimed_.high, control)});
    }

  private:
    line aimed_;
    const __m256i* control_;
};

BOUNCER_INLINE pending all_lanes(pair a) noexcept {
    return _mm256_and_si256(a.low, a.high);
}
BOUNCER_INLINE bool yes(pending a) noexcept {
    return _mm256_testc_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(_mm256_set1_epi64x(-1))) != 0;
}
BOUNCER_INLINE key_marks marks(line a) noexcept {
    return _mm256_and_si256(a.low, a.high);
}
// Of eight lanes of 32 bits.
BOUNCER_INLINE key_marks marks_of_halves(__m256i words, __m256i positions) noexcept {
    const __m256i each = _mm256_sllv_epi32(words, _mm256_xor_si256(positions, _mm256_set1_epi32(31)));
    return _mm256_and_si256(each, _mm256_slli_epi64(each, 32));
}
// Bit i: lane i.
BOUNCER_INLINE std::uint32_t marked_lanes(line a) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(a.low)) |
                                      _mm256_movemask_pd(_mm256_castsi256_pd(a.high)) << 4);
}

// Eight keys as eight bytes, 1 or 0. Packing keeps the sign, which is all that counts.
BOUNCER_INLINE __m256i upper_halves(__m256i a, __m256i b) noexcept {
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
}
BOUNCER_INLINE std::uint64_t bools(const key_marks (&of)[8]) noexcept {
    const __m256i bytes =
        _mm256_packs_epi16(_mm256_packs_epi32(upper_halves(of[0], of[1]), upper_halves(of[2], of[3])),
                           _mm256_packs_epi32(upper_halves(of[4], of[5]), upper_halves(of[6], of[7])));
    const __m128i halves = _mm_and_si128(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    const __m128i whole = _mm_and_si128(halves, _mm_srli_epi16(halves, 8));
    const __m128i ones = _mm_and_si128(_mm_srli_epi16(whole, 7), _mm_set1_epi16(1));
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(ones, ones)));
}

// There is no 64-bit multiply before AVX-512DQ. Three of 32 bits for four keys at a time still beat a scalar one for each,
// because the result has to be in a vector.
BOUNCER_INLINE line position_words(line hashes, std::size_t j) noexcept {
    const __m256i low = repeated(position_multipliers[j] & 0xffffffffu);
    const __m256i high = repeated(position_multipliers[j] >> 32);
    const auto four = [=](__m256i h) __attribute__((always_inline)) {
        const __m256i cross =
            _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(h, 32), low), _mm256_mul_epu32(h, high));
        const __m256i g = _mm256_add_epi64(_mm256_mul_epu32(h, low), _mm256_slli_epi64(cross, 32));
        return _mm256_xor_si256(g, _mm256_srli_epi64(g, 32));
    };
    return {four(hashes.low), four(hashes.high)};
}
