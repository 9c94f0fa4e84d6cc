#include <bit>

#include <bouncer/detail/hash_builtin.h>
#include <bouncer/detail/hash_load.h>
#include <bouncer/detail/isa.h>

#include "hash/siphash_four.h"

namespace bouncer::detail {

namespace {

template <class Lanes>
constexpr Lanes all(std::uint64_t word) noexcept {
    return word;
}
constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) noexcept {
    return a + b;
}
template <int Count>
constexpr std::uint64_t rotate(std::uint64_t word) noexcept {
    return std::rotl(word, Count);
}

#include "hash/siphash.inl"

struct two_words {
    std::uint64_t k0, k1;
};
two_words words_of(const secret_key& key) noexcept {
    return {load_le64(key.bytes.data()), load_le64(key.bytes.data() + 8)};
}

template <int PerWord, int ToFinish>
std::uint64_t siphash(two_words key, const key_piece& piece) noexcept {
    siphash_state<std::uint64_t> state(key.k0, key.k1);
    for (std::size_t i = 0; i < piece.size / 8; ++i) state.absorb<PerWord>(load_le64(piece.data + 8 * i));
    state.absorb<PerWord>(siphash_last_word(piece));
    return state.finish<ToFinish>();
}

#if defined(__x86_64__)
bool same_number_of_words(const key_piece* four) noexcept {
    const std::size_t words = four[0].size / 8;
    return four[1].size / 8 == words && four[2].size / 8 == words && four[3].size / 8 == words;
}

// Keys of equally many words go through a vector register four at a time, half the time of one by one. Returns how many
// keys are done.
template <int PerWord, int ToFinish>
std::size_t in_fours(two_words key, const key_piece* pieces, std::size_t count, std::uint64_t* out,
                     siphash_four* four) noexcept {
    if (active_isa() == isa::scalar) return 0;
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        if (same_number_of_words(pieces + i)) {
            four(key.k0, key.k1, pieces + i, out + i);
        } else {
            for (std::size_t j = i; j < i + 4; ++j) out[j] = siphash<PerWord, ToFinish>(key, pieces[j]);
        }
    }
    return i;
}
#endif

} // namespace

std::uint64_t siphash13_bytes(const secret_key& key, const std::byte* data, std::size_t size) noexcept {
    return siphash<1, 3>(words_of(key), {data, size});
}

std::uint64_t siphash24_bytes(const secret_key& key, const std::byte* data, std::size_t size) noexcept {
    return siphash<2, 4>(words_of(key), {data, size});
}

void siphash13_batch(const secret_key& key, const key_piece* pieces, std::size_t count,
                     std::uint64_t* out) noexcept {
    const two_words words = words_of(key);
    std::size_t i = 0;
#if defined(__x86_64__)
    i = in_fours<1, 3>(words, pieces, count, out, siphash13_four);
#endif
    for (; i < count; ++i) out[i] = siphash<1, 3>(words, pieces[i]);
}

void siphash24_batch(const secret_key& key, const key_piece* pieces, std::size_t count,
                     std::uint64_t* out) noexcept {
    const two_words words = words_of(key);
    std::size_t i = 0;
#if defined(__x86_64__)
    i = in_fours<2, 4>(words, pieces, count, out, siphash24_four);
#endif
    for (; i < count; ++i) out[i] = siphash<2, 4>(words, pieces[i]);
}

} // namespace bouncer::detail
