// Batches over blocks, included inside each ISA's target region after pipeline.inl and after the ISA's line_bits,
// line_add and spread. Keys go through in groups of eight: what a group needs later (where its blocks lie, the bits of
// their positions) is worked out when the blocks are prefetched and waits in a ring.
//
// 64 keys ahead: at 1M keys 16 to 64 measured alike, at 10M 64 took half to two thirds of the time of 16, and 128 was no
// better.
inline constexpr std::size_t group_keys = 8;
inline constexpr std::size_t groups_ahead = 8;
inline constexpr std::size_t ring_keys = group_keys * groups_ahead;
inline constexpr std::size_t words_per_line = 8;

// position_word(hash, j) of four hashes. There is no 64-bit multiply before AVX-512DQ; three of 32 bits for four keys at
// a time still beat a scalar one for each, because the result has to be in a vector.
[[gnu::always_inline]] inline __m256i four_position_words(__m256i hashes, std::size_t j) noexcept {
    const __m256i low = _mm256_set1_epi64x(static_cast<long long>(position_multipliers[j] & 0xffffffffu));
    const __m256i high = _mm256_set1_epi64x(static_cast<long long>(position_multipliers[j] >> 32));
    const __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(hashes, 32), low),
                                           _mm256_mul_epu32(hashes, high));
    const __m256i product = _mm256_add_epi64(_mm256_mul_epu32(hashes, low), _mm256_slli_epi64(cross, 32));
    return _mm256_xor_si256(product, _mm256_srli_epi64(product, 32));
}

[[gnu::always_inline]] inline __m256i four_turned(__m256i position_words) noexcept {
    return _mm256_andnot_si256(position_words, _mm256_set1_epi64x(static_cast<long long>(position_mask)));
}

[[gnu::always_inline]] inline __m256i four_positions(__m256i hashes, std::size_t j) noexcept {
    return four_turned(four_position_words(hashes, j));
}

[[gnu::always_inline]] inline __m256i four_hashes(const std::uint64_t* hashes) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(hashes));
}

// Eight bytes, 1 or 0: whether all four lanes of key i are set. Packing keeps the sign, which is all that counts.
struct eight_keys {
    __m256i lanes[8];
};

[[gnu::always_inline]] inline __m256i tops(__m256i a, __m256i b) noexcept { // the upper halves of their lanes
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
}

[[gnu::always_inline]] inline __m128i all_of_lanes(const eight_keys& keys) noexcept {
    const auto& of = keys.lanes;
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(tops(of[0], of[1]), tops(of[2], of[3])),
                                             _mm256_packs_epi32(tops(of[4], of[5]), tops(of[6], of[7])));
    const __m128i halves = _mm_and_si128(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    const __m128i whole = _mm_and_si128(halves, _mm_srli_epi16(halves, 8));
    const __m128i bools = _mm_and_si128(_mm_srli_epi16(whole, 7), _mm_set1_epi16(1));
    return _mm_packus_epi16(bools, bools);
}

// The same where a key has one lane: keys 0 to 3 and 4 to 7.
[[gnu::always_inline]] inline __m128i each_lane(__m256i first, __m256i second) noexcept {
    const __m256i words =
        _mm256_packs_epi32(tops(first, second), tops(first, second)); // 0 1 4 5 twice, 2 3 6 7 twice
    const __m128i pairs =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    return _mm_and_si128(_mm_srli_epi16(_mm_packs_epi16(pairs, pairs), 7), _mm_set1_epi8(1));
}

// What a Block is: positions_of() works out for four keys what is needed of them later, into position_words arrays of
// ring_keys words each; eight() says in eight bytes which of eight keys their blocks cover; add() sets the bits of one
// key and returns bits() before. `at` is the first key's place in the first array.
template <class Block>
struct tested_by_lanes { // eight() for a Block whose bits() has one key in four lanes
    [[gnu::always_inline]] static __m128i eight(const std::uint64_t* const* blocks,
                                                const std::uint64_t* at) noexcept {
        return all_of_lanes({Block::bits(blocks[0], at), Block::bits(blocks[1], at + 1),
                             Block::bits(blocks[2], at + 2), Block::bits(blocks[3], at + 3),
                             Block::bits(blocks[4], at + 4), Block::bits(blocks[5], at + 5),
                             Block::bits(blocks[6], at + 6), Block::bits(blocks[7], at + 7)});
    }
};

struct lanes8_block : tested_by_lanes<lanes8_block> {
    static constexpr std::size_t words_per_block = 8;
    static constexpr std::size_t position_words = 1;
    [[gnu::always_inline]] static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return fast_range(hash, blocks);
    }
    [[gnu::always_inline]] static void positions_of(const std::uint64_t* hashes,
                                                    std::uint64_t* out) noexcept {
        _mm256_store_si256(reinterpret_cast<__m256i*>(out), four_positions(four_hashes(hashes), 0));
    }
    [[gnu::always_inline]] static __m256i bits(const std::uint64_t* block, const std::uint64_t* at) noexcept {
        return line_bits(block, spread(*at));
    }
    [[gnu::always_inline]] static __m256i add(std::uint64_t* block, const std::uint64_t* at) noexcept {
        return line_add(block, spread(*at));
    }
};

struct lanes16_block : tested_by_lanes<lanes16_block> {
    static constexpr std::size_t words_per_block = 16;
    static constexpr std::size_t position_words = 2;
    [[gnu::always_inline]] static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return fast_range(hash, blocks);
    }
    [[gnu::always_inline]] static void positions_of(const std::uint64_t* hashes,
                                                    std::uint64_t* out) noexcept {
        const __m256i four = four_hashes(hashes);
        _mm256_store_si256(reinterpret_cast<__m256i*>(out), four_positions(four, 0));
        _mm256_store_si256(reinterpret_cast<__m256i*>(out + ring_keys), four_positions(four, 1));
    }
    [[gnu::always_inline]] static __m256i bits(const std::uint64_t* block, const std::uint64_t* at) noexcept {
        return _mm256_and_si256(line_bits(block, spread(*at)), line_bits(block + 8, spread(at[ring_keys])));
    }
    [[gnu::always_inline]] static __m256i add(std::uint64_t* block, const std::uint64_t* at) noexcept {
        const __m256i first = line_add(block, spread(*at));
        return _mm256_and_si256(first, line_add(block + 8, spread(at[ring_keys])));
    }
};

// Parquet's split block. Its 256 bits gain nothing from wider registers, so AVX-512 uses it too. What waits in the ring
// is the hash itself: its positions are one multiply away.
struct split_block : tested_by_lanes<split_block> {
    static constexpr std::size_t words_per_block = 4;
    static constexpr std::size_t position_words = 1;
    [[gnu::always_inline]] static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return split_block_index(hash, blocks);
    }
    [[gnu::always_inline]] static void positions_of(const std::uint64_t* hashes,
                                                    std::uint64_t* out) noexcept {
        _mm256_store_si256(reinterpret_cast<__m256i*>(out), four_hashes(hashes));
    }
    [[gnu::always_inline]] static __m256i positions(const std::uint64_t* at) noexcept {
        const __m256i salts = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(split_block_salts.data()));
        const __m256i low = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(*at)));
        return _mm256_srli_epi32(_mm256_mullo_epi32(low, salts), 27); // not turned
    }
    [[gnu::always_inline]] static __m256i bits(const std::uint64_t* block, const std::uint64_t* at) noexcept {
        const __m256i turned_positions = _mm256_xor_si256(positions(at), _mm256_set1_epi32(31));
        const __m256i each = _mm256_sllv_epi32(load_block_256(block), turned_positions);
        return _mm256_and_si256(each, _mm256_slli_epi64(each, 32));
    }
    [[gnu::always_inline]] static __m256i add(std::uint64_t* block, const std::uint64_t* at) noexcept {
        const __m256i mask = _mm256_sllv_epi32(_mm256_set1_epi32(1), positions(at));
        auto* const place = reinterpret_cast<__m256i*>(block);
        const __m256i old = _mm256_load_si256(place);
        _mm256_store_si256(place, _mm256_or_si256(old, mask));
        const __m256i same = _mm256_cmpeq_epi32(_mm256_and_si256(old, mask), mask);
        return _mm256_and_si256(same, _mm256_slli_epi64(same, 32));
    }
};

// The byte `which` (of eight) of every lane, alone in it.
[[gnu::always_inline]] inline __m256i byte_of_lanes(__m256i lanes, std::size_t which) noexcept {
    const auto pick = static_cast<long long>(0x8080808080808000u | which);
    return _mm256_shuffle_epi8(lanes, _mm256_set_epi64x(pick + 8, pick, pick + 8, pick));
}

// Words with the turned positions of up to eight of their bits in as many bytes of each lane: a lane is set when its
// word has them all.
template <std::uint32_t Bits>
[[gnu::always_inline]] inline __m256i have_bits(__m256i words, __m256i positions) noexcept {
    __m256i bits = _mm256_sllv_epi64(words, byte_of_lanes(positions, 0));
#pragma GCC unroll 8
    for (std::size_t i = 1; i < Bits; ++i)
        bits = _mm256_and_si256(bits, _mm256_sllv_epi64(words, byte_of_lanes(positions, i)));
    return bits;
}

// Four words from four places.
[[gnu::always_inline]] inline __m256i four_words(const std::uint64_t* a, const std::uint64_t* b,
                                                 const std::uint64_t* c, const std::uint64_t* d) noexcept {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_two(a, b)), load_two(c, d), 1);
}

// The words that sector_of() picks, side by side: two of each of two keys, or all four of one. The ring has whole
// position words, because their top bits pick.
template <std::uint32_t Groups, std::uint32_t Bits>
struct sectors {
    static constexpr std::size_t words_per_block = 8;
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
    [[gnu::always_inline]] static __m128i eight(const std::uint64_t* const* blocks,
                                                const std::uint64_t* at) noexcept {
        if constexpr (Groups == 2)
            return each_lane(four(blocks, at), four(blocks + 4, at + 4));
        else
            return all_of_lanes({bits(blocks[0], at), bits(blocks[1], at + 1), bits(blocks[2], at + 2),
                                 bits(blocks[3], at + 3), bits(blocks[4], at + 4), bits(blocks[5], at + 5),
                                 bits(blocks[6], at + 6), bits(blocks[7], at + 7)});
    }

  private:
    [[gnu::always_inline]] static __m256i four(const std::uint64_t* const* blocks,
                                               const std::uint64_t* at) noexcept {
        const __m256i first = four_turned(four_hashes(at));
        const __m256i second = four_turned(four_hashes(at + ring_keys));
        const __m256i even = have_bits<Bits>(two_words(blocks, at, 0), _mm256_unpacklo_epi64(first, second));
        const __m256i odd = have_bits<Bits>(two_words(blocks, at, 1), _mm256_unpackhi_epi64(first, second));
        return _mm256_and_si256(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd));
    }
    // Keys `which` and `which` + 2.
    [[gnu::always_inline]] static __m256i two_words(const std::uint64_t* const* blocks,
                                                    const std::uint64_t* at, std::size_t which) noexcept {
        const auto word = [&](std::size_t key, std::size_t group) __attribute__((always_inline)) {
            return blocks[key] + 4 * group + (at[key + group * ring_keys] >> 62);
        };
        return four_words(word(which, 0), word(which, 1), word(which + 2, 0), word(which + 2, 1));
    }
    [[gnu::always_inline]] static __m256i bits(const std::uint64_t* block, const std::uint64_t* at) noexcept {
        const std::uint64_t first = at[0];
        const std::uint64_t second = at[ring_keys];
        const __m256i words = four_words(block + ((first >> 30) & 1), block + 2 + ((first >> 62) & 1),
                                         block + 4 + ((second >> 30) & 1), block + 6 + ((second >> 62) & 1));
        const __m256i positions =
            _mm256_set_epi64x(static_cast<long long>(second >> 32), static_cast<long long>(second),
                              static_cast<long long>(first >> 32), static_cast<long long>(first));
        return have_bits<Bits>(words, four_turned(positions));
    }
};

// The pipeline over whole groups: step(first key of the group, blocks, positions) with what the ring holds for it. The
// rest, fewer keys than a group, is the caller's.
template <class Block, class Step>
[[gnu::always_inline]] inline void in_groups(const std::uint64_t* words, std::uint64_t blocks,
                                             const std::uint64_t* hashes, std::size_t count,
                                             Step step) noexcept {
    alignas(64) std::uint64_t positions[ring_keys * Block::position_words];
    const std::uint64_t* lines[ring_keys];
    const std::size_t groups = count / group_keys;
    pipeline<groups_ahead>(
        groups,
        [&](std::size_t group) __attribute__((always_inline)) {
            const std::size_t slot = group % groups_ahead * group_keys;
            const std::uint64_t* const from = hashes + group * group_keys;
            for (std::size_t i = 0; i < group_keys; ++i) {
                const std::uint64_t* const block =
                    words + Block::index(from[i], blocks) * Block::words_per_block;
                for (std::size_t w = 0; w < Block::words_per_block; w += words_per_line)
                    __builtin_prefetch(block + w);
                lines[slot + i] = block;
            }
            Block::positions_of(from, positions + slot);
            Block::positions_of(from + 4, positions + slot + 4);
        },
        [&](std::size_t group) __attribute__((always_inline)) {
            const std::size_t slot = group % groups_ahead * group_keys;
            step(group * group_keys, lines + slot, positions + slot);
        });
}

// The group at the end that is not full: its keys, filled up with the last of them, through a ring of its own.
template <class Block, class Step>
inline void last_group(const std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                       std::size_t count, Step step) noexcept {
    std::uint64_t group[group_keys];
    for (std::size_t i = 0; i < group_keys; ++i) group[i] = hashes[i < count ? i : count - 1];
    in_groups<Block>(words, blocks, group, group_keys, step);
}

// The answers of whole groups, counted in a vector; then those of the rest, one by one.
[[gnu::always_inline]] inline __m128i store_answers(__m128i bools, __m128i found, bool* answers) noexcept {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(answers), bools);
    return _mm_add_epi64(found, _mm_sad_epu8(bools, _mm_setzero_si128()));
}
inline std::size_t found_in(__m128i found) noexcept {
    return static_cast<std::size_t>(_mm_cvtsi128_si64(found));
}
inline std::size_t copy_answers(const bool* from, std::size_t count, bool* answers) noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        answers[i] = from[i];
        found += from[i];
    }
    return found;
}

template <class Block>
std::size_t query_batch(const std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                        std::size_t count, bool* answers) noexcept {
    __m128i found = _mm_setzero_si128();
    in_groups<Block>(
        words, blocks, hashes, count,
        [&](std::size_t first, const std::uint64_t* const* lines, const std::uint64_t* positions)
            __attribute__((always_inline)) {
                found = store_answers(Block::eight(lines, positions), found, answers + first);
            });
    const std::size_t rest = count % group_keys;
    if (rest == 0) return found_in(found);
    alignas(16) bool last[2 * group_keys];
    last_group<Block>(
        words, blocks, hashes + (count - rest), rest,
        [&](std::size_t, const std::uint64_t* const* lines, const std::uint64_t* positions)
            __attribute__((always_inline)) {
                _mm_store_si128(reinterpret_cast<__m128i*>(last), Block::eight(lines, positions));
            });
    return found_in(found) + copy_answers(last, rest, answers + (count - rest));
}

// [exclusive] A batch of new keys is written without looking, a batch of old ones only looked at: what the last group
// was decides how the next is taken, so that neither pays for the other and a mixture costs no failed guesses.
template <class Block>
std::size_t add_batch(std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                      std::size_t count) noexcept {
    const __m128i all_there = _mm_set1_epi8(1);
    bool look_first = false;
    __m128i there = _mm_setzero_si128(); // how many keys were, counted as answers are
    const auto added =
        [](const std::uint64_t* const* lines, const std::uint64_t* positions) __attribute__((always_inline)) {
        eight_keys before;
#pragma GCC unroll 8
        for (std::size_t i = 0; i < group_keys; ++i)
            before.lanes[i] = Block::add(const_cast<std::uint64_t*>(lines[i]), positions + i);
        return all_of_lanes(before);
    };
    in_groups<Block>(
        words, blocks, hashes, count,
        [&](std::size_t, const std::uint64_t* const* lines, const std::uint64_t* positions)
            __attribute__((always_inline)) {
                __m128i now = look_first ? Block::eight(lines, positions) : _mm_setzero_si128();
                if (_mm_testc_si128(now, all_there) == 0) {
                    now = added(lines, positions);
                    look_first = _mm_testc_si128(now, all_there) != 0;
                }
                there = _mm_add_epi64(there, _mm_sad_epu8(now, _mm_setzero_si128()));
            });
    const std::size_t rest = count % group_keys;
    std::size_t changed = count - rest - static_cast<std::size_t>(_mm_cvtsi128_si64(there));
    if (rest == 0) return changed;
    last_group<Block>(
        words, blocks, hashes + (count - rest), rest,
        [&](std::size_t, const std::uint64_t* const* lines, const std::uint64_t* positions)
            __attribute__((always_inline)) {
                for (std::size_t i = 0; i < rest; ++i)
                    changed += !all_set(Block::add(const_cast<std::uint64_t*>(lines[i]), positions + i));
            });
    return changed;
}

// [exclusive] add_batch for who does not ask how many were new: every key is written without a look.
template <class Block>
void put_batch(std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
               std::size_t count) noexcept {
    const auto put = [](std::size_t, const std::uint64_t* const* lines, const std::uint64_t* positions)
        __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < group_keys; ++i)
            Block::add(const_cast<std::uint64_t*>(lines[i]), positions + i);
    };
    in_groups<Block>(words, blocks, hashes, count, put);
    const std::size_t rest = count % group_keys;
    if (rest != 0)
        last_group<Block>(words, blocks, hashes + (count - rest), rest, put); // repeats change nothing
}

// One key, for code that is not compiled for this instruction set itself.
inline bool lanes8_covers(const std::uint64_t* line, std::uint64_t hash) noexcept {
    return all_set(line_bits(line, spread(turned(position_word(hash, 0)))));
}
inline bool lanes16_covers(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return all_set(_mm256_and_si256(line_bits(block, spread(turned(position_word(hash, 0)))),
                                    line_bits(block + 8, spread(turned(position_word(hash, 1))))));
}
inline bool lanes8_set(std::uint64_t* block, std::uint64_t hash) noexcept {
    return !all_set(line_add(block, spread(turned(position_word(hash, 0)))));
}
inline bool lanes16_set(std::uint64_t* block, std::uint64_t hash) noexcept {
    const bool first = lanes8_set(block, hash);
    return !all_set(line_add(block + 8, spread(turned(position_word(hash, 1))))) || first;
}
