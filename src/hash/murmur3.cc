#include <bit>

#include <bouncer/detail/hash_builtin.h>
#include <bouncer/detail/hash_load.h>

namespace bouncer::detail {

namespace {

constexpr std::uint64_t c1 = 0x87c37b91114253d5u;
constexpr std::uint64_t c2 = 0x4cf5ad432745937fu;

std::uint64_t scramble1(std::uint64_t k) noexcept {
    return std::rotl(k * c1, 31) * c2;
}

std::uint64_t scramble2(std::uint64_t k) noexcept {
    return std::rotl(k * c2, 33) * c1;
}

std::uint64_t finish(std::uint64_t x) noexcept {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

} // namespace

std::array<std::uint64_t, 2> murmur3_x64_128(const std::byte* data, std::size_t size,
                                             std::uint32_t seed) noexcept {
    std::uint64_t h1 = seed;
    std::uint64_t h2 = seed;
    std::size_t left = size;
    for (; left >= 16; data += 16, left -= 16) {
        h1 ^= scramble1(load_le64(data));
        h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729u;
        h2 ^= scramble2(load_le64(data + 8));
        h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5u;
    }
    // The scramble of zero is zero, so an empty half changes nothing.
    if (left >= 8) {
        h1 ^= scramble1(load_le64(data));
        h2 ^= scramble2(load_le_tail(data + 8, left - 8, true));
    } else {
        h1 ^= scramble1(load_le_tail(data, left, size >= 16));
    }

    h1 ^= size;
    h2 ^= size;
    h1 += h2;
    h2 += h1;
    h1 = finish(h1);
    h2 = finish(h2);
    h1 += h2;
    h2 += h1;
    return {h1, h2};
}

std::uint64_t murmur3_low64(const std::byte* data, std::size_t size, std::uint32_t seed) noexcept {
    return murmur3_x64_128(data, size, seed)[0];
}

} // namespace bouncer::detail
