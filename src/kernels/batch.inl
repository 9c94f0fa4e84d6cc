// Batches over the probes of one instruction set, and its table; included after probes.inl by the library's own files only.
// Keys go through in eights. The blocks of later eights are worked out ahead, wait in a ring, and are prefetched as far
// ahead as the filter lies from the core.
inline constexpr std::size_t group_keys = 8;
inline constexpr std::size_t ring_groups = 16;

// How many groups ahead. 1M keys of lanes8 (Zen 4): 32 keys 1.34 ns, 64 1.39, 128 1.42; 10M: 128 keys, more than a core has
// miss buffers, 1.96, 64 2.1 to 2.6, 32 3.2; 100M (Zen 5): 128 keys 2.8, 64 3.7. No prefetch where out-of-order execution
// overlaps as much by itself: it would cost a tenth.
struct reach {
    bool prefetch;
    std::size_t groups;
};
template <class Form>
BOUNCER_INLINE reach reach_of(extent at) noexcept {
    const std::uint64_t bytes = at.units * (Form::block_words * sizeof(std::uint64_t));
    return {bytes > std::uint64_t{256} << 10, bytes <= std::uint64_t{4} << 20 ? 4 : ring_groups};
}

// Where eight keys lie; and their lines called for. The loop must be unrolled, which g++ -O2 does not do by itself, and the
// address come from a register: a vector of eight addresses that is stored and read back sent the prefetches out in one
// burst, and took 1.3 times as long beyond the second cache.
template <class Form, bool Prefetch>
BOUNCER_INLINE void begin_group(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                key_group& group) noexcept {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < group_keys; ++i) {
        group.at8[i] = Form::block_words * Form::block_of(hashes[i], at.units);
        if constexpr (Prefetch)
            for (std::size_t w = 0; w < Form::block_words; w += 8)
                __builtin_prefetch(words + group.at8[i] + w);
    }
    probe<Form>::aim8(hashes, group);
}

// step(index of the first key, group) for each whole eight; the rest is the caller's.
template <class Form, class Step>
BOUNCER_INLINE void in_groups(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                              std::size_t count, Step step) noexcept {
    const auto [prefetch, ahead] = reach_of<Form>(at);
    key_group ring[ring_groups];
    const auto work = [&](std::size_t group) __attribute__((always_inline)) {
        step(group * group_keys, ring[group % ring_groups]);
    };
    if (prefetch)
        pipeline(
            count / group_keys, ahead,
            [&](std::size_t group) __attribute__((always_inline)) {
                begin_group<Form, true>(words, at, hashes + group * group_keys, ring[group % ring_groups]);
            },
            work);
    else
        pipeline(
            count / group_keys, ahead,
            [&](std::size_t group) __attribute__((always_inline)) {
                begin_group<Form, false>(words, at, hashes + group * group_keys, ring[group % ring_groups]);
            },
            work);
}

// The sum of each(i) over every key, one by one: of forms without blocks, where a key has a line for each bit, and of adds to
// words that others write too, which are looked at and written key by key. The prefetch must be inlined: g++ takes a function
// that does nothing else for one without effect, and drops the call.
template <class Each>
[[gnu::noinline]] std::size_t sum_of(std::size_t count, Each each) noexcept { // alone it keeps its registers
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += each(i);
    return sum;
}
template <class Form, bool ForWrite, class Each>
BOUNCER_INLINE std::size_t one_by_one(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                      std::size_t count, Each each) noexcept {
    // To work out the positions of a key twice costs 3 ns, which pays beyond the second cache: 20 ns a key instead of 60
    // (flat, 10M keys, cold). Those of dcso cost too much for that: 62 ns instead of 30 (10M, warm).
    if (Form::block_words == 0 && (Form::words(at) <= std::uint64_t{512} << 10 || std::is_same_v<Form, dcso>))
        return sum_of(count, each);
    std::size_t sum = 0;
    pipeline(
        count, Form::block_words == 0 ? 16 : 64,
        [=](std::size_t i) __attribute__((always_inline)) {
            if constexpr (Form::block_words == 0) {
                for (typename Form::key its(at, hashes[i]); its.more();)
                    __builtin_prefetch(words + its.next().word, ForWrite);
            } else {
                const std::uint64_t first = Form::block_words * Form::block_of(hashes[i], at.units);
                for (std::size_t w = 0; w < Form::block_words; w += 8)
                    __builtin_prefetch(words + first + w, ForWrite);
            }
        },
        [&](std::size_t i) __attribute__((always_inline)) { sum += each(i); });
    return sum;
}

// Fewer than eight keys at the end, filled up with the last of them.
template <class Form>
struct last_keys {
    std::uint64_t hashes[group_keys];
    key_group group;
    std::size_t count;
    std::uint64_t theirs; // bytes of answers that are of keys, not of repetitions

    last_keys(extent at, const std::uint64_t* all, std::size_t all_count) noexcept
        : count(all_count % group_keys), theirs((std::uint64_t{1} << 8 * count) - 1) {
        for (std::size_t i = 0; i < group_keys; ++i)
            hashes[i] = all[i < count ? all_count - count + i : all_count - 1];
        begin_group<Form, false>(nullptr, at, hashes, group);
    }
};

BOUNCER_INLINE std::size_t ones(std::uint64_t bytes) noexcept {
    return static_cast<std::size_t>(__builtin_popcountll(bytes));
}
BOUNCER_INLINE std::uint64_t answers_of(std::uint64_t bytes) noexcept {
    return std::endian::native == std::endian::little ? bytes : __builtin_bswap64(bytes);
}
BOUNCER_INLINE void store_answers(bool* to, std::uint64_t bytes) noexcept {
    const std::uint64_t stored = answers_of(bytes);
    std::memcpy(to, &stored, sizeof stored);
}
BOUNCER_INLINE void store_last(bool* to, std::uint64_t bytes, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) to[i] = (bytes >> (8 * i) & 1) != 0;
}

template <class Form>
std::size_t covers_each(const std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count,
                        bool* answers) noexcept {
    if constexpr (Form::block_words == 0) {
        return one_by_one<Form, false>(
            words, at, hashes, count, [=](std::size_t i) __attribute__((always_inline))->std::size_t {
                return answers[i] = yes(probe<Form>::ask(words, at, hashes[i]));
            });
    } else {
        std::size_t found = 0;
        in_groups<Form>(
            words, at, hashes,
            count, [&](std::size_t first, const key_group& group) __attribute__((always_inline)) {
                const std::uint64_t yes8 = probe<Form>::ask8(words, at, hashes + first, group);
                store_answers(answers + first, yes8);
                found += ones(yes8);
            });
        if (count % group_keys == 0) return found;
        const last_keys<Form> last(at, hashes, count);
        const std::uint64_t yes8 = probe<Form>::ask8(words, at, last.hashes, last.group) & last.theirs;
        store_last(answers + (count - last.count), yes8, last.count);
        return found + ones(yes8);
    }
}

template <class Form, class Words>
BOUNCER_INLINE std::size_t set_one_by_one(std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                          std::size_t count, bool* known) noexcept {
    return one_by_one<Form, true>(
        words, at, hashes, count, [=](std::size_t i) __attribute__((always_inline))->std::size_t {
            const bool there = yes(probe<Form>::template set<Words>(words, at, hashes[i]));
            if (known != nullptr) known[i] = there;
            return !there;
        });
}

// [exclusive] Without Counted the compiler drops what makes the count.
template <class Form, bool Counted>
BOUNCER_INLINE std::size_t set_all(std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                   std::size_t count, bool* known) noexcept {
    if constexpr (Form::block_words == 0) {
        return set_one_by_one<Form, plain_words>(words, at, hashes, count, known);
    } else {
        std::size_t there = 0;
        in_groups<Form>(
            words, at, hashes,
            count, [&](std::size_t first, const key_group& group) __attribute__((always_inline)) {
                const std::uint64_t there8 = probe<Form>::set8(words, at, hashes + first, group);
                if constexpr (Counted) {
                    if (known != nullptr) store_answers(known + first, there8);
                    there += ones(there8);
                }
            });
        if (count % group_keys == 0) return count - there;
        const last_keys<Form> last(at, hashes, count); // to set the last key again changes nothing
        const std::uint64_t there8 = probe<Form>::set8(words, at, last.hashes, last.group) & last.theirs;
        if (Counted && known != nullptr) store_last(known + (count - last.count), there8, last.count);
        return count - there - ones(there8);
    }
}
template <class Form>
std::size_t set_each(std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count,
                     bool* known) noexcept {
    return set_all<Form, true>(words, at, hashes, count, known);
}
template <class Form>
void put_each(std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count) noexcept {
    set_all<Form, false>(words, at, hashes, count, nullptr);
}
template <class Form>
std::size_t set_each_shared(std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count,
                            bool* known) noexcept {
    return set_one_by_one<Form, atomic_words>(words, at, hashes, count, known);
}

// One key, for callers that are not compiled for this instruction set: functions of their own, because what is always
// inlined has no address.
template <class Form>
bool covers(const std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
    return yes(probe<Form>::ask(words, at, hash));
}
template <class Form, class Words>
bool set(std::uint64_t* words, extent at, std::uint64_t hash) noexcept {
    return yes(probe<Form>::template set<Words>(words, at, hash));
}

template <class... Form>
constexpr bit_ops_table table_of(form_list<Form...>) noexcept {
    return {{bit_ops{covers<Form>, set<Form, plain_words>, set<Form, atomic_words>, covers_each<Form>,
                     set_each<Form>, set_each_shared<Form>, put_each<Form>}...}};
}
