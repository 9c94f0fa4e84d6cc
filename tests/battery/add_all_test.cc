// add_all on any number of threads gives the filter of a sequential build, plain filters included.
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/blocked_bloom.h> // parameters
#include <bouncer/detail/slices.h>
#include <bouncer/split_block_bloom.h>

#include <algorithm>
#include <vector>

namespace bouncer::test {
namespace {

class add_all : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, add_all, subjects_that(&facts::bits), subject_names);

TEST_P(add_all, equals_the_sequential_build) {
    const auto hashes = random_hashes(scaled(100'000), 1);
    for (const auto& chosen : k.variants(hashes.size(), 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto expected = k.create(chosen).value();
        expected.add_batch(hashes);
        for (const unsigned threads : {0u, 1u, 2u, 3u, 7u}) {
            auto f = k.create(chosen).value();
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads";
        }
    }
}

TEST_P(add_all, with_more_threads_than_blocks_or_keys) {
    for (const auto& chosen : k.variants(1, 0.1)) {
        SCOPED_TRACE(k.describe(chosen));
        for (const std::size_t keys : {0u, 1u, 5u}) {
            const auto hashes = random_hashes(keys, 1);
            auto expected = k.create(chosen).value();
            expected.add_batch(hashes);
            for (const unsigned threads : {2u, 20u}) {
                auto f = k.create(chosen).value();
                f.add_all(hashes, threads);
                EXPECT_TRUE(f == expected) << threads << " threads, keys " << keys;
            }
        }
    }
}

TEST_P(add_all, adds_to_what_is_there) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        auto expected = k.create(chosen).value();
        expected.add_batch(random_hashes(1'000, 1));
        auto f = expected.clone();
        expected.add_batch(random_hashes(1'000, 2));
        f.add_all(random_hashes(1'000, 2), 3);
        EXPECT_TRUE(f == expected);
    }
}

// ---- by slices: filters whose keys have one block each ------------------------------------------------------------

class add_all_by_slices : public kind_test {
  protected:
    detail::slice_plan plan_of(const choice& chosen, std::size_t hashes, unsigned threads) const {
        const std::uint64_t blocks = k.shape_of(chosen).blocks;
        return {blocks, k.size_bytes_of(chosen) / blocks, hashes, threads};
    }

    void expect_slices(const choice& chosen, const std::vector<std::uint64_t>& hashes,
                       const std::vector<unsigned>& thread_counts) const {
        auto expected = k.create(chosen).value();
        for (const std::uint64_t hash : hashes) expected.add(hash);
        auto by_batch = k.create(chosen).value();
        by_batch.add_batch(hashes);
        EXPECT_TRUE(by_batch == expected) << "add_batch";
        for (const unsigned threads : thread_counts) {
            auto f = k.create(chosen).value();
            EXPECT_TRUE(plan_of(chosen, hashes.size(), threads).worth_it()) << threads << " threads";
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads";
        }
    }
};
INSTANTIATE_TEST_SUITE_P(all, add_all_by_slices, subjects_that(&facts::one_block), subject_names);

// Several threads share the work by slices whatever the size of the filter; here in many rounds, because the buffers hold
// little more than 65,536 hashes at a time.
TEST_P(add_all_by_slices, of_a_small_filter_are_for_several_threads) {
    for (const auto& chosen : k.variants(5'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto hashes = random_hashes(200'000, 3);
        expect_slices(chosen, hashes, {2, 3, 16});
        EXPECT_FALSE(plan_of(chosen, hashes.size(), 1).worth_it());
    }
    // Fewer hashes, or fewer blocks than threads: no slices, and the same bits.
    const auto chosen = k.with_size(k.variants(5'000, 0.01).front(), 3);
    for (const std::size_t count : {std::size_t{60'000}, std::size_t{70'000}}) {
        const auto hashes = random_hashes(count, 4);
        auto expected = k.create(chosen).value();
        expected.add_batch(hashes);
        for (const unsigned threads : {2u, 4u}) {
            auto f = k.create(chosen).value();
            EXPECT_EQ(plan_of(chosen, count, threads).worth_it(), count > 65'536 && threads < 4);
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads, " << count;
        }
    }
}

// Input that fills one slice while the others stay empty, or one after the other.
TEST_P(add_all_by_slices, of_hostile_hashes) {
    for (const auto& chosen : k.variants(20'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const std::vector<std::uint64_t> equal(70'000, 0x123456789abcdef0u);
        expect_slices(chosen, equal, {2, 3});
        expect_slices(chosen, std::vector<std::uint64_t>(70'000, ~std::uint64_t{0}), {2, 3});
        auto hashes = random_hashes(70'000, 5);
        std::sort(hashes.begin(), hashes.end());
        expect_slices(chosen, hashes, {2, 3});
        for (std::uint64_t& hash : hashes) hash >>= 10; // the first thousandth of the filter
        expect_slices(chosen, hashes, {2, 3});
    }
}

// One thread takes slices only for a filter of 64 MiB, and two hashes a block: for the smallest of these, of random and
// of hostile hashes, on one thread and on two.
template <class Parameters>
void expect_slices_on_one_thread(std::string_view name, words_access access, const Parameters& parameters,
                                 bool hostile) {
    const kind& k = kind_named(name, access);
    const choice chosen(parameters, std::string());
    const std::uint64_t blocks = k.shape_of(chosen).blocks;
    SCOPED_TRACE(testing::Message() << name << ", blocks " << blocks);
    const std::size_t count = 2 * blocks + 100;
    ASSERT_TRUE(detail::slice_plan(blocks, k.size_bytes_of(chosen) / blocks, count, 1).worth_it());
    const auto expect_equal = [&](const std::vector<std::uint64_t>& hashes) {
        auto expected = k.create(chosen).value();
        for (const std::uint64_t hash : hashes) expected.add(hash);
        for (const unsigned threads : {1u, 2u}) {
            auto f = k.create(chosen).value();
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads";
        }
    };
    auto hashes = random_hashes(count, 6);
    expect_equal(hashes);
    if (!hostile) return;
    std::sort(hashes.begin(), hashes.end());
    expect_equal(hashes);
    for (std::uint64_t& hash : hashes) hash >>= 12; // one slice
    expect_equal(hashes);
    expect_equal(std::vector<std::uint64_t>(count, 42));
}

TEST(add_all_of_a_large_filter, equals_the_sequential_build) {
    constexpr std::uint64_t bytes = 64 << 20;
    using blocked = blocked_bloom_parameters;
    const auto plain = words_access::plain;
    const auto atomic = words_access::atomic;
    expect_slices_on_one_thread("blocked_bloom", plain, blocked{bytes / 64 + 77, 8, block_form::lanes8},
                                whole_sizes);
    if (!whole_sizes) return; // two million keys each, one by one and by slices
    expect_slices_on_one_thread("blocked_bloom", atomic, blocked{bytes / 64 + 1, 6, block_form::sectors2},
                                false);
    expect_slices_on_one_thread("blocked_bloom", atomic, blocked{bytes / 128 + 3, 16, block_form::lanes16},
                                false);
    expect_slices_on_one_thread("split_block_bloom", plain, split_block_bloom_parameters{bytes / 32 + 5},
                                false);
}

// More hashes than the buffers of one thread hold at a time: an eighth of the filter's bytes and 65,536.
TEST(add_all_of_a_large_filter, takes_several_rounds) {
    const blocked_bloom_parameters chosen{(64 << 20) / 64, 8, block_form::lanes8};
    const auto hashes = random_hashes((17 << 20) + 500'000, 7);
    const detail::slice_plan plan(chosen.blocks, 64, hashes.size(), 1);
    ASSERT_TRUE(plan.worth_it());
    ASSERT_LT(plan.capacity() * plan.slices(), hashes.size());
    const kind& k = kind_named("blocked_bloom", words_access::plain);
    auto expected = k.create(choice(chosen, {})).value();
    expected.add_batch(hashes);
    auto f = k.create(choice(chosen, {})).value();
    f.add_all(hashes, 1);
    EXPECT_TRUE(f == expected);
}

} // namespace
} // namespace bouncer::test
