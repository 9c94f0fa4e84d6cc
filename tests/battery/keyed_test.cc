// keyed<F>: real keys of every form, the same answers as F with the hashes, and refusal of the wrong hasher.
#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/split_block_bloom.h>

#include "support/decorated.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

namespace bouncer::test {
namespace {

std::vector<std::string> names(std::size_t first, std::size_t last) {
    std::vector<std::string> out;
    for (std::size_t i = first; i < last; ++i) out.push_back("name " + std::to_string(i));
    return out;
}

secret_key key_of(const char* digits) {
    return secret_key::from_hex(digits).value();
}
const secret_key first_key = key_of("000102030405060708090a0b0c0d0e0f");
const secret_key second_key = key_of("000102030405060708090a0b0c0d0e10");

// body(hasher) with the hasher that keyed has for this kind, unless told.
template <class Body>
void with_default_hasher(const kind& k, Body body) {
    switch (k.default_hasher().algorithm) {
    case xxh3::algorithm: return body(xxh3{});
    case xxh64::algorithm: return body(xxh64{});
    case fnv1::algorithm: return body(fnv1{});
    }
    FAIL() << "a default hasher that this test does not know: " << to_string(k.default_hasher());
}

template <class Hasher>
void expect_hashes_of_keys(const kind& kept, const Hasher& hasher) {
    auto k = keyed<subject_filter, Hasher>::create({.keys = 2'000, .false_positive_rate = 0.01}).value();
    auto f = subject_filter::create(k.filter().params(), {.hash = k.hash()}).value();
    EXPECT_EQ(k.hash(), spec_of(hasher));
    EXPECT_EQ(k.hash(), kept.default_hasher());
    for (const std::string& name : names(0, 1'500)) {
        EXPECT_EQ(k.hash_of(name), hash_key(hasher, name));
        EXPECT_EQ(k.add(name), f.add(hash_key(hasher, name)));
        EXPECT_TRUE(k.may_contain(name));
    }
    for (const std::string& name : names(0, 2'000))
        EXPECT_EQ(k.test_and_add(name), f.test_and_add(hash_key(hasher, name)));
    EXPECT_TRUE(k.filter() == f);
    EXPECT_EQ(k.size_bytes(), f.size_bytes());
    std::size_t absent = 0;
    for (const std::string& name : names(10'000, 12'000)) {
        EXPECT_EQ(k.may_contain(name), f.may_contain(hash_key(hasher, name)));
        absent += !k.may_contain(name);
    }
    if (kept.is.exact) { // a window is full of so many in one step
        EXPECT_GT(absent, 1'900u);
    }
    k.clear();
    EXPECT_EQ(k.filter().fill_ratio(), 0);
}

template <class Hasher>
void expect_batches_one_by_one() {
    using keyed_filter = keyed<subject_filter, Hasher>;
    for (const std::size_t count : {0u, 1u, 17u, 511u, 512u, 513u, 1'500u}) {
        const auto some = names(0, count);
        auto batch = keyed_filter::create({.keys = 500, .false_positive_rate = 0.1}).value();
        auto single = keyed_filter::create({.keys = 500, .false_positive_rate = 0.1}).value();
        std::size_t changed = 0;
        for (const std::string& name : some) changed += single.add(name);
        EXPECT_EQ(batch.add_batch(std::span(some)), changed);
        EXPECT_TRUE(batch == single);

        const auto asked = names(count / 2, count / 2 + count);
        answers got(count + 1, true);
        std::size_t found = 0;
        for (const std::string& name : asked) found += single.may_contain(name);
        EXPECT_EQ(batch.may_contain(asked, got.span()), found);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(got[i], single.may_contain(asked[i]));
        EXPECT_TRUE(got[count]);

        const std::size_t shorter = count - count / 3;
        answers before(shorter);
        const std::size_t added = batch.test_and_add(asked, before.span());
        std::size_t expected = 0;
        for (std::size_t i = 0; i < shorter; ++i) {
            const bool was_there = single.test_and_add(asked[i]);
            EXPECT_EQ(before[i], was_there);
            expected += !was_there;
        }
        EXPECT_EQ(added, expected);
        EXPECT_TRUE(batch == single);
    }
}

class keys : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, keys, plain_subjects_that(&facts::incremental), subject_names);

TEST_P(keys, go_to_the_filter_as_their_hashes) {
    with_default_hasher(k, [&](const auto& hasher) { expect_hashes_of_keys(k, hasher); });
}

TEST_P(keys, in_batches_are_the_keys_one_by_one) {
    with_default_hasher(k, []<class Hasher>(const Hasher&) { expect_batches_one_by_one<Hasher>(); });
}

template <class Hasher>
void expect_threads_one_by_one() {
    using keyed_filter = keyed<subject_filter, Hasher>;
    for (const std::size_t count : {0u, 5u, 1'500u}) {
        const auto some = names(0, count);
        auto expected = keyed_filter::create({.keys = 1'500, .false_positive_rate = 0.01}).value();
        expected.add_batch(some);
        for (const unsigned threads : {0u, 1u, 2u, 7u}) {
            auto f = keyed_filter::create({.keys = 1'500, .false_positive_rate = 0.01}).value();
            EXPECT_TRUE(f.add_all(some, threads).has_value());
            EXPECT_TRUE(f == expected) << count << " keys, " << threads << " threads";
        }
    }
}

class keys_of_threads : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, keys_of_threads,
                         plain_subjects_that([](const facts& is) { return is.incremental && is.bulk; }),
                         subject_names);

TEST_P(keys_of_threads, are_the_keys_one_by_one) {
    with_default_hasher(k, []<class Hasher>(const Hasher&) { expect_threads_one_by_one<Hasher>(); });
}

TEST(key_forms, of_equal_bytes_are_equal_keys) {
    subject_filter::made_of = &kind_named("blocked_bloom", words_access::plain);
    auto k = keyed<subject_filter>::create({.keys = 1'000, .false_positive_rate = 1e-4}).value();
    k.add("alice");
    EXPECT_TRUE(k.may_contain(std::string("alice")));
    EXPECT_TRUE(k.may_contain(std::string_view("alice")));
    EXPECT_TRUE(k.may_contain(u8"alice"));
    EXPECT_TRUE(k.may_contain(std::vector<char>{'a', 'l', 'i', 'c', 'e'}));
    const std::array<std::byte, 5> bytes{std::byte{'a'}, std::byte{'l'}, std::byte{'i'}, std::byte{'c'},
                                         std::byte{'e'}};
    EXPECT_TRUE(k.may_contain(bytes));
    EXPECT_TRUE(k.may_contain(std::span(bytes)));
    EXPECT_FALSE(k.may_contain("bob"));
    k.add(std::uint64_t{0x0102030405060708});
    EXPECT_TRUE(k.may_contain(std::int64_t{0x0102030405060708}));
    EXPECT_TRUE(k.may_contain(std::array<std::uint32_t, 2>{0x05060708, 0x01020304}));
    EXPECT_TRUE(k.may_contain("\x08\x07\x06\x05\x04\x03\x02\x01"));
    EXPECT_FALSE(k.may_contain(std::uint32_t{0x05060708}));
    const std::array<int, 3> numbers{1, 2, 3};
    k.add_batch(numbers);
    EXPECT_TRUE(k.may_contain(2));
    EXPECT_FALSE(k.may_contain(4));
}

template <class Hasher>
void expect_merged_keys(const kind& k, const Hasher& hasher) {
    using keyed_filter = keyed<subject_filter, Hasher>;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto a = keyed_filter::create(wanted).value();
    auto in_other_access = k.other().create(wanted, {.hash = spec_of(hasher)}).value();
    auto b = keyed_filter::wrap(subject_filter(std::move(in_other_access))).value();
    auto both = keyed_filter::create(wanted).value();
    a.add_batch(names(0, 500));
    // A kind that counts has a key of both twice.
    const std::size_t first = k.is.idempotent ? 400 : 500;
    b.add_batch(names(first, 900));
    both.add_batch(names(0, 900));
    EXPECT_TRUE(fails_with(a.merge_if_within(b, 1e-9), error_code::full));
    EXPECT_FALSE(a == both);
    ASSERT_TRUE(a.merge(b).has_value());
    for (const std::string& name : names(0, 900)) EXPECT_TRUE(a.may_contain(name));
    if (k.is.commuting) {
        EXPECT_TRUE(a == both);
    }
    const auto shared = keyed_filter::wrap(b.filter().view()).value();
    EXPECT_TRUE(shared.may_contain("name 650"));
    EXPECT_TRUE(a.merge_if_within(shared, 0.5).has_value());
}

class merged_keys : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, merged_keys, plain_subjects_that([](const facts& is) {
                             return is.incremental && is.exact && is.mergeable;
                         }),
                         subject_names);

TEST_P(merged_keys, are_those_of_both_where_the_hash_agrees) {
    with_default_hasher(k, [&](const auto& hasher) { expect_merged_keys(k, hasher); });
}

// By their types: plain, atomic and a view are three, and each has the hasher of its kind.
template <class Mine, class Theirs>
concept merge_and_compare = requires(Mine& mine, const Theirs& theirs) {
    { mine.merge(theirs) } -> std::same_as<result<double>>;
    { mine.merge_if_within(theirs, 0.5) } -> std::same_as<result<double>>;
    { mine == theirs } -> std::same_as<bool>;
};
static_assert(merge_and_compare<keyed<plain_blocked_bloom>, keyed<atomic_blocked_bloom>>);
static_assert(merge_and_compare<keyed<plain_blocked_bloom>, keyed<blocked_bloom_view>>);
static_assert(merge_and_compare<keyed<atomic_blocked_bloom>, keyed<plain_blocked_bloom>>);
static_assert(!merge_and_compare<keyed<blocked_bloom_view>, keyed<plain_blocked_bloom>>);
static_assert(!merge_and_compare<keyed<plain_blocked_bloom>, keyed<plain_split_block_bloom>>);
static_assert(std::is_same_v<keyed<plain_blocked_bloom>::hasher_type, xxh3>);
static_assert(std::is_same_v<keyed<plain_split_block_bloom>::hasher_type, xxh64>);

// One kind as users have it: what the types above hand on is compiled and run.
template <class Mine, class Theirs>
void expect_union_of_types() {
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto mine = Mine::create(wanted).value();
    auto theirs = Theirs::create(wanted).value();
    auto both = Theirs::create(wanted).value();
    ASSERT_TRUE(mine.add_all(names(0, 500), 2).has_value());
    ASSERT_TRUE(theirs.add_all(names(400, 900), 2).has_value());
    both.add_batch(names(0, 900));
    EXPECT_TRUE(fails_with(mine.merge_if_within(theirs, 1e-9), error_code::full));
    EXPECT_FALSE(mine == both);
    ASSERT_TRUE(mine.merge(theirs).has_value());
    EXPECT_TRUE(mine == both);
    const auto view = keyed<blocked_bloom_view>::wrap(both.filter().view()).value();
    EXPECT_TRUE(mine == view);
    ASSERT_TRUE(mine.merge_if_within(view, 0.5).has_value());
    ASSERT_TRUE(mine.merge(view).has_value());
    EXPECT_TRUE(mine == both);
    for (const std::string& name : names(0, 900)) EXPECT_TRUE(view.may_contain(name));
}

TEST(keys_of_a_type, merge_and_compare_in_every_access) {
    expect_union_of_types<keyed<plain_blocked_bloom>, keyed<atomic_blocked_bloom>>();
    expect_union_of_types<keyed<atomic_blocked_bloom>, keyed<plain_blocked_bloom>>();
}

// ---- the hasher: built-in, seeded, secret. Two kinds will do: one that takes any hash, and one that fixes it -------

class hashers : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, hashers, plain_subjects_that([](const facts& is) {
                             return is.name == "blocked_bloom" || is.name == "split_block_bloom";
                         }),
                         subject_names);

template <class Hasher>
void expect_own_hasher_only(const kind& k) {
    using keyed_filter = keyed<subject_filter, Hasher>;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    const auto f = keyed_filter::create(wanted).value();
    const auto copy = [&] { return f.filter().clone(); };
    EXPECT_TRUE(keyed_filter::wrap(copy()).has_value());
    EXPECT_TRUE(fails_with(keyed_filter::wrap(copy(), Hasher{5}), error_code::mismatch,
                           to_string(spec_of(Hasher{})), to_string(spec_of(Hasher{5}))));
    EXPECT_TRUE(fails_with(keyed<subject_filter, murmur3>::wrap(copy()), error_code::mismatch, "murmur3"));
    EXPECT_TRUE(fails_with(keyed<subject_filter, siphash13>::wrap(copy(), siphash13(first_key)),
                           error_code::mismatch, "siphash13"));
    // Filters of bare hashes are not filters of keys.
    if (k.is.any_hash) {
        EXPECT_TRUE(fails_with(keyed_filter::wrap(subject_filter::create(wanted).value()),
                               error_code::mismatch, "prehashed"));
    }
}

TEST_P(hashers, that_are_not_the_filters_own_are_refused) {
    if (k.is.any_hash)
        expect_own_hasher_only<xxh3>(k);
    else
        expect_own_hasher_only<xxh64>(k);
}

TEST_P(hashers, under_another_secret_are_refused) {
    using secret = keyed<subject_filter, siphash13>;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto made = secret::create(wanted, siphash13(first_key));
    if (!k.check_stored_hash(siphash13(first_key).spec())) {
        EXPECT_TRUE(fails_with(made, error_code::mismatch, "siphash13"));
        return;
    }
    auto f = std::move(made).value();
    f.add_batch(names(0, 500));
    const auto before = f.filter().clone();
    EXPECT_TRUE(secret::wrap(f.filter().clone(), siphash13(first_key)).has_value());
    EXPECT_TRUE(fails_with(secret::wrap(f.filter().clone(), siphash13(second_key)), error_code::wrong_key));
    EXPECT_TRUE(fails_with(keyed<subject_filter, siphash24>::wrap(f.filter().clone(), siphash24(first_key)),
                           error_code::mismatch, "siphash24", "siphash13"));

    auto other = secret::create(wanted, siphash13(second_key)).value();
    other.add_batch(names(500, 900));
    EXPECT_TRUE(fails_with(f.merge(other), error_code::wrong_key));
    EXPECT_TRUE(f.filter() == before) << "a refused merge changed the filter";
    EXPECT_TRUE(fails_with(f.merge_if_within(other, 0.9), error_code::wrong_key));
    EXPECT_TRUE(f.filter() == before) << "a refused merge changed the filter";
}

template <class Hasher>
void expect_no_merge_of_seeds(const kind& k) {
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto f = keyed<subject_filter, Hasher>::create(wanted).value();
    const auto other = keyed<subject_filter, Hasher>::create(wanted, Hasher{7});
    ASSERT_EQ(other.has_value(), k.is.any_hash);
    if (!other) { // a kind that fixes its hash
        EXPECT_EQ(other.error().code, error_code::mismatch);
        return;
    }
    EXPECT_TRUE(fails_with(f.merge(*other), error_code::mismatch, "seed 7", "seed 0"));
    EXPECT_FALSE(f == *other);
}

TEST_P(hashers, of_different_seeds_do_not_merge) {
    if (k.is.any_hash)
        expect_no_merge_of_seeds<xxh3>(k);
    else
        expect_no_merge_of_seeds<xxh64>(k);
}

} // namespace
} // namespace bouncer::test
