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

TEST(any_hasher_of, every_name_equals_the_typed_one) {
    const secret_key key = secret_key::random().value();
    expect_alike(any_hasher::make("xxh3", 0).value(), xxh3{});
    expect_alike(any_hasher::make("xxh3", 12345).value(), xxh3{12345});
    expect_alike(any_hasher::make("xxh64", 0).value(), xxh64{});
    expect_alike(any_hasher::make("xxh64", ~std::uint64_t{0}).value(), xxh64{~std::uint64_t{0}});
    expect_alike(any_hasher::make("murmur3", 99).value(), murmur3{99});
    expect_alike(any_hasher::make("fnv1a", 0).value(), fnv1a{});
    expect_alike(any_hasher::make("fnv1", 0).value(), fnv1{});
    expect_alike(any_hasher::make("siphash13", 0, key).value(), siphash13(key));
    expect_alike(any_hasher::make("siphash24", 0, key).value(), siphash24(key));
}

TEST(any_hasher_of, every_hasher_equals_it) {
    const secret_key key = secret_key::random().value();
    expect_alike(any_hasher(), xxh3{});
    expect_alike(any_hasher(xxh3{7}), xxh3{7});
    expect_alike(any_hasher(xxh64{8}), xxh64{8});
    expect_alike(any_hasher(murmur3{9}), murmur3{9});
    expect_alike(any_hasher(fnv1a{}), fnv1a{});
    expect_alike(any_hasher(fnv1{}), fnv1{});
    expect_alike(any_hasher(siphash13(key)), siphash13(key));
    expect_alike(any_hasher(siphash24(key)), siphash24(key));
}

// The ids of the library and what any_hasher can be are one list.
TEST(any_hasher_of, every_id_there_is) {
    const secret_key key = secret_key::random().value();
    std::uint32_t id = 1;
    for (; !detail::hash_name(id).empty(); ++id) {
        const bool secret = detail::hash_takes_key(id);
        const auto by_name =
            any_hasher::make(detail::hash_name(id), 0, secret ? std::optional(key) : std::nullopt);
        ASSERT_TRUE(by_name) << detail::hash_name(id);
        EXPECT_EQ(by_name->spec(), (hash_spec{id, secret ? key.fingerprint() : 0}));
        EXPECT_TRUE(any_hasher::make(by_name->spec(), secret ? std::optional(key) : std::nullopt));
    }
    EXPECT_EQ(id - 1, std::variant_size_v<detail::builtin_hashers::as<std::variant>>);
    EXPECT_TRUE(detail::hash_name(first_user_hash_id).empty());
}

TEST(any_hasher_of, every_spec_equals_the_typed_one) {
    const secret_key key = secret_key::random().value();
    expect_alike(any_hasher::make(spec_of(xxh3{7})).value(), xxh3{7});
    expect_alike(any_hasher::make(spec_of(xxh64{8})).value(), xxh64{8});
    expect_alike(any_hasher::make(spec_of(murmur3{9})).value(), murmur3{9});
    expect_alike(any_hasher::make(spec_of(fnv1a{})).value(), fnv1a{});
    expect_alike(any_hasher::make(spec_of(fnv1{})).value(), fnv1{});
    expect_alike(any_hasher::make(spec_of(siphash13(key)), key).value(), siphash13(key));
    expect_alike(any_hasher::make(spec_of(siphash24(key)), key).value(), siphash24(key));
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
