// Published test vectors of every hash, and the inline code held to libxxhash.
#include <bouncer/hash.h>

#ifdef XXH_VERSION_NUMBER
#error "a public header includes <xxhash.h>: see detail/hash_xxh.h for why it must not"
#endif

#include "hash/libxxhash.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

namespace bouncer {
namespace {

constexpr std::uint64_t prime32 = 2654435761u;
constexpr std::uint64_t prime64 = 11400714785074694797u;

// The input of xxHash's own sanity check (cli/xsum_sanity_check.c).
std::vector<std::byte> sanity_buffer(std::size_t size) {
    std::vector<std::byte> buffer(size);
    std::uint64_t generator = prime32;
    for (std::byte& b : buffer) {
        b = static_cast<std::byte>(generator >> 56);
        generator *= prime64;
    }
    return buffer;
}

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

struct xxh_vector {
    std::size_t size;
    std::uint64_t seed;
    std::uint64_t hash;
};

// From xxHash 0.8, cli/xsum_sanity_check.c, XSUM_XXH64_testdata.
constexpr xxh_vector xxh64_vectors[] = {
    {0, 0, 0xef46db3751d8e999u},         {0, prime32, 0xac75fda2929b17efu},
    {1, 0, 0xe934a84adb052768u},         {1, prime32, 0x5014607643a9b4c3u},
    {4, 0, 0x9136a0dca57457eeu},         {14, 0, 0x8282dcc4994e35c8u},
    {14, prime32, 0xc3bd6bf63deb6df0u},  {222, 0, 0xb641ae8cb691c174u},
    {222, prime32, 0x20cb8ab7ae10c14au},
};

// From the same file, XSUM_XXH3_testdata. Lengths over 240 take XXH3's long path.
constexpr xxh_vector xxh3_vectors[] = {
    {0, 0, 0x2d06800538d394c2u},    {0, prime64, 0xa8a6b918b2f0364au},
    {1, 0, 0xc44bdff4074eecdbu},    {1, prime64, 0x032be332dd766ef8u},
    {6, 0, 0x27b56a84cd2d7325u},    {6, prime64, 0x84589c116ab59ab9u},
    {12, 0, 0xa713daf0dfbb77e7u},   {12, prime64, 0xe7303e1b2336de0eu},
    {24, 0, 0xa3fe70bf9d3510ebu},   {24, prime64, 0x850e80fc35bdd690u},
    {48, 0, 0x397da259ecba1f11u},   {48, prime64, 0xadc2cbaa44acc616u},
    {80, 0, 0xbcdefbbb2c47c90au},   {80, prime64, 0xc6dd0cb699532e73u},
    {195, 0, 0xcd94217ee362ec3au},  {195, prime64, 0xba68003d370cb3d9u},
    {403, 0, 0xcdeb804d65c6dea4u},  {403, prime64, 0x6259f6ecfd6443fdu},
    {512, 0, 0x617e49599013cb6bu},  {512, prime64, 0x3ce457de14c27708u},
    {2048, 0, 0xdd59e2c3a5f038e0u}, {2048, prime64, 0x66f81670669ababcu},
    {2240, 0, 0x6e73a90539cf2948u}, {2240, prime64, 0x757ba8487d1b5247u},
    {2367, 0, 0xcb37aeb9e5d361edu}, {2367, prime64, 0xd2db3415b942b42au},
};

TEST(hash_vectors, xxh64) {
    const auto buffer = sanity_buffer(222);
    for (const auto& v : xxh64_vectors)
        EXPECT_EQ(xxh64{v.seed}(std::span(buffer).first(v.size)), v.hash)
            << v.size << " bytes, seed " << v.seed;
}

TEST(hash_vectors, xxh3) {
    const auto buffer = sanity_buffer(2367);
    for (const auto& v : xxh3_vectors)
        EXPECT_EQ(xxh3{v.seed}(std::span(buffer).first(v.size)), v.hash)
            << v.size << " bytes, seed " << v.seed;
}

TEST(hash_vectors, xxh_equals_libxxhash_for_every_length) {
    const auto buffer = sanity_buffer(1024 + 8);
    for (const std::uint64_t seed :
         {std::uint64_t{0}, std::uint64_t{1}, prime32, prime64, ~std::uint64_t{0}}) {
        for (std::size_t size = 0; size <= 1024; ++size) {
            const auto key = std::span(buffer).subspan(size % 8, size);
            ASSERT_EQ(xxh3{seed}(key), XXH3_64bits_withSeed(key.data(), size, seed)) << size;
            ASSERT_EQ(xxh64{seed}(key), XXH64(key.data(), size, seed)) << size;
        }
    }
}

struct murmur3_vector {
    std::string_view key;
    std::uint32_t seed;
    std::uint64_t h1;
    std::uint64_t h2;
};

// As published with several other implementations; "hello, world" and the sentence are in most of their tests.
constexpr murmur3_vector murmur3_vectors[] = {
    {"", 0, 0, 0},
    {"hello", 0, 0xcbd8a7b341bd9b02u, 0x5b1e906a48ae1d19u},
    {"hello, world", 0, 0x342fac623a5ebc8eu, 0x4cdcbc079642414du},
    {"19 Jan 2038 at 3:14:07 AM", 0, 0xb89e5988b737affcu, 0x664fc2950231b2cbu},
    {"The quick brown fox jumps over the lazy dog", 0, 0xe34bbc7bbc071b6cu, 0x7a433ca9c49a9347u},
    {"The quick brown fox jumps over the lazy cog", 0, 0x658ca970ff85269au, 0x43fee3eaa68e5c3eu},
    {"hello w", 3, 0x2ea59f466f6bed8cu, 0xc610990acc428a17u},
    {"hello wo", 4, 0x79f6305a386c572cu, 0x46305aed3483b94eu},
    {"hello wor", 5, 0xc2219d213ec1f1b5u, 0xa1d8e2e0a52785bdu},
    {"hello", 42, 0xc4b8b3c960af6f08u, 0x2334b875b0efbc7au},
};

TEST(hash_vectors, murmur3) {
    for (const auto& v : murmur3_vectors) {
        const auto key = bytes_of(v.key);
        const auto both = detail::murmur3_x64_128(key.data(), key.size(), v.seed);
        EXPECT_EQ(both[0], v.h1) << v.key;
        EXPECT_EQ(both[1], v.h2) << v.key;
        EXPECT_EQ(murmur3{v.seed}(key), v.h1) << v.key;
    }
}

// SMHasher's verification of MurmurHash3_x64_128: the keys {}, {0}, {0, 1}, ... of up to 255 bytes, each under the
// seed 256 - length; then all results as one key under seed 0. The first four bytes are the value published there.
TEST(hash_vectors, murmur3_smhasher_verification) {
    std::array<std::byte, 256> key{};
    std::vector<std::byte> results;
    const auto append = [&results](std::uint64_t half) {
        for (int shift = 0; shift < 64; shift += 8) results.push_back(static_cast<std::byte>(half >> shift));
    };
    for (std::uint32_t size = 0; size < 256; ++size) {
        key[size] = static_cast<std::byte>(size);
        const auto both = detail::murmur3_x64_128(key.data(), size, 256 - size);
        append(both[0]);
        append(both[1]);
    }
    EXPECT_EQ(murmur3{}(results)&0xffffffffu, 0x6384ba69u);
}

// From the authors' list (Noll, Fowler, Vo: test_fnv.c).
TEST(hash_vectors, fnv1a) {
    EXPECT_EQ(fnv1a{}(bytes_of("")), 0xcbf29ce484222325u);
    EXPECT_EQ(fnv1a{}(bytes_of("a")), 0xaf63dc4c8601ec8cu);
    EXPECT_EQ(fnv1a{}(bytes_of("foobar")), 0x85944171f73967e8u);
}

TEST(hash_vectors, fnv1) {
    EXPECT_EQ(fnv1{}(bytes_of("")), 0xcbf29ce484222325u);
    EXPECT_EQ(fnv1{}(bytes_of("a")), 0xaf63bd4c8601b7beu);
    EXPECT_EQ(fnv1{}(bytes_of("foobar")), 0x340d8765a4dda9c2u);
}

// Below, entry n is the hash of the bytes 0, 1, ..., n-1 under the key 00 01 ... 0f.

// SipHash-1-3: made with Rust 1.95's core::hash::SipHasher13, and equal to the table in the Rust library's own test
// (library/core/tests/hash/sip.rs).
constexpr std::uint64_t siphash13_vectors[64] = {
    0xabac0158050fc4dcu, 0xc9f49bf37d57ca93u, 0x82cb9b024dc7d44du, 0x8bf80ab8e7ddf7fbu, 0xcf75576088d38328u,
    0xdef9d52f49533b67u, 0xc50d2b50c59f22a7u, 0xd3927d989bb11140u, 0x369095118d299a8eu, 0x25a48eb36c063de4u,
    0x79de85ee92ff097fu, 0x70c118c1f94dc352u, 0x78a384b157b4d9a2u, 0x306f760c1229ffa7u, 0x605aa111c0f95d34u,
    0xd320d86d2a519956u, 0xcc4fdd1a7d908b66u, 0x9cf2689063dbd80cu, 0x8ffc389cb473e63eu, 0xf21f9de58d297d1cu,
    0xc0dc2f46a6cce040u, 0xb992abfe2b45f844u, 0x7ffe7b9ba320872eu, 0x525a0e7fdae6c123u, 0xf464aeb267349c8cu,
    0x45cd5928705b0979u, 0x3a3e35e3ca9913a5u, 0xa91dc74e4ade3b35u, 0xfb0bed02ef6cd00du, 0x88d93cb44ab1e1f4u,
    0x540f11d643c5e663u, 0x2370dd1f8c21d1bcu, 0x81157b6c16a7b60du, 0x4d54b9e57a8ff9bfu, 0x759f12781f2a753eu,
    0xcea1a3bebf186b91u, 0x2cf508d3ada26206u, 0xb6101c2da3c33057u, 0xb3f47496ae3a36a1u, 0x626b57547b108392u,
    0xc1d2363299e41531u, 0x667cc1923f1ad944u, 0x65704ffec8138825u, 0x24f280d1c28949a6u, 0xc2ca1cedfaf8876bu,
    0xc2164bfc9f042196u, 0xa16e9c9368b1d623u, 0x49fb169c8b5114fdu, 0x9f3143f8df074c46u, 0xc6fdaf2412cc86b3u,
    0x7eaf49d10a52098fu, 0x1cf313559d292f9au, 0xc44a30dda2f41f12u, 0x36fae98943a71ed0u, 0x318fb34c73f0bce6u,
    0xa27abf3670a7e980u, 0xb4bcc0db243c6d75u, 0x23f8d852fdb71513u, 0x8f035f4da67d8a08u, 0xd89cd0e5b7e8f148u,
    0xf6f4e6bcf7a644eeu, 0xaec59ad80f1837f2u, 0xc3b2f6154b6694e0u, 0x9d199062b7bbb3a8u,
};

// SipHash-2-4: made with Rust 1.95's core::hash::SipHasher, and equal to the authors' table (vectors_sip64 in the
// reference implementation's vectors.h).
constexpr std::uint64_t siphash24_vectors[64] = {
    0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au, 0x85676696d7fb7e2du, 0xcf2794e0277187b7u,
    0x18765564cd99a68du, 0xcbc9466e58fee3ceu, 0xab0200f58b01d137u, 0x93f5f5799a932462u, 0x9e0082df0ba9e4b0u,
    0x7a5dbbc594ddb9f3u, 0xf4b32f46226bada7u, 0x751e8fbc860ee5fbu, 0x14ea5627c0843d90u, 0xf723ca908e7af2eeu,
    0xa129ca6149be45e5u, 0x3f2acc7f57c29bdbu, 0x699ae9f52cbe4794u, 0x4bc1b3f0968dd39cu, 0xbb6dc91da77961bdu,
    0xbed65cf21aa2ee98u, 0xd0f2cbb02e3b67c7u, 0x93536795e3a33e88u, 0xa80c038ccd5ccec8u, 0xb8ad50c6f649af94u,
    0xbce192de8a85b8eau, 0x17d835b85bbb15f3u, 0x2f2e6163076bcfadu, 0xde4daaaca71dc9a5u, 0xa6a2506687956571u,
    0xad87a3535c49ef28u, 0x32d892fad841c342u, 0x7127512f72f27cceu, 0xa7f32346f95978e3u, 0x12e0b01abb051238u,
    0x15e034d40fa197aeu, 0x314dffbe0815a3b4u, 0x027990f029623981u, 0xcadcd4e59ef40c4du, 0x9abfd8766a33735cu,
    0x0e3ea96b5304a7d0u, 0xad0c42d6fc585992u, 0x187306c89bc215a9u, 0xd4a60abcf3792b95u, 0xf935451de4f21df2u,
    0xa9538f0419755787u, 0xdb9acddff56ca510u, 0xd06c98cd5c0975ebu, 0xe612a3cb9ecba951u, 0xc766e62cfcadaf96u,
    0xee64435a9752fe72u, 0xa192d576b245165au, 0x0a8787bf8ecb74b2u, 0x81b3e73d20b49b6fu, 0x7fa8220ba3b2eceau,
    0x245731c13ca42499u, 0xb78dbfaf3a8d83bdu, 0xea1ad565322a1a0bu, 0x60e61c23a3795013u, 0x6606d7e446282b93u,
    0x6ca4ecb15c5f91e1u, 0x9f626da15c9625f3u, 0xe51b38608ef25f57u, 0x958a324ceb064572u,
};

TEST(hash_vectors, siphash) {
    secret_key key{};
    std::array<std::byte, 64> input{};
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i);
    for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = static_cast<std::byte>(i);
    for (std::size_t size = 0; size < input.size(); ++size) {
        const auto message = std::span(input).first(size);
        EXPECT_EQ(siphash13(key)(message), siphash13_vectors[size]) << size;
        EXPECT_EQ(siphash24(key)(message), siphash24_vectors[size]) << size;
    }
}

// Made with `openssl mac -macopt hexkey:... -macopt size:8 SIPHASH` (OpenSSL 3), whose eight bytes are the number in
// little-endian order. It is stored in files: it must never change.
TEST(hash_vectors, fingerprint_of_a_secret_key) {
    EXPECT_EQ(secret_key::from_hex("000102030405060708090a0b0c0d0e0f").value().fingerprint(),
              0xd1a5c89c08d15079u);
    EXPECT_EQ(secret_key::from_hex("ffffffffffffffffffffffffffffffff").value().fingerprint(),
              0x73ecb69c63321e24u);
}

} // namespace
} // namespace bouncer
