// The forms of blocked_bloom that counters turn into, halves256 and halves128: their rate, fold, union and files.
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/rate_variance.h"
#include "support/statistics.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/snapshot.h>

#include <algorithm>

namespace bouncer::test {
namespace {

using F = plain_blocked_bloom;
constexpr std::uint64_t keys = 20'000;

class cells_halves : public ::testing::TestWithParam<block_form> {
  protected:
    // About 1 % with k = 6: 12 bits a key.
    static blocked_bloom_parameters sized(std::uint32_t k = 6) {
        return {keys * 12 / (GetParam() == block_form::halves256 ? 256 : 128) / 12 * 12, k, GetParam()};
    }
};
INSTANTIATE_TEST_SUITE_P(both, cells_halves, ::testing::Values(block_form::halves256, block_form::halves128),
                         [](const auto& info) {
                             return info.param == block_form::halves256 ? "halves256" : "halves128";
                         });

TEST_P(cells_halves, rate_is_within_five_sigma) {
    for (const std::uint32_t k : {2u, 6u, 10u, 16u}) {
        SCOPED_TRACE(k);
        auto f = F::create(sized(k)).value();
        f.add_batch(random_hashes(keys, 1));
        const std::uint64_t batches = (scaled(2'000'000) + 9'999) / 10'000;
        answers got(10'000);
        double hits = 0;
        for (std::uint64_t i = 0; i < batches; ++i)
            hits += static_cast<double>(f.may_contain(random_hashes(10'000, 2, i * 10'000), got.span()));
        const double trials = static_cast<double>(batches) * 10'000;
        EXPECT_TRUE(within_sigma(hits, trials, f.expected_fpr()));
        const double between = rate_variance(f, keys);
        EXPECT_TRUE(within_sigma(hits, trials, f.fpr_at(keys), 5, between));
        EXPECT_LT(std::sqrt(between), 0.05 * f.fpr_at(keys)) << "a bound that says nothing";
    }
}

// The bits of a key, by arithmetic of its own.
TEST_P(cells_halves, bits_are_those_of_the_specification) {
    const std::uint64_t half_bits = GetParam() == block_form::halves256 ? 128 : 64;
    for (const std::uint32_t k : {2u, 6u, 16u})
        for (const std::uint64_t blocks : {1u, 5u, 64u}) {
            auto hashes = random_hashes(300, 3);
            const auto extreme = extreme_hashes();
            hashes.insert(hashes.end(), extreme.begin(), extreme.end());
            for (const std::uint64_t hash : hashes) {
                auto f = F::create({blocks, k, GetParam()}).value();
                EXPECT_TRUE(f.add(hash));
                EXPECT_FALSE(f.add(hash));
                EXPECT_TRUE(f.may_contain(hash));
                std::vector<std::uint64_t> expected(f.size_bytes() / 8);
                // The top of hash * blocks, by halves.
                const std::uint64_t block =
                    ((hash >> 32) * blocks + ((hash & 0xffffffffu) * blocks >> 32)) >> 32;
                for (std::uint64_t half = 0; half < 2; ++half) {
                    std::uint64_t drawn = hash * (half == 0 ? 0x6a09e667f3bcc909u : 0xbb67ae8584caa73bu);
                    drawn ^= drawn >> 32;
                    for (std::uint32_t i = 0; i < k / 2; ++i, drawn >>= 8) {
                        const std::uint64_t bit = (2 * block + half) * half_bits + drawn % half_bits;
                        expected[bit / 64] |= std::uint64_t{1} << bit % 64;
                    }
                }
                for (std::size_t i = 0; i < expected.size(); ++i)
                    ASSERT_EQ(f.data()[i], expected[i]) << hash << ", word " << i;
            }
        }
}

TEST_P(cells_halves, every_way_to_add_and_ask_is_the_same) {
    const auto hashes = random_hashes(keys, 4);
    auto one_by_one = F::create(sized()).value();
    std::size_t changed = 0;
    for (const std::uint64_t hash : hashes) changed += one_by_one.add(hash);
    auto batch = F::create(sized()).value();
    EXPECT_EQ(batch.add_batch(hashes), changed);
    EXPECT_TRUE(batch == one_by_one);
    auto atomic = atomic_blocked_bloom::create(sized()).value();
    EXPECT_EQ(atomic.add_batch(hashes), changed);
    EXPECT_TRUE(atomic == one_by_one);
    auto tested = atomic_blocked_bloom::create(sized()).value();
    answers were_there(hashes.size());
    tested.test_and_add(hashes, were_there.span());
    EXPECT_TRUE(tested == one_by_one);
    for (const unsigned threads : {1u, 2u}) {
        auto sliced = F::create(sized()).value();
        sliced.add_all(hashes, threads);
        EXPECT_TRUE(sliced == one_by_one);
    }
    auto asked = random_hashes(5'000, 5);
    asked.insert(asked.end(), hashes.begin(), hashes.begin() + 5'000);
    answers got(asked.size());
    batch.may_contain(asked, got.span());
    for (std::size_t i = 0; i < asked.size(); ++i) {
        ASSERT_EQ(got[i], one_by_one.may_contain(asked[i]));
        ASSERT_EQ(got[i], atomic.view().may_contain(asked[i]));
        ASSERT_TRUE(i < 5'000 || got[i]);
    }
}

TEST_P(cells_halves, fold_equals_the_filter_built_small) {
    const auto hashes = random_hashes(2'000, 6);
    auto large = F::create(sized()).value();
    large.add_batch(hashes);
    for (const std::uint64_t factor : {1u, 2u, 3u, 4u, 12u}) {
        const auto folded = large.fold(factor);
        ASSERT_TRUE(folded.has_value()) << folded.error().message;
        EXPECT_EQ(folded->params().blocks * factor, large.params().blocks);
        auto small = F::create(folded->params()).value();
        small.add_batch(hashes);
        EXPECT_TRUE(*folded == small) << factor;
    }
    EXPECT_TRUE(fails_with(large.fold(7), error_code::invalid_argument, "7"));
}

TEST_P(cells_halves, merge_is_the_union) {
    auto a = F::create(sized()).value();
    auto b = F::create(sized()).value();
    auto both = F::create(sized()).value();
    a.add_batch(random_hashes(5'000, 7));
    b.add_batch(random_hashes(5'000, 8));
    both.add_batch(random_hashes(5'000, 7));
    both.add_batch(random_hashes(5'000, 8));
    ASSERT_TRUE(a.merge(b));
    EXPECT_TRUE(a == both);
}

TEST_P(cells_halves, sizes_are_estimated) {
    auto f = F::create(sized()).value();
    f.add_batch(random_hashes(keys, 9));
    constexpr double n = keys;
    const double slope =
        (math::expected_fill(f.shape(), n * 1.01) - math::expected_fill(f.shape(), n * 0.99)) / (0.02 * n);
    EXPECT_TRUE(near_by_sigma(f.approximate_size(), n, std::sqrt(math::fill_variance(f.shape(), n)) / slope));
    const estimate sampled = f.sampled_size();
    EXPECT_LE(sampled.low, n);
    EXPECT_GE(sampled.high, n);
}

// Also where the words do not fill the last line.
TEST_P(cells_halves, round_trip) {
    const scratch_folder folder;
    const std::string path = folder / "halves";
    for (const std::uint64_t blocks :
         {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1'001}, sized().blocks}) {
        auto f = atomic_blocked_bloom::create({blocks, 6, GetParam()}).value();
        f.add_batch(random_hashes(blocks * 10, 10));
        save(f, path, {.durable = false}).value();
        EXPECT_TRUE(load<F>(path).value() == f);
        EXPECT_TRUE(bouncer::map<blocked_bloom_view>(path, verification::eager).value() == f);
        auto shared = open_shared<atomic_blocked_bloom>(path).value();
        shared->add(random_hash(11, 0));
        f.add(random_hash(11, 0));
        EXPECT_TRUE(*shared == f);
    }
}

TEST_P(cells_halves, are_checked_and_never_a_goal) {
    for (const std::uint32_t k : {1u, 3u, 17u})
        EXPECT_TRUE(
            fails_with(F::create({1, k, GetParam()}), error_code::invalid_argument, std::to_string(k)));
    EXPECT_TRUE(fails_with(F::create({1, 0, GetParam()}), error_code::invalid_argument, "0"));
    EXPECT_TRUE(fails_with(F::create({1, 18, GetParam()}), error_code::invalid_argument, "18"));
    EXPECT_TRUE(fails_with(F::create({~std::uint64_t{0}, 6, GetParam()}), error_code::too_large));
    EXPECT_TRUE(fails_with(F::create({1, 6, static_cast<block_form>(7)}), error_code::invalid_argument, "7"));
    for (const double rate : {0.3, 0.01, 1e-6})
        for (const auto favoured : {prefer::reads, prefer::adds, prefer::space})
            EXPECT_NE(F::solve({.keys = 1'000, .false_positive_rate = rate, .prefer = favoured}).value().form,
                      GetParam());
}

} // namespace
} // namespace bouncer::test
