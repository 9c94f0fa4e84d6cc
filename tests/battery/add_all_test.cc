// add_all on any number of threads gives the filter of a sequential build, plain filters included.
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/detail/slices.h>

#include <algorithm>
#include <vector>

namespace bouncer::test {
namespace {

template <class F>
class add_all : public ::testing::Test {};
TYPED_TEST_SUITE(add_all, kinds_that<is_bit_filter>, kind_names);

TYPED_TEST(add_all, equals_the_sequential_build) {
    const auto hashes = random_hashes(scaled(100'000), 1);
    for (const auto& chosen : variants<TypeParam>(hashes.size(), 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto expected = TypeParam::create(chosen).value();
        expected.add_batch(hashes);
        for (const unsigned threads : {0u, 1u, 2u, 3u, 7u}) {
            auto f = TypeParam::create(chosen).value();
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads";
        }
    }
}

TYPED_TEST(add_all, with_more_threads_than_blocks_or_keys) {
    for (const auto& chosen : variants<TypeParam>(1, 0.1)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        for (const std::size_t keys : {0u, 1u, 5u}) {
            const auto hashes = random_hashes(keys, 1);
            auto expected = TypeParam::create(chosen).value();
            expected.add_batch(hashes);
            for (const unsigned threads : {2u, 20u}) {
                auto f = TypeParam::create(chosen).value();
                f.add_all(hashes, threads);
                EXPECT_TRUE(f == expected) << threads << " threads, keys " << keys;
            }
        }
    }
}

TYPED_TEST(add_all, adds_to_what_is_there) {
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        auto expected = TypeParam::create(chosen).value();
        expected.add_batch(random_hashes(1'000, 1));
        auto f = expected.clone().value();
        expected.add_batch(random_hashes(1'000, 2));
        f.add_all(random_hashes(1'000, 2), 3);
        EXPECT_TRUE(f == expected);
    }
}

// ---- by slices: filters whose keys have one block each ------------------------------------------------------------

template <class F>
struct has_blocks : std::false_type {};
template <class Layout, class Words>
struct has_blocks<bit_filter<Layout, Words>> : std::bool_constant<Layout::one_block> {};

template <class F>
class add_all_by_slices : public ::testing::Test {
  protected:
    static detail::slice_plan plan_of(const F& f, std::size_t hashes, unsigned threads) {
        const std::uint64_t blocks = f.layout().block_count();
        return {blocks, f.size_bytes() / blocks, hashes, threads};
    }

    static void expect_slices(const typename F::parameters& chosen, const std::vector<std::uint64_t>& hashes,
                              const std::vector<unsigned>& thread_counts) {
        auto expected = F::create(chosen).value();
        for (const std::uint64_t hash : hashes) expected.add(hash);
        auto by_batch = F::create(chosen).value();
        by_batch.add_batch(hashes);
        EXPECT_TRUE(by_batch == expected) << "add_batch";
        for (const unsigned threads : thread_counts) {
            auto f = F::create(chosen).value();
            EXPECT_TRUE(plan_of(f, hashes.size(), threads).worth_it()) << threads << " threads";
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads";
        }
    }
};
TYPED_TEST_SUITE(add_all_by_slices, kinds_that<has_blocks>, kind_names);

// Several threads share the work by slices whatever the size of the filter; here in many rounds, because the buffers hold
// little more than 65,536 hashes at a time.
TYPED_TEST(add_all_by_slices, of_a_small_filter_are_for_several_threads) {
    for (const auto& chosen : variants<TypeParam>(5'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        const auto hashes = random_hashes(200'000, 3);
        this->expect_slices(chosen, hashes, {2, 3, 16});
        auto f = TypeParam::create(chosen).value();
        EXPECT_FALSE(this->plan_of(f, hashes.size(), 1).worth_it());
    }
    // Fewer hashes, or fewer blocks than threads: no slices, and the same bits.
    auto chosen = variants<TypeParam>(5'000, 0.01).front();
    size_parameter(chosen) = 3;
    for (const std::size_t count : {std::size_t{60'000}, std::size_t{70'000}}) {
        const auto hashes = random_hashes(count, 4);
        auto expected = TypeParam::create(chosen).value();
        expected.add_batch(hashes);
        for (const unsigned threads : {2u, 4u}) {
            auto f = TypeParam::create(chosen).value();
            EXPECT_EQ(this->plan_of(f, count, threads).worth_it(), count > 65'536 && threads < 4);
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads, " << count;
        }
    }
}

// Input that fills one slice while the others stay empty, or one after the other.
TYPED_TEST(add_all_by_slices, of_hostile_hashes) {
    for (const auto& chosen : variants<TypeParam>(20'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        const std::vector<std::uint64_t> equal(70'000, 0x123456789abcdef0u);
        this->expect_slices(chosen, equal, {2, 3});
        this->expect_slices(chosen, std::vector<std::uint64_t>(70'000, ~std::uint64_t{0}), {2, 3});
        auto hashes = random_hashes(70'000, 5);
        std::sort(hashes.begin(), hashes.end());
        this->expect_slices(chosen, hashes, {2, 3});
        for (std::uint64_t& hash : hashes) hash >>= 10; // the first thousandth of the filter
        this->expect_slices(chosen, hashes, {2, 3});
    }
}

// One thread takes slices only for a filter of 64 MiB, and two hashes a block: for the smallest of these, of random and
// of hostile hashes, on one thread and on two.
template <class F>
void expect_slices_on_one_thread(typename F::parameters chosen, bool hostile) {
    SCOPED_TRACE(describe<F>(chosen));
    const typename F::layout_type layout(chosen);
    const std::uint64_t block_bytes = layout.word_count() * 8 / layout.block_count();
    const std::size_t count = 2 * layout.block_count() + 100;
    ASSERT_TRUE(detail::slice_plan(layout.block_count(), block_bytes, count, 1).worth_it());
    const auto expect_equal = [&](const std::vector<std::uint64_t>& hashes) {
        auto expected = F::create(chosen).value();
        for (const std::uint64_t hash : hashes) expected.add(hash);
        for (const unsigned threads : {1u, 2u}) {
            auto f = F::create(chosen).value();
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
    expect_slices_on_one_thread<plain_blocked_bloom>({bytes / 64 + 77, 8, block_form::lanes8}, true);
    expect_slices_on_one_thread<atomic_blocked_bloom>({bytes / 64 + 1, 6, block_form::sectors2}, false);
    expect_slices_on_one_thread<atomic_blocked_bloom>({bytes / 128 + 3, 16, block_form::lanes16}, false);
    expect_slices_on_one_thread<plain_split_block_bloom>({bytes / 32 + 5}, false);
}

// More hashes than the buffers of one thread hold at a time: an eighth of the filter's bytes and 65,536.
TEST(add_all_of_a_large_filter, takes_several_rounds) {
    const blocked_bloom_parameters chosen{(64 << 20) / 64, 8, block_form::lanes8};
    const auto hashes = random_hashes((17 << 20) + 500'000, 7);
    const detail::slice_plan plan(chosen.blocks, 64, hashes.size(), 1);
    ASSERT_TRUE(plan.worth_it());
    ASSERT_LT(plan.capacity() * plan.slices(), hashes.size());
    auto expected = plain_blocked_bloom::create(chosen).value();
    expected.add_batch(hashes);
    auto f = plain_blocked_bloom::create(chosen).value();
    f.add_all(hashes, 1);
    EXPECT_TRUE(f == expected);
}

} // namespace
} // namespace bouncer::test
