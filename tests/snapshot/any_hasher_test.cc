// any_hasher is the typed hasher, chosen at run time.
#include "support/failures.h"

#include <bouncer/any_hasher.h>

#include <string>
#include <vector>

namespace bouncer::test {
namespace {

// Keys of all lengths that hashers treat otherwise, and some more.
std::vector<std::string> keys() {
    std::vector<std::string> out;
    for (std::size_t length = 0; length < 300; ++length) {
        std::string key(length, '\0');
        for (std::size_t i = 0; i < length; ++i) key[i] = static_cast<char>(i * 37 + length);
        out.push_back(std::move(key));
    }
    return out;
}

template <class Hasher>
void expect_alike(const any_hasher& any, const Hasher& typed) {
    EXPECT_EQ(any.spec(), spec_of(typed));
    EXPECT_EQ(spec_of(any), spec_of(typed));
    const auto all = keys();
    const std::vector<std::string_view> views(all.begin(), all.end());
    std::vector<std::uint64_t> batch(views.size());
    any.batch(views, batch);
    for (std::size_t i = 0; i < views.size(); ++i) {
        const std::uint64_t expected = hash_key(typed, views[i]);
        ASSERT_EQ(any(std::as_bytes(std::span(views[i]))), expected) << "length " << i;
        ASSERT_EQ(batch[i], expected) << "length " << i;
        ASSERT_EQ(hash_key(any, views[i]), expected) << "length " << i;
    }
    // In batches as keyed asks for them: text in memory, and keys that are not.
    std::vector<std::uint64_t> hashes(all.size());
    hash_batch(any, all, hashes);
    EXPECT_EQ(hashes, batch);
    std::vector<std::uint32_t> numbers(all.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i * 0x01000193u);
    hash_batch(any, numbers, hashes);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        ASSERT_EQ(hashes[i], hash_key(typed, numbers[i]));
        ASSERT_EQ(hash_key(any, numbers[i]), hashes[i]);
    }
    std::vector<std::uint64_t> three(3, 7);
    any.batch(views, std::span(three).first(2));
    EXPECT_EQ(three, (std::vector<std::uint64_t>{batch[0], batch[1], 7}));
    any.batch(std::span(views).first(1), three);
    EXPECT_EQ(three[2], 7u);
}

// By name, as itself, and by the spec of a file; with and without a seed.
TEST(any_hasher_of, every_hash_equals_the_typed_one) {
    const secret_key key = secret_key::random().value();
    expect_alike(any_hasher(), xxh3{});
    all_hashers::for_each([&]<class Hasher>() {
        SCOPED_TRACE(Hasher::name);
        constexpr hash_info info = detail::info_of<Hasher>();
        const auto given = info.takes_key ? std::optional(key) : std::nullopt;
        for (const std::uint64_t seed : {std::uint64_t{0}, ~std::uint64_t{0} >> (64 - info.seed_bits) % 64}) {
            if (seed != 0 && info.seed_bits == 0) continue;
            const Hasher typed = detail::hasher_from<Hasher>(seed, key);
            EXPECT_EQ(spec_of(typed), (hash_spec{info.id, info.takes_key ? key.fingerprint() : seed}));
            expect_alike(typed, typed);
            expect_alike(any_hasher::make(Hasher::name, seed, given).value(), typed);
            expect_alike(any_hasher::make(spec_of(typed), given).value(), typed);
        }
    });
}

TEST(any_hasher_of, refusals) {
    const secret_key key = secret_key::random().value();
    const secret_key other = secret_key::random().value();
    using enum error_code;
    EXPECT_TRUE(fails_with(any_hasher::make("md5", 0), invalid_argument, "md5", "xxh3", "siphash24"));
    EXPECT_TRUE(fails_with(any_hasher::make("siphash13", 0), invalid_argument, "siphash13", "key"));
    EXPECT_TRUE(fails_with(any_hasher::make("siphash13", 1, key), invalid_argument, "seed"));
    EXPECT_TRUE(fails_with(any_hasher::make("fnv1a", 1), invalid_argument, "seed"));
    EXPECT_TRUE(fails_with(any_hasher::make("fnv1", 1), invalid_argument, "seed"));
    EXPECT_TRUE(fails_with(any_hasher::make("xxh3", 0, key), invalid_argument, "xxh3", "key"));
    EXPECT_TRUE(fails_with(any_hasher::make("murmur3", std::uint64_t{1} << 32), invalid_argument, "32"));
    EXPECT_TRUE(fails_with(any_hasher::make(spec_of(siphash13(key)), other), wrong_key, "fingerprint"));
    EXPECT_TRUE(fails_with(any_hasher::make(spec_of(siphash24(key))), invalid_argument, "key"));
    EXPECT_TRUE(fails_with(any_hasher::make(hash_spec{}), unsupported, "prehashed"));
    EXPECT_TRUE(fails_with(any_hasher::make(hash_spec{}, key), unsupported, "prehashed"));
    EXPECT_TRUE(fails_with(any_hasher::make("prehashed", 0), invalid_argument, "prehashed"));
    EXPECT_TRUE(fails_with(any_hasher::make(hash_spec{8, 0}), unsupported, "unknown hash 8"));
    EXPECT_TRUE(fails_with(any_hasher::make(hash_spec{first_user_hash_id, 0}), unsupported));
    EXPECT_TRUE(fails_with(any_hasher::make(spec_of(xxh3{}), key), invalid_argument, "key"));
}

} // namespace
} // namespace bouncer::test
