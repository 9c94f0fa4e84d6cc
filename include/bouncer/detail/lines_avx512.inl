// A line in AVX-512 (F, DQ, BW, VL): one register. See lines_avx2.inl, whose words these are. A lane is marked when its lowest
// bit is set: a rotation to the right brings a bit there, and counts modulo 64, so a position needs no masking.
//
// Never an unmasked _mm512_ intrinsic: most of g++ 12's pass an undefined register to a builtin, and -Wall reports that
// in the code of whoever includes this header (the test integration.portable). Operators of vector types and maskz_
// forms with a full mask compile to the same instructions without a warning.
typedef std::uint64_t four_words __attribute__((vector_size(32), may_alias));
struct line {
    eight_words all;
};
BOUNCER_INLINE __m512i raw(line a) noexcept {
    return __builtin_bit_cast(__m512i, a.all);
}
BOUNCER_INLINE line cooked(__m512i a) noexcept {
    return {__builtin_bit_cast(eight_words, a)};
}

// Position words in batches: with the test, not before it.
inline constexpr bool aim_early = false;
// Of one key: what yes() will say, while it is still in a register; and in a batch a bit for each lane.
using pending = __m256i;
using key_marks = __mmask8;

BOUNCER_INLINE std::uint64_t aim(std::uint64_t positions) noexcept {
    return positions;
}
BOUNCER_INLINE line aim(line positions) noexcept {
    return positions;
}
BOUNCER_INLINE line in_all_lanes(std::uint64_t word) noexcept {
    return {word - eight_words{}};
}
BOUNCER_INLINE line spread(std::uint64_t aimed) noexcept {
    // Not __builtin_convertvector: g++ 12 makes 30 instructions of it.
    return cooked(_mm512_maskz_cvtepu8_epi64(0xff, _mm_cvtsi64_si128(static_cast<long long>(aimed))));
}
// From memory: copies, each shifted down by the bytes of its lane; what stands above the lowest six bits does not count. For
// words that are in a register already this took longer, for words in memory the other way 1.04 times as long.
BOUNCER_INLINE line spread_at(const std::uint64_t* aimed) noexcept {
    return {in_all_lanes(*aimed).all >> eight_words{0, 8, 16, 24, 32, 40, 48, 56}};
}
BOUNCER_INLINE line pick(line words, line aimed) noexcept {
    return cooked(_mm512_maskz_rorv_epi64(0xff, raw(words), raw(aimed)));
}
BOUNCER_INLINE pair pick(pair words, pair aimed) noexcept {
    return {_mm256_rorv_epi64(words.low, aimed.low), _mm256_rorv_epi64(words.high, aimed.high)};
}
BOUNCER_INLINE line bits_at(line aimed) noexcept {
    return cooked(_mm512_maskz_rolv_epi64(0xff, raw(in_all_lanes(1)), raw(aimed)));
}
BOUNCER_INLINE pair bits_at(pair aimed) noexcept {
    return {_mm256_rolv_epi64(repeated(1), aimed.low), _mm256_rolv_epi64(repeated(1), aimed.high)};
}

BOUNCER_INLINE line load_line(const std::uint64_t* at) noexcept {
    return {load_whole_line(at)};
}
BOUNCER_INLINE line load_each(const std::uint64_t* words, const std::uint64_t* at) noexcept {
    return {__builtin_shufflevector(__builtin_bit_cast(four_words, load_four(words, at)),
                                    __builtin_bit_cast(four_words, load_four(words, at + 4)), 0, 1, 2, 3, 4,
                                    5, 6, 7)};
}
BOUNCER_INLINE line load_hashes(const std::uint64_t* at) noexcept {
    line out;
    std::memcpy(&out, at, sizeof out);
    return out;
}
// [exclusive]
BOUNCER_INLINE void store_line(std::uint64_t* at, line from) noexcept {
    *reinterpret_cast<eight_words*>(at) = from.all;
}
BOUNCER_INLINE line operator&(line a, line b) noexcept {
    return {a.all & b.all};
}
BOUNCER_INLINE line operator|(line a, line b) noexcept {
    return {a.all | b.all};
}
BOUNCER_INLINE line operator<<(line a, int by) noexcept {
    return {a.all << by};
}
BOUNCER_INLINE line operator>>(line a, int by) noexcept {
    return {a.all >> by};
}

// One byte of each lane after the other, as positions.
class byte_steps {
  public:
    BOUNCER_INLINE byte_steps(line aimed, std::uint32_t first) noexcept
        : aimed_(aimed >> static_cast<int>(8 * first)) {}
    BOUNCER_INLINE line next(line words) noexcept {
        const line picked = pick(words, aimed_);
        aimed_ = aimed_ >> 8;
        return picked;
    }

  private:
    line aimed_;
};

// The halves meet in the whole register: as two registers of 32 bytes they cost moves between the registers that only
// AVX-512 has and those that all have (1.06 to 1.2 times the query). Through a mask register a single query took 1.1 to 1.2
// times as long.
BOUNCER_INLINE pending all_lanes(line a) noexcept {
    const eight_words both = a.all & __builtin_shufflevector(a.all, a.all, 4, 5, 6, 7, 0, 1, 2, 3);
    return __builtin_bit_cast(__m256i, __builtin_shufflevector(both, both, 0, 1, 2, 3));
}
BOUNCER_INLINE pending all_lanes(pair a) noexcept {
    return _mm256_and_si256(a.low, a.high);
}
BOUNCER_INLINE bool yes(pending a) noexcept {
    return _mm256_testc_si256(a, _mm256_set1_epi64x(1)) != 0;
}
BOUNCER_INLINE key_marks marks(line a) noexcept {
    return _mm512_test_epi64_mask(raw(a), raw(in_all_lanes(1)));
}
BOUNCER_INLINE std::uint32_t marked_lanes(line a) noexcept {
    return marks(a);
}
BOUNCER_INLINE key_marks marks_of_halves(__m256i words, __m256i positions) noexcept {
    return _mm256_movepi32_mask(_mm256_sllv_epi32(words, _mm256_xor_si256(positions, _mm256_set1_epi32(31))));
}
// Eight mask registers side by side, and which of their bytes are full. A setcc for each key and a tree of ands of whole
// registers were slower.
BOUNCER_INLINE std::uint64_t bools(const key_marks (&of)[8]) noexcept {
    const __mmask32 low = _mm512_kunpackw(_mm512_kunpackb(of[3], of[2]), _mm512_kunpackb(of[1], of[0]));
    const __mmask32 high = _mm512_kunpackw(_mm512_kunpackb(of[7], of[6]), _mm512_kunpackb(of[5], of[4]));
    const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(_mm512_kunpackd(high, low)));
    return static_cast<std::uint64_t>(
        _mm_cvtsi128_si64(_mm_abs_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(-1)))));
}

BOUNCER_INLINE line position_words(line hashes, std::size_t j) noexcept {
    const eight_words g = hashes.all * position_multipliers[j]; // vpmullq
    return {g ^ (g >> 32)};
}
