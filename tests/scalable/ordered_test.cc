// Large batches are put into the order of their hashes: the answers are those of one by one.
#include "support/random_hashes.h"

#include <bouncer/detail/ordered_hashes.h>
#include <bouncer/scalable.h>

#include <gtest/gtest.h>

#include <set>

namespace bouncer::test {
namespace {

using detail::ordered_hashes;

TEST(ordered, hashes_are_the_same_in_runs_of_their_top_bits) {
    for (const std::size_t count : {1u, 2u, 1'000u, 100'000u}) {
        const auto hashes = random_hashes(count, 1);
        const auto ordered = ordered_hashes::of(hashes);
        ASSERT_TRUE(ordered.has_value());
        ASSERT_EQ(ordered->hashes().size(), count);
        std::set<std::size_t> places;
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(ordered->hashes()[i], hashes[ordered->place(i)]);
            places.insert(ordered->place(i));
            if (i > 0) {
                ASSERT_LE(ordered->hashes()[i - 1] >> 53, ordered->hashes()[i] >> 53);
            }
        }
        EXPECT_EQ(places.size(), count);
    }
}

TEST(ordered, hashes_all_alike_or_at_the_ends) {
    std::vector<std::uint64_t> hashes(5'000, ~std::uint64_t{0});
    for (std::size_t i = 0; i < hashes.size(); i += 3) hashes[i] = 0;
    const auto ordered = ordered_hashes::of(hashes);
    ASSERT_TRUE(ordered.has_value());
    for (std::size_t i = 0; i < hashes.size(); ++i)
        ASSERT_EQ(ordered->hashes()[i], hashes[ordered->place(i)]);
}

TEST(ordered, nothing_of_none_or_too_many) {
    EXPECT_FALSE(ordered_hashes::of({}).has_value());
    const std::uint64_t one = 1;
    EXPECT_FALSE(
        ordered_hashes::of({&one, ordered_hashes::most + 1}).has_value()); // refused before it is read
}

TEST(ordered, batches_of_a_large_chain_answer_as_one_by_one) {
    auto chain = plain_scalable_bloom::create(goal{.keys = 40'000'000, .false_positive_rate = 0.01}).value();
    const std::uint64_t enough = chain.size_bytes() / 512 + 1'000;
    ASSERT_TRUE(ordered_hashes::worth_it(enough, chain.size_bytes()));
    ASSERT_FALSE(ordered_hashes::worth_it(enough / 2, chain.size_bytes()));
    chain.add_batch(random_hashes(enough, 1));
    auto asked = random_hashes(enough, 2);
    for (std::size_t i = 0; i < asked.size(); i += 2) asked[i] = random_hash(1, i);
    answers out(asked.size());
    const std::size_t found = chain.may_contain(asked, out.span());
    std::size_t expected = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const bool here = chain.may_contain(asked[i]);
        ASSERT_EQ(out[i], here) << i;
        expected += here;
    }
    EXPECT_EQ(found, expected);
    EXPECT_GE(found, asked.size() / 2);
}

} // namespace
} // namespace bouncer::test
