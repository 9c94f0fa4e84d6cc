// Every pair of accesses gives the same. The adaptor behind subject.h asks views for what only reads words. Here each
// function is called as users call it, with real types, for one kind of every class that defines it: a kind with a clone,
// fold, ==, merge or estimate of its own is added here.
#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

#include <span>

namespace bouncer::test {
namespace {

// use(a plain filter), use(an atomic one), use(a view): of the same kind and words.
template <class F, class Use>
void in_every_access(const F& filter, Use use) {
    use(filter);
    use(filter.template clone<atomic_words>().value());
    use(filter.view());
}

template <class F>
void expect_equal_and_cloned(const F& filter, const F& another) {
    in_every_access(filter, [&](const auto& a) {
        EXPECT_TRUE(a.template clone<plain_words>().value() == filter);
        EXPECT_TRUE(a.template clone<atomic_words>().value() == filter);
        in_every_access(filter, [&](const auto& b) { EXPECT_TRUE(a == b); });
        in_every_access(another, [&](const auto& b) { EXPECT_FALSE(a == b); });
    });
}

template <class F>
void expect_merged(const F& one, const F& other, const F& both) {
    const auto check = [&](const auto& mine) {
        in_every_access(other, [&](const auto& theirs) {
            auto merged = mine.clone().value();
            ASSERT_TRUE(merged.merge(theirs).has_value());
            EXPECT_TRUE(merged == both);
            auto within = mine.clone().value();
            EXPECT_TRUE(fails_with(within.merge_if_within(theirs, 1e-9), error_code::full));
            EXPECT_TRUE(within == mine);
            ASSERT_TRUE(within.merge_if_within(theirs, 0.9).has_value());
            EXPECT_TRUE(within == both);
        });
    };
    check(one);
    check(one.template clone<atomic_words>().value());
}

// A filter for as many keys as are said, with `count` of 3,000.
template <class F>
F of_keys(std::size_t first, std::size_t count, std::uint64_t keys = 3'000) {
    const auto hashes = random_hashes(3'000, 1);
    auto out = F::create(goal{.keys = keys, .false_positive_rate = 0.01}).value();
    if constexpr (rotating<F>) {
        EXPECT_TRUE(out.rotate_to(9).has_value()); // an epoch is part of the state
    }
    out.add_batch(std::span(hashes).subspan(first, count));
    return out;
}

TEST(access_pairs, of_bits) {
    using kind = plain_blocked_bloom;
    const auto one = of_keys<kind>(0, 2'000), other = of_keys<kind>(1'000, 2'000),
               both = of_keys<kind>(0, 3'000);
    expect_equal_and_cloned(one, other);
    expect_merged(one, other, both);
    const auto folded = one.fold(2).value();
    in_every_access(one, [&](const auto& a) {
        EXPECT_TRUE(a.fold(2).value() == folded);
        EXPECT_TRUE(a.template fold<plain_words>(2).value() == folded);
        EXPECT_TRUE(a.template fold<atomic_words>(2).value() == folded);
        EXPECT_EQ(a.sampled_fill_ratio(100).value, one.sampled_fill_ratio(100).value);
        EXPECT_EQ(a.sampled_size(100).high, one.sampled_size(100).high);
        EXPECT_EQ(a.sampled_fpr(100).low, one.sampled_fpr(100).low);
        in_every_access(other, [&](const auto& b) {
            EXPECT_EQ(a.union_size(b).value(), both.approximate_size());
            EXPECT_EQ(a.intersection_size(b).value(),
                      one.approximate_size() + other.approximate_size() - both.approximate_size());
            EXPECT_EQ(a.sampled_union_size(b, 100).value().value, both.sampled_size(100).value);
            EXPECT_EQ(a.sampled_intersection_size(b, 100).value().value,
                      one.sampled_intersection_size(other, 100).value().value);
        });
    });
}

TEST(access_pairs, of_cells) {
    using kind = plain_counting_bloom;
    const auto one = of_keys<kind>(0, 1'500), other = of_keys<kind>(1'500, 1'500),
               both = of_keys<kind>(0, 3'000);
    expect_equal_and_cloned(one, other);
    expect_merged(one, other, both);
}

// Its union, with a lock and an epoch, is its own.
TEST(access_pairs, of_windows) {
    using kind = plain_windowed_bloom;
    const auto one = of_keys<kind>(0, 200), other = of_keys<kind>(200, 200), both = of_keys<kind>(0, 400);
    expect_equal_and_cloned(one, other);
    expect_merged(one, other, both);
}

TEST(access_pairs, of_chains) {
    using kind = basic_scalable_bloom<plain_words>;
    const auto one = of_keys<kind>(0, 2'000, 500), other = of_keys<kind>(1'000, 2'000, 500);
    ASSERT_GT(one.layer_count(), 1u);
    auto both = one.clone().value(); // a chain counts its adds, so it is not the chain of all keys
    ASSERT_TRUE(both.merge(other).has_value());
    expect_equal_and_cloned(one, other);
    expect_merged(one, other, both);
}

TEST(access_pairs, of_built) {
    using kind = binary_fuse;
    const auto hashes = random_hashes(2'000, 1);
    const goal wanted{.false_positive_rate = 0.01};
    expect_equal_and_cloned(kind::build(hashes, wanted).value(),
                            kind::build(std::span(hashes).first(1'999), wanted).value());
}

} // namespace
} // namespace bouncer::test
