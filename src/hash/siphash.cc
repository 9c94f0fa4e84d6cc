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

bool same_number_of_words(const key_piece* four) noexcept {
    const std::size_t words = four[0].size / 8;
    return four[1].size / 8 == words && four[2].size / 8 == words && four[3].size / 8 == words;
}

// Keys of equally many words go through a vector register four at a time, half the time of one by one. `four` is null
// where there is none.
template <int PerWord, int ToFinish>
void siphash_batch(const secret_key& key, const key_piece* pieces, std::size_t count, std::uint64_t* out,
                   siphash_four* four) noexcept {
    const two_words words = words_of(key);
    const bool wide = four != nullptr && active_isa() != isa::scalar;
    for (std::size_t i = 0; i < count;) {
        if (wide && i + 4 <= count && same_number_of_words(pieces + i)) {
            four(words.k0, words.k1, pieces + i, out + i);
            i += 4;
        } else {
            out[i] = siphash<PerWord, ToFinish>(words, pieces[i]);
            ++i;
        }
    }
}

#if defined(__x86_64__)
constexpr siphash_four* four_13 = siphash13_four;
constexpr siphash_four* four_24 = siphash24_four;
#else
constexpr siphash_four* four_13 = nullptr;
constexpr siphash_four* four_24 = nullptr;
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
    siphash_batch<1, 3>(key, pieces, count, out, four_13);
}

void siphash24_batch(const secret_key& key, const key_piece* pieces, std::size_t count,
                     std::uint64_t* out) noexcept {
    siphash_batch<2, 4>(key, pieces, count, out, four_24);
}

} // namespace bouncer::detail
