// A user's own hasher. Even the identity of sequential integers keeps the rate, because hash_key mixes what is not
// declared avalanching; a false declaration breaks it, which shows that the test could fail.
#include <bouncer/keyed.h>
#include <bouncer/split_block_bloom.h>

#include "support/decorated.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <vector>

namespace bouncer::test {
namespace {

struct identity {
    static constexpr std::uint32_t algorithm = 0x80000001u;
    std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
struct lying_identity {
    static constexpr std::uint32_t algorithm = 0x80000002u;
    static constexpr bool is_avalanching = true;
    std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
struct point {
    std::uint32_t x, y;
};
struct point_hasher {
    static constexpr std::uint32_t algorithm = 0x80000003u;
    std::uint64_t seed = 0;
    hash_spec spec() const noexcept { return {algorithm, seed}; }
    std::uint64_t operator()(const point& p) const noexcept {
        return (std::uint64_t{p.x} << 32 | p.y) ^ seed;
    }
};

struct rates {
    double measured; // the share of absent sequential integers that a filter of sequential integers has
    double promised; // by the parameters
    double known;    // from the filter's very bits
};

template <class Hasher>
rates rates_of(std::uint64_t queries) {
    constexpr std::uint64_t count = 50'000;
    auto f = keyed<subject_filter, Hasher>::create({.keys = count, .false_positive_rate = 0.01}).value();
    for (std::uint64_t i = 0; i < count; ++i) f.add(i);
    std::uint64_t missing = 0;
    for (std::uint64_t i = 0; i < count; ++i) missing += !f.may_contain(i);
    EXPECT_EQ(missing, 0u);
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < queries; ++i) hits += f.may_contain(count + i);
    return {static_cast<double>(hits) / static_cast<double>(queries), f.filter().fpr_at(count),
            f.filter().expected_fpr()};
}

class user_hasher : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, user_hasher,
                         plain_subjects_that([](const facts& is) { return is.incremental && is.any_hash; }),
                         subject_names);

class rate_of_user_hasher : public decorator_test {};
INSTANTIATE_TEST_SUITE_P(all, rate_of_user_hasher, plain_subjects_that([](const facts& is) {
                             return is.any_hash && is.exact_rate && is.exact;
                         }),
                         subject_names);

TEST_P(rate_of_user_hasher, identity_of_sequential_integers_keeps_the_rate) {
    const std::uint64_t queries = scaled(2'000'000);
    const auto trials = static_cast<double>(queries);
    const rates got = rates_of<identity>(queries);
    EXPECT_TRUE(within_sigma(got.measured * trials, trials, got.known));
    EXPECT_LE(got.promised, 0.01);
    EXPECT_NEAR(got.known, got.promised, 0.05 * got.promised); // the bits lie as those of random hashes do
}

TEST_P(user_hasher, of_a_struct) {
    using points = keyed<subject_filter, point_hasher>;
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto f = points::create(wanted, point_hasher{3}).value();
    EXPECT_EQ(f.hash(), (hash_spec{0x80000003u, 3}));
    f.add(point{1, 2});
    EXPECT_TRUE(f.may_contain(point{1, 2}));
    EXPECT_FALSE(f.may_contain(point{2, 1}));
    const std::vector<point> more{{3, 4}, {5, 6}};
    EXPECT_EQ(f.add_batch(more), 2u);
    answers found(2);
    EXPECT_EQ(f.may_contain(more, found.span()), 2u);
    EXPECT_TRUE(
        fails_with(points::wrap(f.filter().clone(), point_hasher{4}), error_code::mismatch, "0x80000003"));
    if (k.is.mergeable) {
        EXPECT_TRUE(fails_with(f.merge(points::create(wanted, point_hasher{4}).value()), error_code::mismatch,
                               "0x80000003"));
    }
}

// Small integers have no high bits, so all keys fall into the first block.
TEST(lying_hasher, breaks_the_rate) {
    for (const char* const name : {"blocked_bloom", "register_bloom"}) {
        subject_filter::made_of = &kind_named(name, words_access::plain);
        EXPECT_GT(rates_of<lying_identity>(10'000).measured, 0.5) << name;
    }
}

TEST(fixed_hash, refuses_every_user_hasher) {
    EXPECT_TRUE(fails_with(
        keyed<plain_split_block_bloom, identity>::create({.keys = 100, .false_positive_rate = 0.01}),
        error_code::mismatch, "0x80000001", "xxh64"));
}

} // namespace
} // namespace bouncer::test
