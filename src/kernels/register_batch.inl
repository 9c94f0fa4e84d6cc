// Query batches of register_bloom; see block_batch.inl, after which it is included. The words of four keys stand side by
// side and are shifted down by one position after the other. They are loaded one by one;
// gather instructions were not tried.

// A lane is set when the word of its key has all k bits.
template <std::uint32_t K>
inline __m256i four_registers(const std::uint64_t* words, std::uint64_t range,
                              const std::uint64_t* hashes) noexcept {
    const __m256i from =
        four_words(words + fast_range(hashes[0], range), words + fast_range(hashes[1], range),
                   words + fast_range(hashes[2], range), words + fast_range(hashes[3], range));
    return have_bits<K>(from, four_positions(four_hashes(hashes), 0));
}

// K is fixed per kernel: with the loop unrolled the positions need no shuffle control from memory.
template <std::uint32_t K>
std::size_t query_register_batch(const std::uint64_t* words, std::uint64_t range, const std::uint64_t* hashes,
                                 std::size_t count, bool* answers) noexcept {
    constexpr std::uint64_t near_words = 16 * 1024; // 128 KiB: prefetching what is in L1 or L2 costs a tenth
    const auto eight = [=](const std::uint64_t* from) __attribute__((always_inline)) {
        return each_lane(four_registers<K>(words, range, from), four_registers<K>(words, range, from + 4));
    };
    __m128i found = _mm_setzero_si128();
    const std::size_t groups = count / group_keys;
    const auto step = [&](std::size_t group) __attribute__((always_inline)) {
        found = store_answers(eight(hashes + group * group_keys), found, answers + group * group_keys);
    };
    if (range <= near_words) {
        for (std::size_t group = 0; group < groups; ++group) step(group);
    } else {
        pipeline<groups_ahead>(
            groups,
            [&](std::size_t group) __attribute__((always_inline)) {
                for (std::size_t i = 0; i < group_keys; ++i)
                    __builtin_prefetch(words + fast_range(hashes[group * group_keys + i], range));
            },
            step);
    }
    const std::size_t rest = count % group_keys;
    if (rest == 0) return found_in(found);
    std::uint64_t group[group_keys];
    alignas(16) bool last[2 * group_keys];
    for (std::size_t i = 0; i < group_keys; ++i) group[i] = hashes[i < rest ? count - rest + i : count - 1];
    _mm_store_si128(reinterpret_cast<__m128i*>(last), eight(group));
    return found_in(found) + copy_answers(last, rest, answers + (count - rest));
}
