// probe<Form>: what can be done with the bits of a form. Text, included once per instruction set, each time in a namespace
// of its own; where BOUNCER_VECTOR is defined, after load_block.inl and the lines_*.inl of a vector unit. A probe begins as
// by_word<Form>, which needs nothing but the specification, and replaces what a vector unit does better.
//
//   ask        whether a filter has all bits of a hash           [any-thread]
//   set        sets them; returns whether all were set before    [exclusive], with atomic_words [any-thread]
//   ask8       of the eight hashes of a group: eight bytes, 1 or 0
//   set8       sets them; returns which were there before, each after those before it   [exclusive]
//   aim8       what ask8 and set8 need of the hashes before they can look at a block
//
// ask and set return what yes() turns into a bool. It is not a bool already, so that code which has several forms behind a
// branch joins registers there and tests once: a bool made in each branch cost 0.35 ns of 1.1 (lanes8, Zen 5), because the
// flag had to become a number before it could be used.
#if !defined(BOUNCER_INLINE)
#define BOUNCER_INLINE [[gnu::always_inline]] inline
#endif

BOUNCER_INLINE bool yes(bool there) noexcept {
    return there;
}

#if !defined(BOUNCER_VECTOR)
inline constexpr bool aim_early = false;
#endif

// Eight keys of a batch, on their way from the prefetch to the test.
struct key_group {
    alignas(64) std::uint64_t at8[8];                       // the first words of their blocks
    std::array<std::uint64_t, aim_early ? 16 : 0> position; // two position words of each, or one
};

template <class Form>
struct probe;

// One word, so one exchange decides: of threads that add a new key at once exactly one is told so.
template <class Words>
BOUNCER_INLINE bool set_by_exchange(std::uint64_t* word, std::uint64_t bits) noexcept {
    std::uint64_t old = Words::load(word);
    do {
        if ((old & bits) == bits) return true;
    } while (!Words::compare_exchange(word, old, old | bits)); // bits are monotone: fails at most 64 times
    return false;
}

// By the specification, word for word. Words say how a word is reached.
template <class Form>
struct by_word {
    using key = typename Form::key;

    template <class Words = const_words>
    BOUNCER_INLINE static bool ask(const std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        std::uint64_t missing = 0;
        for (key its(at, hash); its.more();) {
            const auto [word, bits] = its.next();
            missing |= bits & ~Words::load(words + word);
            // Without blocks: stop at the first zero bit, two lines on average. In a block the words are neighbours: to
            // read them all costs less than a branch that guesses wrong.
            if (Form::block_words == 0 && missing != 0) return false;
        }
        return missing == 0;
    }
    template <class Words>
    BOUNCER_INLINE static bool set(std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        if constexpr (Words::concurrent && Form::key_words == 1) {
            const word_bits only = key(at, hash).next();
            return set_by_exchange<Words>(words + only.word, only.bits);
        } else if constexpr (Words::concurrent) {
            // A key that is there is only looked at, and takes no ownership of its lines.
            if (Form::block_words != 0 && ask<Words>(words, at, hash)) return true;
            return set_missing<Words>(words, at, hash);
        } else {
            std::uint64_t missing = 0;
            for (key its(at, hash); its.more();) {
                const auto [word, bits] = its.next();
                missing |= bits & ~Words::load(words + word);
                Words::set_bits(words + word,
                                bits); // no ownership to save: a branch would cost more than the write
            }
            return missing == 0;
        }
    }
    // For words that others write too: of a key that is probably not there. Everything is worked out before the first
    // write, because a load waits for the locked instruction before it; and only words that lack bits are written. They are
    // gathered first, so that one guess can be wrong and not one for each.
    template <class Words>
    [[gnu::noinline]] static bool set_missing(std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        std::array<word_bits, Form::key_words> lacking;
        std::size_t count = 0;
        for (key its(at, hash); its.more();) {
            const auto [word, bits] = lacking[count] = its.next();
            count += (Words::load(words + word) & bits) != bits;
        }
        for (std::size_t i = 0; i < count; ++i) Words::set_bits(words + lacking[i].word, lacking[i].bits);
        return count == 0;
    }

    BOUNCER_INLINE static std::uint64_t ask8(const std::uint64_t* words, extent at,
                                             const std::uint64_t* hashes, const key_group&) noexcept {
        std::uint64_t out = 0;
        for (std::size_t i = 0; i < 8; ++i)
            out |= std::uint64_t{yes(probe<Form>::ask(words, at, hashes[i]))} << (8 * i);
        return out;
    }
    BOUNCER_INLINE static std::uint64_t set8(std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                             const key_group&) noexcept {
        std::uint64_t out = 0;
        for (std::size_t i = 0; i < 8; ++i)
            out |= std::uint64_t{yes(probe<Form>::template set<plain_words>(words, at, hashes[i]))}
                   << (8 * i);
        return out;
    }
    BOUNCER_INLINE static void aim8(const std::uint64_t*, key_group&) noexcept {}
};

template <class Form>
struct probe : by_word<Form> {};

#if defined(BOUNCER_VECTOR)

// marks(i) for each of eight keys, in order: only braces promise the order, and a later add must see an earlier one.
template <class Marks>
BOUNCER_INLINE std::uint64_t each_of_eight(const Marks& marks) noexcept {
    const key_marks of[8]{marks(0), marks(1), marks(2), marks(3), marks(4), marks(5), marks(6), marks(7)};
    return bools(of);
}
// Bit i of `lanes` in byte i, 1 or 0.
BOUNCER_INLINE std::uint64_t bools_of(std::uint32_t lanes) noexcept {
    const std::uint64_t apart =
        lanes * std::uint64_t{0x0101010101010101u} & std::uint64_t{0x8040201008040201u};
    return (apart + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}
// The position words of eight hashes, `Count` of each. AVX2 multiplies 64 bits in three parts, so there they are worked out
// together with the prefetch and wait in the group (aim_early): 1.09 ns a key instead of 1.30 (lanes8, 1M). AVX-512 gains
// nothing from that and pays for the way through memory.
template <std::size_t Count, bool Aimed>
BOUNCER_INLINE void make_positions(const std::uint64_t* hashes, std::uint64_t* to) noexcept {
    for (std::size_t j = 0; j < Count; ++j) {
        const line positions = position_words(load_hashes(hashes), j);
        store_line(to + 8 * j, Aimed ? aim(positions) : positions);
    }
}
template <std::size_t Count, bool Aimed = true>
struct positions_of_eight {
    alignas(64) std::uint64_t late[aim_early ? 8 : 8 * Count];
    const std::uint64_t* of;
    BOUNCER_INLINE positions_of_eight(const std::uint64_t* hashes, const key_group& group) noexcept
        : of(aim_early ? group.position.data() : late) {
        if constexpr (!aim_early) make_positions<Count, Aimed>(hashes, late);
    }
};
template <std::size_t Count, bool Aimed>
struct aimed_early {
    BOUNCER_INLINE static void aim8(const std::uint64_t* hashes, key_group& group) noexcept {
        if constexpr (aim_early) make_positions<Count, Aimed>(hashes, group.position.data());
    }
};
template <class Form, std::size_t Count, bool Aimed = true>
struct with_positions : by_word<Form> {
    BOUNCER_INLINE static void aim8(const std::uint64_t* hashes, key_group& group) noexcept {
        aimed_early<Count, Aimed>::aim8(hashes, group);
    }
};

// ---- lanes: a line, or two, tested whole -----------------------------------------------------------------------------

template <std::size_t Lines>
struct probe<lanes<Lines>> : with_positions<lanes<Lines>, Lines> {
    template <class = const_words>
    BOUNCER_INLINE static pending ask(const std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        const std::uint64_t* const block = block_at(words, at, hash);
        line bits = pick(load_line(block), spread(aim(position_word(hash, 0))));
        if constexpr (Lines == 2)
            bits = bits & pick(load_line(block + 8), spread(aim(position_word(hash, 1))));
        return all_lanes(bits);
    }
    template <class Words>
    BOUNCER_INLINE static auto set(std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        auto* const block = const_cast<std::uint64_t*>(block_at(words, at, hash));
        if constexpr (Words::concurrent) {
            return set_lacking<Words>(block, hash);
        } else {
            line before = set_line(block, spread(aim(position_word(hash, 0))));
            if constexpr (Lines == 2)
                before = before & set_line(block + 8, spread(aim(position_word(hash, 1))));
            return all_lanes(before);
        }
    }
    BOUNCER_INLINE static std::uint64_t ask8(const std::uint64_t* words, extent, const std::uint64_t* hashes,
                                             const key_group& group) noexcept {
        const positions_of_eight<Lines> aimed(hashes, group);
        return each_of_eight([&](std::size_t i) __attribute__((always_inline)) {
            line bits = pick(load_line(words + group.at8[i]), spread_at(aimed.of + i));
            if constexpr (Lines == 2)
                bits = bits & pick(load_line(words + group.at8[i] + 8), spread_at(aimed.of + 8 + i));
            return marks(bits);
        });
    }
    BOUNCER_INLINE static std::uint64_t set8(std::uint64_t* words, extent, const std::uint64_t* hashes,
                                             const key_group& group) noexcept {
        const positions_of_eight<Lines> aimed(hashes, group);
        return each_of_eight([&](std::size_t i) __attribute__((always_inline)) {
            line before = set_line(words + group.at8[i], spread_at(aimed.of + i));
            if constexpr (Lines == 2)
                before = before & set_line(words + group.at8[i] + 8, spread_at(aimed.of + 8 + i));
            return marks(before);
        });
    }

  private:
    BOUNCER_INLINE static const std::uint64_t* block_at(const std::uint64_t* words, extent at,
                                                        std::uint64_t hash) noexcept {
        return words + 8 * Lines * fast_range(hash, at.units);
    }
    // [exclusive] Returns what pick() found before.
    BOUNCER_INLINE static line set_line(std::uint64_t* at, line aimed) noexcept {
        const line old = load_line(at);
        store_line(at, old | bits_at(aimed));
        return pick(old, aimed);
    }
    // The test says which words lack their bit, so nothing is read a second time: 27 ns where looking again took
    // 34 (fresh keys, 1M, Zen 5).
    template <class Words>
    BOUNCER_INLINE static bool set_lacking(std::uint64_t* block, std::uint64_t hash) noexcept {
        const std::uint64_t first = position_word(hash, 0);
        const std::uint64_t second = position_word(hash, Lines - 1);
        std::uint32_t lacking = marked_lanes(pick(load_line(block), spread(aim(first)))) ^ 0xff;
        if constexpr (Lines == 2)
            lacking |= (marked_lanes(pick(load_line(block + 8), spread(aim(second)))) ^ 0xff) << 8;
        if (lacking == 0) return true;
        do {
            const auto w = static_cast<std::uint32_t>(__builtin_ctz(lacking));
            Words::set_bits(block + w, byte_bit(w < 8 ? first : second, w % 8));
            lacking &= lacking - 1;
        } while (lacking != 0);
        return false;
    }
};

// ---- words with several bits of a key: registers and sectors ---------------------------------------------------------

// One key: a pair on every machine. One wide register took 1.1 times as long (Zen 4).
BOUNCER_INLINE pair pick_bits(const std::uint64_t* word, std::uint64_t positions, std::uint32_t n) noexcept {
    const __m256i copies = load_repeated(word);
    return pick(pair{copies, copies}, spread_first<8>(aim(positions), n));
}
BOUNCER_INLINE std::uint64_t mask_of(std::uint64_t positions, std::uint32_t n) noexcept {
    return join(bits_at(spread_first<8>(aim(positions), n)));
}
// Eight keys: a word of each in a lane, and one position after the other.
BOUNCER_INLINE line have_bits(line words, byte_steps at, std::uint32_t n) noexcept {
    line bits = at.next(words);
    for (std::uint32_t i = 1; i < n; ++i) bits = bits & at.next(words);
    return bits;
}

template <>
struct probe<registers> : with_positions<registers, 1> {
    template <class = const_words>
    BOUNCER_INLINE static pending ask(const std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        return all_lanes(pick_bits(words + fast_range(hash, at.units), position_word(hash, 0), at.k));
    }
    template <class Words>
    BOUNCER_INLINE static bool set(std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        std::uint64_t* const word = words + fast_range(hash, at.units);
        const std::uint64_t bits = mask_of(position_word(hash, 0), at.k);
        if constexpr (Words::concurrent) {
            return set_by_exchange<Words>(word, bits);
        } else {
            const std::uint64_t before = *word;
            *word = before | bits;
            return (before & bits) == bits;
        }
    }
    BOUNCER_INLINE static std::uint64_t ask8(const std::uint64_t* words, extent at,
                                             const std::uint64_t* hashes, const key_group& group) noexcept {
        const positions_of_eight<1> aimed(hashes, group);
        return bools_of(
            marked_lanes(have_bits(load_each(words, group.at8), byte_steps(load_hashes(aimed.of), 0), at.k)));
    }
};

template <std::uint32_t Groups>
struct probe<sectors<Groups>> : with_positions<sectors<Groups>, 2, false> {
    using form = sectors<Groups>;

    template <class = const_words>
    BOUNCER_INLINE static pending ask(const std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        const std::uint64_t* const block = words + 8 * fast_range(hash, at.units);
        return all_lanes(two_words(block, position_word(hash, 0), 0, at.k / Groups) &
                         two_words(block, position_word(hash, 1), 1, at.k / Groups));
    }
    // When one word must be written all are: a wrong guess costs as much as a needless write.
    template <class Words>
    BOUNCER_INLINE static auto set(std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        std::uint64_t* const block = words + 8 * fast_range(hash, at.units);
        const auto group = [=](std::uint32_t i) __attribute__((always_inline)) {
            const std::uint64_t from = form::positions(hash, i);
            return word_bits{form::word_of(from, i),
                             Groups == 2 ? mask_of(from, at.k / 2) : byte_bits(from, at.k / 4)};
        };
        const auto put = [=](auto... of) __attribute__((always_inline)) {
            if (((of.bits & ~Words::load(block + of.word)) | ...) == 0) return true;
            (Words::set_bits(block + of.word, of.bits), ...);
            return false;
        };
        bool there = false;
        if constexpr (Groups == 2)
            there = put(group(0), group(1));
        else
            there = put(group(0), group(1), group(2), group(3));
        if constexpr (Words::concurrent)
            return there;
        else
            return repeated(there ? ~std::uint64_t{0} : 0); // pending, as of lanes
    }
    BOUNCER_INLINE static std::uint64_t ask8(const std::uint64_t* words, extent at,
                                             const std::uint64_t* hashes, const key_group& group) noexcept {
        const positions_of_eight<2, false> positions(hashes, group);
        const line block = load_hashes(group.at8);
        alignas(64) std::uint64_t word[Groups][8]; // the addresses of all before the first is read
#pragma GCC unroll 4
        for (std::uint32_t i = 0; i < Groups; ++i) {
            const line from = load_hashes(positions.of + 8 * (i * form::bytes / 8));
            constexpr std::uint32_t pick_bits = 6; // in the last byte of the run
            const auto down = static_cast<int>(8 * (i * form::bytes % 8 + form::bytes - 1) + pick_bits);
            store_line(word[i],
                       block | in_all_lanes(i * form::run) | (from >> down & in_all_lanes(form::run - 1)));
        }
        line bits = in_all_lanes(~std::uint64_t{0});
#pragma GCC unroll 4
        for (std::uint32_t i = 0; i < Groups; ++i) {
            const line from = load_hashes(positions.of + 8 * (i * form::bytes / 8));
            bits = bits & have_bits(load_each(words, word[i]), byte_steps(aim(from), i * form::bytes % 8),
                                    at.k / Groups);
        }
        return bools_of(marked_lanes(bits));
    }

  private:
    // What one position word asks for: one word of a line with up to eight bits, or two with up to four.
    BOUNCER_INLINE static pair two_words(const std::uint64_t* block, std::uint64_t positions,
                                         std::uint32_t half, std::uint32_t n) noexcept {
        if constexpr (Groups == 2) {
            return pick_bits(block + form::word_of(positions, half), positions, n);
        } else {
            return pick(pair{load_repeated(block + form::word_of(positions, 2 * half)),
                             load_repeated(block + form::word_of(positions >> 32, 2 * half + 1))},
                        spread_first<4>(aim(positions), n));
        }
    }
};

// ---- Parquet's split block -------------------------------------------------------------------------------------------

// Its 256 bits gain nothing from wider registers: AVX2 instructions on both.
template <>
struct probe<split8x32> : by_word<split8x32> {
    template <class = const_words>
    BOUNCER_INLINE static bool ask(const std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        const __m256i block = load_half_line(words + 4 * split8x32::block_of(hash, at.units));
        return _mm256_testc_si256(block, mask(hash)) != 0;
    }
    template <class Words>
    BOUNCER_INLINE static bool set(std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
        if constexpr (Words::concurrent) {
            return ask(words, at, hash) || by_word<split8x32>::template set_missing<Words>(words, at, hash);
        } else {
            auto* const block = reinterpret_cast<__m256i*>(words + 4 * split8x32::block_of(hash, at.units));
            const __m256i old = _mm256_load_si256(block);
            const __m256i bits = mask(hash);
            _mm256_store_si256(block, _mm256_or_si256(old, bits));
            return _mm256_testc_si256(old, bits) != 0;
        }
    }
    BOUNCER_INLINE static std::uint64_t ask8(const std::uint64_t* words, extent, const std::uint64_t* hashes,
                                             const key_group& group) noexcept {
        return each_of_eight([=](std::size_t i) __attribute__((always_inline)) {
            return marks_of_halves(load_half_line(words + group.at8[i]), positions(hashes[i]));
        });
    }
    BOUNCER_INLINE static std::uint64_t set8(std::uint64_t* words, extent, const std::uint64_t* hashes,
                                             const key_group& group) noexcept {
        return each_of_eight([=](std::size_t i) __attribute__((always_inline)) {
            auto* const block = reinterpret_cast<__m256i*>(words + group.at8[i]);
            const __m256i old = _mm256_load_si256(block);
            const __m256i at = positions(hashes[i]);
            _mm256_store_si256(block, _mm256_or_si256(old, _mm256_sllv_epi32(_mm256_set1_epi32(1), at)));
            return marks_of_halves(old, at);
        });
    }

  private:
    BOUNCER_INLINE static __m256i positions(std::uint64_t hash) noexcept {
        const __m256i salts = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(split8x32::salts.data()));
        const __m256i low = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(hash)));
        return _mm256_srli_epi32(_mm256_mullo_epi32(low, salts), 27);
    }
    BOUNCER_INLINE static __m256i mask(std::uint64_t hash) noexcept {
        return _mm256_sllv_epi32(_mm256_set1_epi32(1), positions(hash));
    }
};

#endif
