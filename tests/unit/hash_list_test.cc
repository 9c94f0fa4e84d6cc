// A hash that is added to the list is found in all that is made of it: here a toy, in the list's copy with one more. That
// the docs, the command and the C API have every hash of the list is tested beside them.
#include "hash/any_hasher.inl"

#include "support/failures.h"
#include "support/toy_hash.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

using any = basic_any_hasher<all_hashers_and_toy>;

TEST(hash_list, every_hash_has_its_row) {
    ASSERT_EQ(all_hashes.size(), all_hashers::size);
    for (const hash_info& each : all_hashes) {
        EXPECT_EQ(detail::find_hash(each.id), &each);
        EXPECT_TRUE(each.id != prehashed.id && each.id < first_user_hash_id);
        EXPECT_TRUE(to_string({each.id, 0}).starts_with(each.name)) << each.name;
        EXPECT_TRUE(check_known_hash({each.id, 0}));
        EXPECT_EQ(check_known_hash({each.id, 1}).has_value(), each.takes_key || each.seed_bits != 0)
            << each.name;
    }
    EXPECT_EQ(detail::find_hash(prehashed.id), &prehashed);
    EXPECT_EQ(detail::find_hash(first_user_hash_id), nullptr);
}

TEST(hash_list, a_toy_has_its_row) {
    ASSERT_EQ(all_hashes_and_toy.size(), all_hashes.size() + 1);
    const hash_info& toy = all_hashes_and_toy.back();
    EXPECT_EQ(toy.id, toy_hash::algorithm);
    EXPECT_EQ(toy.name, "toy");
    EXPECT_EQ(toy.seed_bits, 16u);
    EXPECT_FALSE(toy.takes_key);
    EXPECT_FALSE(toy.is_avalanching);
    static_assert(detail::distinct(all_hashes_and_toy));
    std::vector<std::string_view> visited;
    all_hashers_and_toy::for_each([&]<class Hasher>() { visited.push_back(Hasher::name); });
    EXPECT_EQ(visited.back(), "toy");
    EXPECT_EQ(visited.size(), all_hashes_and_toy.size());
}

TEST(hash_list, a_toy_is_one_of_those_that_any_hasher_can_be) {
    const toy_hash typed{5};
    const std::vector<std::string_view> keys{"", "a", "bb", "a rather longer word than sixteen bytes"};
    for (const any& chosen : {any(typed), any::make("toy", 5).value(), any::make(typed.spec()).value()}) {
        EXPECT_EQ(spec_of(chosen), typed.spec());
        std::vector<std::uint64_t> batch(keys.size());
        chosen.batch(keys, batch);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            EXPECT_EQ(hash_key(chosen, keys[i]), hash_key(typed, keys[i]));
            EXPECT_EQ(batch[i], hash_key(typed, keys[i]));
        }
        EXPECT_EQ(hash_key(chosen, 7), hash_key(typed, 7));
    }
    for (const hash_info& each : all_hashes) {
        const auto key = each.takes_key ? std::optional(secret_key{}) : std::nullopt;
        EXPECT_TRUE(any::make(each.name, 0, key)) << "the others are still there: " << each.name;
    }
    using enum error_code;
    EXPECT_TRUE(
        fails_with(any::make("toy", 1 << 16), invalid_argument, "toy takes a seed of 16 bits, not 65536"));
    EXPECT_TRUE(fails_with(any::make("toy", 0, secret_key{}), invalid_argument, "toy takes no secret key"));
    EXPECT_TRUE(fails_with(any::make("toi", 0), invalid_argument, " and toy"));
    EXPECT_TRUE(fails_with(any_hasher::make("toy", 0), invalid_argument, "no hash is called \"toy\""));
    EXPECT_TRUE(fails_with(any_hasher::make(typed.spec()), unsupported));
}

} // namespace
} // namespace bouncer::test
