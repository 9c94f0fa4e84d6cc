#include <bit>

#include <bouncer/detail/hash_builtin.h>
#include <bouncer/detail/hash_load.h>
#include <bouncer/detail/isa.h>

#include "hash/siphash_four.h"

namespace bouncer {

namespace detail {
namespace {

template <int Count>
constexpr std::uint64_t rotate(std::uint64_t word) noexcept {
    return std::rotl(word, Count);
}

#include "hash/siphash.inl"

template <int PerWord, int ToFinish>
std::uint64_t siphash_one(std::uint64_t k0, std::uint64_t k1, const key_piece& piece) noexcept {
    return siphash<PerWord, ToFinish>(k0, k1, piece.size / 8, [&](auto word) { return word(piece); });
}

[[maybe_unused]] bool same_number_of_words(const key_piece* four) noexcept {
    const std::size_t words = four[0].size / 8;
    return four[1].size / 8 == words && four[2].size / 8 == words && four[3].size / 8 == words;
}

} // namespace
} // namespace detail

template <std::uint32_t Id, int PerWord, int ToFinish>
std::uint64_t
basic_siphash<Id, PerWord, ToFinish>::operator()(std::span<const std::byte> key) const noexcept {
    return detail::siphash_one<PerWord, ToFinish>(detail::load_le64(key_.bytes.data()),
                                                  detail::load_le64(key_.bytes.data() + 8),
                                                  {key.data(), key.size()});
}

// Keys of equally many words go through a vector register four at a time, half the time of one by one.
template <std::uint32_t Id, int PerWord, int ToFinish>
void basic_siphash<Id, PerWord, ToFinish>::batch(const detail::key_piece* pieces, std::size_t count,
                                                 std::uint64_t* out) const noexcept {
    const std::uint64_t k0 = detail::load_le64(key_.bytes.data());
    const std::uint64_t k1 = detail::load_le64(key_.bytes.data() + 8);
    [[maybe_unused]] const bool wide = detail::active_isa() != detail::isa::scalar;
    for (std::size_t i = 0; i < count;) {
#if defined(__x86_64__)
        if (wide && i + 4 <= count && detail::same_number_of_words(pieces + i)) {
            detail::siphash_four<PerWord, ToFinish>(k0, k1, pieces + i, out + i);
            i += 4;
            continue;
        }
#endif
        out[i] = detail::siphash_one<PerWord, ToFinish>(k0, k1, pieces[i]);
        ++i;
    }
}

template class basic_siphash<5, 1, 3>;
template class basic_siphash<6, 2, 4>;

} // namespace bouncer
