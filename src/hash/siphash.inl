// SipHash-c-d (Aumasson and Bernstein, 2012) with 64 bits of result: c rounds per word, d to finish. Text to be included
// where rotate<N> of a Lanes type is known: 64 bits of one key, or of several side by side.
template <class Lanes>
struct siphash_state {
    Lanes v0, v1, v2, v3;

    [[gnu::always_inline]] siphash_state(Lanes k0, Lanes k1) noexcept
        // "somepseudorandomlygeneratedbytes"
        : v0(k0 ^ 0x736f6d6570736575u), v1(k1 ^ 0x646f72616e646f6du), v2(k0 ^ 0x6c7967656e657261u),
          v3(k1 ^ 0x7465646279746573u) {}

    template <int Count>
    [[gnu::always_inline]] void rounds() noexcept {
#pragma GCC unroll 4
        for (int i = 0; i < Count; ++i) {
            v0 += v1;
            v2 += v3;
            v1 = rotate<13>(v1) ^ v0;
            v3 = rotate<16>(v3) ^ v2;
            v0 = rotate<32>(v0);
            v2 += v1;
            v0 += v3;
            v1 = rotate<17>(v1) ^ v2;
            v3 = rotate<21>(v3) ^ v0;
            v2 = rotate<32>(v2);
        }
    }
    template <int PerWord>
    [[gnu::always_inline]] void absorb(Lanes word) noexcept {
        v3 ^= word;
        rounds<PerWord>();
        v0 ^= word;
    }
};

// `each(f)` is f(key) of every key side by side. Precondition: all keys have as many whole words.
template <int PerWord, int ToFinish, class Lanes, class Each>
[[gnu::always_inline]] inline Lanes siphash(Lanes k0, Lanes k1, std::size_t words, Each each) noexcept {
    siphash_state<Lanes> state(k0, k1);
    for (std::size_t i = 0; i < words; ++i)
        state.template absorb<PerWord>(
            each([i](const key_piece& key) { return load_le64(key.data + 8 * i); }));
    // What is left of the key, and the low byte of its size on top.
    state.template absorb<PerWord>(each([](const key_piece& key) {
        const std::size_t left = key.size % 8;
        return load_le_tail(key.data + (key.size - left), left, key.size >= 8) | std::uint64_t{key.size}
                                                                                     << 56;
    }));
    state.v2 ^= std::uint64_t{0xff};
    state.template rounds<ToFinish>();
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}
