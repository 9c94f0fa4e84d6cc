// Eight lanes of 64 bits in two AVX2 registers. Included after load_block.inl, and before lines_avx2.inl or
// lines_avx512.inl: a LINE of memory, which AVX2 holds in a pair and AVX-512 in one register. probes.inl and batch.inl are
// written once over these words:
//
//   load_line, load_each     a line of shared memory; a word each from eight places
//   aim, spread, spread_at   a position word made ready for pick; its byte i in lane i, from a register and from memory
//   pick                     moves the bit at each lane's position to where a lane is MARKED; the other bits are noise
//   all_lanes, yes           whether all lanes are marked: all_lanes leaves it in a register, yes looks at it
//   marks, bools             the same for keys of a batch: bools looks at eight of them at once
//   bits_at                  the bit at each position, alone in its lane
//
// Where a lane is marked is the instruction set's business: AVX2 looks at the top bit, AVX-512 at the lowest.
struct pair {
    __m256i low, high;
};

BOUNCER_INLINE pair operator&(pair a, pair b) noexcept {
    return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}
BOUNCER_INLINE __m256i repeated(std::uint64_t word) noexcept {
    return _mm256_set1_epi64x(static_cast<long long>(word));
}
// All lanes ored into one word.
BOUNCER_INLINE std::uint64_t join(pair a) noexcept {
    const __m256i four = _mm256_or_si256(a.low, a.high);
    const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(two) | _mm_extract_epi64(two, 1));
}

// For words that have several bits of a key. Byte i in lane i, for i below n; in the lanes beyond, the first byte, where it
// changes neither an answer nor a mask: so one code serves every n. A shuffle of copies of the word; zero-extending moves were
// no faster. Rejected: a function for each n (a jump, 1.3 times the time), and lanes compared with n (1.7 times).
// Runs of eight bytes: one word in all lanes. Runs of four: two words, four lanes each.
template <std::uint32_t Run>
struct spread_table {
    alignas(64) std::uint64_t of[Run + 1][8] = {};
    constexpr spread_table() noexcept {
        for (std::uint32_t n = 0; n <= Run; ++n)
            for (std::uint32_t lane = 0; lane < 8; ++lane) {
                const std::uint32_t first = lane / Run * Run;
                // 0x80: that byte of the lane becomes zero.
                of[n][lane] = 0x8080808080808000u + (lane - first < n ? lane : first);
            }
    }
};
template <std::uint32_t Run>
inline constexpr spread_table<Run> spread_controls;
template <std::uint32_t Run>
BOUNCER_INLINE pair spread_first(std::uint64_t aimed, std::uint32_t n) noexcept {
    const __m256i copies = repeated(aimed);
    const auto* const control = reinterpret_cast<const __m256i*>(spread_controls<Run>.of[n]);
    return {_mm256_shuffle_epi8(copies, _mm256_load_si256(control)),
            _mm256_shuffle_epi8(copies, _mm256_load_si256(control + 1))};
}

// Words from four places. Gather instructions were not measured.
BOUNCER_INLINE __m256i load_four(const std::uint64_t* words, const std::uint64_t* at) noexcept {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_two(words + at[0], words + at[1])),
                                   load_two(words + at[2], words + at[3]), 1);
}
BOUNCER_INLINE __m256i load_hash_four(const std::uint64_t* hashes) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(hashes));
}
