// Each layout against a second statement of its rule: closed forms instead of loops, 128-bit arithmetic instead of
// multiply-high, and constants from another source. At 2^40 bits and more, and at sizes that are no power of two.
#include "support/random_hashes.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/bloom.h>
#include <bouncer/dcso_bloom.h>
#include <bouncer/partitioned_bloom.h>
#include <bouncer/register_bloom.h>
#include <bouncer/split_block_bloom.h>

#include <gtest/gtest.h>

#include <map>

namespace bouncer::test {
namespace {

using detail::uint128;
using bit_map = std::map<std::uint64_t, std::uint64_t>; // word index to bits

// floor(hash * range / 2^64), by long division of the product's two halves.
std::uint64_t scale(std::uint64_t hash, std::uint64_t range) {
    const uint128 product = uint128{hash} * range;
    return static_cast<std::uint64_t>(product / (uint128{1} << 64));
}

// The initial state of SHA-512 is the fractions of the roots of the first primes; made odd.
constexpr std::uint64_t roots[] = {0x6a09e667f3bcc908u | 1, 0xbb67ae8584caa73bu | 1};

std::uint64_t positions(std::uint64_t hash, unsigned j) {
    const auto product = static_cast<std::uint64_t>(uint128{hash} * roots[j]);
    return product ^ (product / (std::uint64_t{1} << 32));
}

void set(bit_map& out, std::uint64_t position) {
    out[position / 64] |= std::uint64_t{1} << (position % 64);
}

// Byte i of all position words, the lowest of the first word first.
std::uint64_t byte(std::uint64_t hash, unsigned i) {
    std::uint64_t word = positions(hash, i / 8);
    for (unsigned each = i % 8; each > 0; --each) word /= 256;
    return word % 256;
}

// Probe i of the flat layouts: the hash times a power, by squaring, as a fraction of 2^64.
std::uint64_t probe(std::uint64_t hash, std::uint64_t i) {
    std::uint64_t square = roots[1];
    for (; i != 0; i /= 2, square *= square)
        if (i % 2 == 1) hash *= square;
    return hash;
}

bit_map reference(const bloom_parameters& p, std::uint64_t hash) {
    bit_map out;
    for (std::uint64_t i = 0; i < p.k; ++i) set(out, scale(probe(hash, i), p.bits));
    return out;
}

bit_map reference(const partitioned_bloom_parameters& p, std::uint64_t hash) {
    bit_map out;
    for (std::uint64_t i = 0; i < p.k; ++i) set(out, i * p.slice_bits + scale(probe(hash, i), p.slice_bits));
    return out;
}

// By division of numbers that cannot wrap: the product modulo 2^64 first, then modulo the prime, then modulo m.
bit_map reference(const dcso_bloom_parameters& p, std::uint64_t hash) {
    constexpr uint128 full = uint128{1} << 64;
    constexpr uint128 prime = full - 59;
    bit_map out;
    uint128 x = hash % prime;
    for (std::uint64_t i = 0; i < p.k; ++i) {
        x = x * (full - 1469) % full % prime;
        set(out, static_cast<std::uint64_t>(x % p.bits));
    }
    return out;
}

bit_map reference(const register_bloom_parameters& p, std::uint64_t hash) {
    bit_map out;
    for (unsigned i = 0; i < p.k; ++i) set(out, scale(hash, p.words) * 64 + byte(hash, i) % 64);
    return out;
}

bit_map reference(const blocked_bloom_parameters& p, std::uint64_t hash) {
    const std::uint64_t block = scale(hash, p.blocks);
    bit_map out;
    for (unsigned i = 0; i < p.k; ++i) {
        switch (p.form) {
        case block_form::lanes8:
        case block_form::lanes16: set(out, (block * p.k + i) * 64 + byte(hash, i) % 64); break;
        // Sixteen bytes, dealt to the groups; bits from a group's first bytes on, its word from the top of its last.
        case block_form::sectors2: {
            const unsigned group = i / (p.k / 2);
            const std::uint64_t word = group * 4 + byte(hash, group == 0 ? 7 : 15) / 64;
            set(out, (block * 8 + word) * 64 + byte(hash, group * 8 + i % (p.k / 2)) % 64);
            break;
        }
        case block_form::sectors4: {
            const unsigned group = i / (p.k / 4);
            const std::uint64_t word = group * 2 + byte(hash, group * 4 + 3) / 64 % 2;
            set(out, (block * 8 + word) * 64 + byte(hash, group * 4 + i % (p.k / 4)) % 64);
            break;
        }
        }
    }
    return out;
}

// The words of Parquet's format text: the block is the upper 32 bits of the hash times the number of blocks, divided
// by 2^32; bit y of lane i, where y is the lower 32 bits of the hash times salt i, divided by 2^27.
bit_map reference(const split_block_bloom_parameters& p, std::uint64_t hash) {
    constexpr std::uint32_t salts[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                       0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    bit_map out;
    const std::uint64_t block = (hash / (std::uint64_t{1} << 32)) * p.blocks / (std::uint64_t{1} << 32);
    for (unsigned lane = 0; lane < 8; ++lane) {
        const std::uint64_t product =
            (hash % (std::uint64_t{1} << 32)) * salts[lane] % (std::uint64_t{1} << 32);
        set(out, block * 256 + lane * 32 + product / (1u << 27));
    }
    return out;
}

template <class Layout>
void expect_reference(const typename Layout::parameters& chosen) {
    SCOPED_TRACE(std::string(Layout::kind_name) + ": " + Layout::describe(chosen));
    ASSERT_TRUE(Layout::check(chosen).has_value());
    const Layout layout(chosen);
    auto hashes = random_hashes(200, 1);
    const auto extreme = extreme_hashes();
    hashes.insert(hashes.end(), extreme.begin(), extreme.end());
    for (const std::uint64_t hash : hashes) {
        bit_map got;
        layout.visit([&](auto form) {
            for (typename decltype(form)::key its(layout.at(), hash); its.more();) {
                const auto [word, bits] = its.next();
                got[word] |= bits;
            }
        });
        ASSERT_EQ(got, reference(chosen, hash)) << "hash " << hash;
        bit_map again;
        detail::each_word(layout, hash, [&](std::uint64_t word, std::uint64_t bits) { again[word] |= bits; });
        ASSERT_EQ(again, got);
        std::map<std::uint64_t, bool> lines;
        detail::each_line(layout, hash, [&](std::uint64_t word) { lines[word / 8] = true; });
        for (const auto& [word, bits] : got) ASSERT_TRUE(lines[word / 8]) << "a line that is not named";
        ASSERT_LT(got.rbegin()->first, layout.word_count());
    }
}

constexpr std::uint64_t two_to(unsigned exponent) {
    return std::uint64_t{1} << exponent;
}

TEST(index_reference, flat) {
    for (const std::uint64_t bits : {std::uint64_t{64}, std::uint64_t{64 * 999}, two_to(40), two_to(40) + 64,
                                     64 * 0x3ff'ffff'ffffu, two_to(50)})
        for (const std::uint32_t k : {1u, 7u, 13u, 64u}) expect_reference<detail::bloom_layout>({bits, k});
}

TEST(index_reference, dcso) {
    for (const std::uint64_t bits :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{63}, std::uint64_t{95'850}, two_to(32) - 1,
          two_to(40), two_to(40) + 1, two_to(50) - 1, two_to(50)})
        for (const std::uint32_t k : {1u, 7u, 13u, 64u}) expect_reference<detail::dcso_layout>({bits, k});
}

TEST(index_reference, partitioned) {
    for (const std::uint64_t bits :
         {std::uint64_t{64}, std::uint64_t{64 * 999}, two_to(38), two_to(40) + 64, two_to(44)})
        for (const std::uint32_t k : {1u, 7u, 13u, 64u})
            expect_reference<detail::partitioned_layout>({bits, k});
}

TEST(index_reference, blocked) {
    for (const std::uint64_t blocks :
         {std::uint64_t{1}, std::uint64_t{999}, two_to(31), two_to(32) + 1, two_to(40)}) {
        expect_reference<detail::blocked_layout>({blocks, 8, block_form::lanes8});
        expect_reference<detail::blocked_layout>({blocks, 16, block_form::lanes16});
        for (std::uint32_t k = 2; k <= 16; k += 2)
            expect_reference<detail::blocked_layout>({blocks, k, block_form::sectors2});
        for (std::uint32_t k = 4; k <= 16; k += 4)
            expect_reference<detail::blocked_layout>({blocks, k, block_form::sectors4});
    }
}

TEST(index_reference, register_words) {
    for (const std::uint64_t words :
         {std::uint64_t{1}, std::uint64_t{999}, two_to(34), two_to(34) + 1, two_to(44)})
        for (std::uint32_t k = 1; k <= 8; ++k) expect_reference<detail::register_layout>({words, k});
}

TEST(index_reference, split_block) {
    for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{999}, two_to(21) + 1, two_to(22)})
        expect_reference<detail::split_block_layout>({blocks});
}

} // namespace
} // namespace bouncer::test
