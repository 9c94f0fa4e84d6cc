// SipHash-c-d (Aumasson and Bernstein, 2012) with 64 bits of result: c rounds per word, d to finish.
#include <bit>

#include <bouncer/detail/hash_builtin.h>
#include <bouncer/detail/hash_load.h>

namespace bouncer::detail {

namespace {

struct state {
    std::uint64_t v0, v1, v2, v3;

    template <int Count>
    void rounds() noexcept {
        for (int i = 0; i < Count; ++i) {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32);
            v2 += v1;
            v0 += v3;
            v1 = std::rotl(v1, 17) ^ v2;
            v3 = std::rotl(v3, 21) ^ v0;
            v2 = std::rotl(v2, 32);
        }
    }
};

template <int PerWord, int ToFinish>
std::uint64_t siphash(const secret_key& key, const std::byte* data, std::size_t size) noexcept {
    const std::uint64_t k0 = load_le64(key.bytes.data());
    const std::uint64_t k1 = load_le64(key.bytes.data() + 8);
    // "somepseudorandomlygeneratedbytes"
    state s{k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
            k1 ^ 0x7465646279746573u};
    const auto absorb = [&s](std::uint64_t word) {
        s.v3 ^= word;
        s.template rounds<PerWord>();
        s.v0 ^= word;
    };
    std::size_t left = size;
    for (; left >= 8; data += 8, left -= 8) absorb(load_le64(data));
    absorb(load_le_tail(data, left, size >= 8) | std::uint64_t{size}
                                                     << 56); // the low byte of the size on top
    s.v2 ^= 0xff;
    s.rounds<ToFinish>();
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

} // namespace

std::uint64_t siphash13_bytes(const secret_key& key, const std::byte* data, std::size_t size) noexcept {
    return siphash<1, 3>(key, data, size);
}

std::uint64_t siphash24_bytes(const secret_key& key, const std::byte* data, std::size_t size) noexcept {
    return siphash<2, 4>(key, data, size);
}

} // namespace bouncer::detail
