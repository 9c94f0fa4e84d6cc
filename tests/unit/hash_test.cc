// Keys of every form, hashers of every sort, and what they promise; the numbers are in hash_vectors_test.cc.
#include "support/operator_new.h"

#include <bouncer/any_hasher.h>
#include <bouncer/hash.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <ostream>
#include <string>
#include <vector>

namespace {

thread_local std::uint64_t allocations = 0;

} // namespace

// Counts for the last test.
bool bouncer::test::may_allocate(std::size_t) noexcept {
    ++allocations;
    return true;
}

namespace bouncer {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

secret_key key_of(std::uint8_t first) {
    secret_key key{};
    key.bytes[0] = std::byte{first};
    return key;
}

enum class colour : std::uint16_t { red = 0x0102 };
enum class yes_no : bool { no, yes };

struct padded {
    char letter;
    std::uint64_t number;
};

// What is a key.
static_assert(hashable_key<char[6]> && hashable_key<char8_t[6]> && hashable_key<const char*>);
static_assert(hashable_key<std::string> && hashable_key<std::string_view> && hashable_key<std::u8string>);
static_assert(hashable_key<std::vector<std::byte>> && hashable_key<std::vector<char>>);
static_assert(hashable_key<std::span<const unsigned char>> && hashable_key<std::span<char>>);
static_assert(hashable_key<int> && hashable_key<char> && hashable_key<std::uint64_t> && hashable_key<colour>);
static_assert(hashable_key<detail::uint128> && hashable_key<std::byte>);
static_assert(hashable_key<std::uint32_t[3]> && hashable_key<std::array<colour, 3>> &&
              hashable_key<std::array<std::uint64_t, 512>> && hashable_key<std::array<int, 0>>);
// What is none.
static_assert(!hashable_key<bool> && !hashable_key<yes_no> && !hashable_key<std::array<bool, 4>>);
static_assert(!hashable_key<float> && !hashable_key<double> && !hashable_key<std::array<double, 2>>);
static_assert(!hashable_key<void*> && !hashable_key<int*> && !hashable_key<std::nullptr_t>);
static_assert(!hashable_key<padded> && !hashable_key<std::vector<int>> && !hashable_key<std::vector<bool>>);
static_assert(!hashable_key<wchar_t> && !hashable_key<char32_t[4]> && !hashable_key<std::u16string>);
static_assert(!hashable_key<int[2][2]> && !hashable_key<std::array<std::uint64_t, 513>>);
static_assert(hasher_for<xxh3, std::string> && !hasher_for<xxh3, double> && !hasher_for<siphash13, padded>);

template <class T>
concept printable = requires(std::ostream& out, const T& value) {
    out << value;
};
static_assert(printable<int> && !printable<secret_key> && !printable<siphash13> && !printable<any_hasher>);
static_assert(!std::is_default_constructible_v<siphash13> && !std::is_default_constructible_v<siphash24>);
static_assert(sizeof(xxh3) == 8 && sizeof(siphash24) == 16);
static_assert(hasher_for<any_hasher, std::string> && hasher_for<any_hasher, int> &&
              !hasher_for<any_hasher, double>);
static_assert(std::is_trivially_copyable_v<any_hasher> && sizeof(any_hasher) == 24);

// Calls `check` with every built-in hasher.
template <class Check>
void with_every_hasher(Check check) {
    all_hashers::for_each([&]<class Hasher>() {
        for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}}) {
            if (seed != 0 && detail::info_of<Hasher>().seed_bits == 0) continue;
            const auto hasher = detail::hasher_from<Hasher>(seed, key_of(1));
            check(hasher);
            check(any_hasher(hasher)); // chosen at run time
        }
    });
}

TEST(hash, text_and_bytes_of_every_form_hash_alike) {
    with_every_hasher([](const auto& hasher) {
        const std::uint64_t expected = hash_key(hasher, "alice"sv);
        EXPECT_EQ(hash_key(hasher, "alice"), expected);
        EXPECT_EQ(hash_key(hasher, "alice"s), expected);
        const char* const pointer = "alice";
        EXPECT_EQ(hash_key(hasher, pointer), expected);
        const char roomy[16] = "alice";
        EXPECT_EQ(hash_key(hasher, roomy), expected);
        const char unterminated[5] = {'a', 'l', 'i', 'c', 'e'};
        EXPECT_EQ(hash_key(hasher, unterminated), expected);
        EXPECT_EQ(hash_key(hasher, u8"alice"), expected);
        EXPECT_EQ(hash_key(hasher, u8"alice"s), expected);
        const std::vector<unsigned char> unsigned_bytes = {'a', 'l', 'i', 'c', 'e'};
        EXPECT_EQ(hash_key(hasher, unsigned_bytes), expected);
        EXPECT_EQ(hash_key(hasher, std::span(unsigned_bytes)), expected);
        EXPECT_EQ(hash_key(hasher, std::as_bytes(std::span(unsigned_bytes))), expected);
        EXPECT_EQ(hash_key(hasher, std::array<char, 5>{'a', 'l', 'i', 'c', 'e'}), expected);
        EXPECT_EQ(hash_key(hasher, std::vector<std::byte>{}), hash_key(hasher, ""));

        EXPECT_NE(hash_key(hasher, "alice\0"sv), expected);
        EXPECT_NE(hash_key(hasher, std::array<char, 6>{'a', 'l', 'i', 'c', 'e', 0}), expected);
        EXPECT_NE(hash_key(hasher, "alicf"), expected);
    });
}

TEST(hash, integers_are_their_little_endian_bytes) {
    with_every_hasher([](const auto& hasher) {
        EXPECT_EQ(hash_key(hasher, std::uint64_t{0x6867666564636261u}), hash_key(hasher, "abcdefgh"));
        EXPECT_EQ(hash_key(hasher, std::uint32_t{0x64636261u}), hash_key(hasher, "abcd"));
        EXPECT_EQ(hash_key(hasher, colour::red), hash_key(hasher, "\2\1"));
        EXPECT_EQ(hash_key(hasher, 'a'), hash_key(hasher, "a"));
        EXPECT_EQ(hash_key(hasher, std::int32_t{-1}), hash_key(hasher, "\xff\xff\xff\xff"));
        EXPECT_EQ(hash_key(hasher, (detail::uint128{0x706f6e6d6c6b6a69u} << 64) + 0x6867666564636261u),
                  hash_key(hasher, "abcdefghijklmnop"));
        EXPECT_NE(hash_key(hasher, std::int32_t{1}), hash_key(hasher, std::int64_t{1}));

        const std::uint16_t pairs[3] = {0x6261, 0x6463, 0x6665};
        EXPECT_EQ(hash_key(hasher, pairs), hash_key(hasher, "abcdef"));
        EXPECT_EQ(hash_key(hasher, std::to_array(pairs)), hash_key(hasher, "abcdef"));
        EXPECT_EQ(hash_key(hasher, std::array<colour, 1>{colour::red}), hash_key(hasher, colour::red));
        EXPECT_EQ(hash_key(hasher, std::array<int, 0>{}), hash_key(hasher, ""));
        // Longer than what is hashed inline.
        std::array<std::uint64_t, 40> many{};
        std::string text;
        for (std::size_t i = 0; i < many.size(); ++i) {
            many[i] = 0x0101010101010101u * (i + 1);
            text.append(8, static_cast<char>(i + 1));
        }
        EXPECT_EQ(hash_key(hasher, many), hash_key(hasher, text));
    });
}

TEST(hash, alignment_does_not_matter) {
    with_every_hasher([](const auto& hasher) {
        for (std::size_t size : {1u, 3u, 4u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 32u, 100u, 300u}) {
            const std::string key(size, 'x');
            for (std::size_t offset = 0; offset < 16; ++offset) {
                const std::string shifted = std::string(offset, 'y') + key;
                ASSERT_EQ(hash_key(hasher, std::string_view(shifted).substr(offset)), hash_key(hasher, key))
                    << size << " bytes at " << offset;
            }
        }
    });
}

TEST(hash, seeds_and_secret_keys_matter) {
    for (const std::string& key : {""s, "a"s, "ab"s, "abcd"s, "abcdefghi"s, std::string(100, 'x')}) {
        all_hashers::for_each([&]<class Hasher>() {
            const auto hash = [&](std::uint8_t which) {
                return hash_key(detail::hasher_from<Hasher>(which, key_of(which)), key);
            };
            const bool has_either =
                detail::info_of<Hasher>().seed_bits != 0 || detail::info_of<Hasher>().takes_key;
            EXPECT_EQ(hash(1) != hash(2), has_either) << Hasher::name << " of " << key;
        });
        EXPECT_NE(hash_key(siphash13(key_of(1)), key), hash_key(siphash24(key_of(1)), key)) << key;
    }
}

TEST(hash, spec_names_the_hash) {
    EXPECT_EQ(spec_of(xxh3{5}), (hash_spec{1, 5}));
    EXPECT_EQ(spec_of(xxh64{}), (hash_spec{2, 0}));
    EXPECT_EQ(spec_of(murmur3{5}), (hash_spec{3, 5}));
    EXPECT_EQ(spec_of(fnv1a{}), (hash_spec{4, 0}));
    EXPECT_EQ(spec_of(siphash13(key_of(1))), (hash_spec{5, key_of(1).fingerprint()}));
    EXPECT_EQ(spec_of(siphash24(key_of(1))), (hash_spec{6, key_of(1).fingerprint()}));
    EXPECT_EQ(spec_of(fnv1{}), (hash_spec{7, 0}));

    EXPECT_EQ(to_string(hash_spec{}), "prehashed");
    EXPECT_EQ(to_string(hash_spec{1, 0}), "xxh3, seed 0");
    EXPECT_EQ(to_string(hash_spec{2, 18446744073709551615u}), "xxh64, seed 18446744073709551615");
    EXPECT_EQ(to_string(hash_spec{3, 7}), "murmur3, seed 7");
    EXPECT_EQ(to_string(hash_spec{4, 0}), "fnv1a");
    EXPECT_EQ(to_string(hash_spec{5, 0xab}), "siphash13, key fingerprint 0x00000000000000ab");
    EXPECT_EQ(to_string(hash_spec{6, 0xfedcba9876543210u}), "siphash24, key fingerprint 0xfedcba9876543210");
    EXPECT_EQ(to_string(hash_spec{7, 0}), "fnv1");
    EXPECT_EQ(to_string(hash_spec{8, 9}), "unknown hash 8, seed 9");
    EXPECT_EQ(to_string(hash_spec{0x80000001u, 0xab}),
              "user hasher 0x80000001, seed or fingerprint 0x00000000000000ab");
}

TEST(hash, check_same_hash_tells_a_wrong_key_from_another_hash) {
    const hash_spec built = spec_of(siphash13(key_of(1)));
    EXPECT_TRUE(check_same_hash(built, spec_of(siphash13(key_of(1)))));
    EXPECT_EQ(check_same_hash(built, spec_of(siphash13(key_of(2)))).error().code, error_code::wrong_key);
    EXPECT_EQ(check_same_hash(built, spec_of(siphash24(key_of(1)))).error().code, error_code::mismatch);
    const auto other_seed = check_same_hash(spec_of(xxh3{1}), spec_of(xxh3{2}));
    EXPECT_EQ(other_seed.error().code, error_code::mismatch);
    EXPECT_EQ(other_seed.error().message,
              "the filter was built with hash (xxh3, seed 1), not (xxh3, seed 2)");
}

TEST(hash, secret_key_from_hex) {
    const auto key = secret_key::from_hex("00112233445566778899aAbBcCdDeEfF");
    ASSERT_TRUE(key);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(key->bytes[i], static_cast<std::byte>(0x11 * i));
    for (const std::string& bad :
         {""s, std::string(31, '0'), std::string(33, '0'), std::string(31, '0') + "g",
          std::string(31, '0') + "\0"s, " " + std::string(31, '0')}) {
        const auto refused = secret_key::from_hex(bad);
        ASSERT_FALSE(refused) << bad;
        EXPECT_EQ(refused.error().code, error_code::invalid_argument);
    }
    // The rest of a mistyped key is still secret.
    const auto mistyped = secret_key::from_hex("5ec2e75ec2e75ec2e75ec2e75ec2e7xx");
    EXPECT_EQ(mistyped.error().message, "a secret key is 32 hex digits; character 31 is none");
}

TEST(hash, random_secret_keys_differ_and_so_do_fingerprints) {
    const auto one = secret_key::random();
    const auto other = secret_key::random();
    ASSERT_TRUE(one && other);
    EXPECT_NE(one->bytes, other->bytes); // equal with probability 2^-128
    EXPECT_NE(one->fingerprint(), other->fingerprint());
    EXPECT_EQ(one->fingerprint(), secret_key{one->bytes}.fingerprint());
    for (std::size_t byte = 0; byte < 16; ++byte) { // every byte of the key counts
        secret_key changed = *one;
        changed.bytes[byte] ^= std::byte{1};
        EXPECT_NE(changed.fingerprint(), one->fingerprint()) << byte;
    }
}

// Users' hashers: the identity, with every way of saying whether it avalanches.
struct identity {
    static constexpr std::uint32_t algorithm = 0x80000001u;
    std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
struct identity_by_bool : identity {
    static constexpr bool is_avalanching = true;
};
struct identity_by_type : identity {
    using is_avalanching = void;
};
struct identity_by_true_type : identity {
    using is_avalanching = std::true_type;
};
struct identity_that_says_no : identity {
    static constexpr bool is_avalanching = false;
};
struct identity_by_false_type : identity {
    using is_avalanching = std::false_type;
};
struct struct_hasher {
    static constexpr std::uint32_t algorithm = 0x80000002u;
    std::uint64_t seed = 0;
    hash_spec spec() const noexcept { return {1, seed}; } // the algorithm here is not believed
    std::uint64_t operator()(const padded& key) const noexcept { return key.number + seed; }
};
struct text_hasher {
    static constexpr std::uint32_t algorithm = 0x80000003u;
    using is_avalanching = void;
    std::uint64_t operator()(std::string_view key) const noexcept {
        return xxh3{1}(std::as_bytes(std::span(key)));
    }
};
struct byte_hasher {
    static constexpr std::uint32_t algorithm = 0x80000004u;
    using is_avalanching = void;
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept { return xxh3{1}(key); }
};

struct low_id : identity {
    static constexpr std::uint32_t algorithm = 0x7fffffffu;
};
struct no_id {
    std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
struct may_throw {
    static constexpr std::uint32_t algorithm = 0x80000001u;
    std::uint64_t operator()(std::uint64_t key) const { return key; }
};
struct narrow {
    static constexpr std::uint32_t algorithm = 0x80000001u;
    std::uint32_t operator()(std::uint64_t key) const noexcept { return static_cast<std::uint32_t>(key); }
};

static_assert(hasher_for<identity, std::uint64_t> && !hasher_for<identity, std::string>);
static_assert(!hasher_for<low_id, std::uint64_t> && !hasher_for<no_id, std::uint64_t>);
static_assert(!hasher_for<may_throw, std::uint64_t> && !hasher_for<narrow, std::uint64_t>);
static_assert(hasher_for<struct_hasher, padded> && !hasher_for<struct_hasher, int>);
static_assert(hasher_for<text_hasher, char[6]> && !hasher_for<text_hasher, std::vector<std::byte>>);
static_assert(hasher_for<byte_hasher, char[6]> && hasher_for<byte_hasher, int> &&
              !hasher_for<byte_hasher, float>);

TEST(hash, user_hasher_passes_the_mixer_unless_it_avalanches) {
    for (const std::uint64_t key : {std::uint64_t{1}, std::uint64_t{2}, ~std::uint64_t{0}}) {
        EXPECT_EQ(hash_key(identity{}, key), detail::mix64(key));
        EXPECT_EQ(hash_key(identity_that_says_no{}, key), detail::mix64(key));
        EXPECT_EQ(hash_key(identity_by_false_type{}, key), detail::mix64(key));
        EXPECT_EQ(hash_key(identity_by_bool{}, key), key);
        EXPECT_EQ(hash_key(identity_by_type{}, key), key);
        EXPECT_EQ(hash_key(identity_by_true_type{}, key), key);
    }
    EXPECT_EQ(hash_key(fnv1a{}, "foobar"), detail::mix64(0x85944171f73967e8u));
    EXPECT_EQ(hash_key(fnv1{}, "foobar"), 0x340d8765a4dda9c2u)
        << "as published: files of others depend on it";
    EXPECT_EQ(hash_key(xxh3{}, "foobar"), xxh3{}(std::as_bytes(std::span("foobar", 6))));
}

TEST(hash, user_hasher_takes_structs_text_or_bytes) {
    EXPECT_EQ(hash_key(struct_hasher{3}, padded{'x', 4}), detail::mix64(7));
    EXPECT_EQ(spec_of(struct_hasher{3}), (hash_spec{0x80000002u, 3}));
    EXPECT_EQ(spec_of(identity{}), (hash_spec{0x80000001u, 0}));
    const char* const pointer = "alice";
    EXPECT_EQ(hash_key(text_hasher{}, "alice"), hash_key(xxh3{1}, "alice"));
    EXPECT_EQ(hash_key(text_hasher{}, pointer), hash_key(xxh3{1}, "alice"));
    EXPECT_EQ(hash_key(text_hasher{}, u8"alice"), hash_key(xxh3{1}, "alice"));
    EXPECT_EQ(hash_key(text_hasher{}, "alice"s), hash_key(xxh3{1}, "alice"));
    EXPECT_EQ(hash_key(byte_hasher{}, "alice"s), hash_key(xxh3{1}, "alice"));
    EXPECT_EQ(hash_key(byte_hasher{}, std::uint32_t{7}), hash_key(xxh3{1}, std::uint32_t{7}));
}

// The false-positive rate of a plain Bloom filter (8 bits per key, 3 probes by double hashing) of sequential
// integers, in sigmas of the binomial from the closed form.
template <class Hasher>
double sigmas_off(const Hasher& hasher) {
    constexpr std::uint64_t keys = 400'000 / BOUNCER_TEST_SCALE;
    std::vector<bool> bits(8 * keys);
    const auto probe = [&](std::uint64_t key, auto visit) {
        std::uint64_t at = hash_key(hasher, key);
        const std::uint64_t step = std::rotl(at, 32);
        for (int i = 0; i < 3; ++i, at += step) visit(bits[detail::fast_range(at, bits.size())]);
    };
    for (std::uint64_t key = 0; key < keys; ++key) probe(key, [](auto bit) { bit = true; });
    double found = 0;
    for (std::uint64_t key = keys; key < 2 * keys; ++key) {
        bool all = true;
        probe(key, [&all](bool bit) { all = all && bit; });
        found += all;
    }
    const double n = static_cast<double>(keys);
    const double p = std::pow(1 - std::exp(-3.0 / 8), 3);
    return (found - n * p) / std::sqrt(n * p * (1 - p));
}

TEST(hash, sequential_integers_keep_the_false_positive_rate) {
    EXPECT_LT(std::abs(sigmas_off(xxh3{})), 5);
    EXPECT_LT(std::abs(sigmas_off(fnv1a{})), 5);
    EXPECT_LT(std::abs(sigmas_off(identity{})), 5);
    // Without the mixer the same keys crowd into a few bits: this measurement does see a bad hash.
    EXPECT_GT(std::abs(sigmas_off(identity_by_bool{})), 5);
}

TEST(hash, batch_equals_one_by_one) {
    const std::vector<std::uint64_t> numbers = {1, 2, 3, 0, ~std::uint64_t{0}, 1};
    const std::vector<std::string> words = {"", "a", "bb", "a rather longer word than sixteen bytes"};
    const std::array<std::string_view, 2> views = {"x", "y"};
    with_every_hasher([&](const auto& hasher) {
        std::vector<std::uint64_t> out(numbers.size() + 1, 42);
        hash_batch(hasher, numbers, out);
        for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(out[i], hash_key(hasher, numbers[i]));
        EXPECT_EQ(out.back(), 42u); // nothing is written beyond the keys
        hash_batch(hasher, std::span<const std::string>(words), out);
        for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(out[i], hash_key(hasher, words[i]));
        hash_batch(hasher, views, out);
        EXPECT_EQ(out[1], hash_key(hasher, "y"));
        hash_batch(hasher, std::span<const std::uint64_t>(), {});
    });
    std::vector<std::uint64_t> out(numbers.size());
    hash_batch(identity{}, numbers, out);
    EXPECT_EQ(out[1], detail::mix64(2));
}

// Keys of equally many words share a vector: runs of one length, of every length, and mixtures.
TEST(hash, batches_of_every_length_equal_single_hashes) {
    std::string text;
    for (int i = 0; i < 400; ++i) text.push_back(static_cast<char>('!' + i * 7 % 90));
    std::vector<std::string_view> keys;
    for (std::size_t size = 0; size <= 40; ++size)
        for (std::size_t copy = 0; copy < 9; ++copy)
            keys.push_back(std::string_view(text).substr(size + copy, size));
    for (std::size_t i = 0; i < 300; ++i)
        keys.push_back(std::string_view(text).substr(i, detail::mix64(i) % 100));
    with_every_hasher([&](const auto& hasher) {
        for (std::size_t count : {keys.size(), keys.size() - 1, keys.size() - 2, keys.size() - 3}) {
            std::vector<std::uint64_t> out(count + 1, 42);
            hash_batch(hasher, std::span(keys).first(count), std::span(out).first(count));
            for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], hash_key(hasher, keys[i])) << i;
            EXPECT_EQ(out.back(), 42u);
        }
    });
}

// Every key of such a type is the same memory at another time.
struct reused_buffer {
    int number;
    operator std::string_view() const noexcept {
        static char digits[16];
        return {digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%d", number))};
    }
};

TEST(hash, batches_do_not_keep_views_of_converted_keys) {
    const std::vector<reused_buffer> keys{{1}, {22}, {333}, {4444}, {55555}};
    std::vector<std::uint64_t> out(keys.size());
    with_every_hasher([&](const auto& hasher) {
        hash_batch(hasher, keys, out);
        for (std::size_t i = 0; i < keys.size(); ++i)
            EXPECT_EQ(out[i], hash_key(hasher, std::to_string(keys[i].number)));
    });
}

TEST(hash, nothing_allocates) {
    const std::string text(1000, 'x');
    const std::vector<std::uint64_t> numbers(100, 1);
    std::vector<std::uint64_t> out(numbers.size());
    std::uint64_t sum = 0;
    const std::uint64_t before = allocations;
    with_every_hasher([&](const auto& hasher) {
        for (std::size_t size = 0; size <= text.size(); ++size)
            sum += hash_key(hasher, std::string_view(text).substr(0, size));
        sum += hash_key(hasher, text) + hash_key(hasher, "literal") + hash_key(hasher, 1) +
               hash_key(hasher, std::array<std::uint64_t, 100>{}) + spec_of(hasher).seed_or_fingerprint;
        hash_batch(hasher, numbers, out);
    });
    sum += hash_key(text_hasher{}, "a literal longer than any small string") + hash_key(identity{}, sum);
    EXPECT_EQ(allocations, before) << sum;
    ::operator delete(::operator new(1));
    EXPECT_EQ(allocations, before + 1); // the counter counts
}

} // namespace
} // namespace bouncer
