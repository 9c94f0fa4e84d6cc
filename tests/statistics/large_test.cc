// The rate of every blocked layout at 30 million keys: beyond 2^16 blocks, where a layout that takes a key's bits from
// the same end of the hash as its block, or from a hash of 32 bits, shows it.
#include <bouncer/all_filters.h>

#include "support/kinds.h"
#include "support/rate_variance.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace bouncer::test {
namespace {

constexpr std::uint64_t keys = scaled(30'000'000);
constexpr std::uint64_t queries = scaled(30'000'000);

// XXH3 of the integers first .. last - 1, in batches that stay in the cache: work(hashes).
template <class Work>
void for_each_batch(std::uint64_t first, std::uint64_t last, Work work) {
    std::array<std::uint64_t, 4096> hashes;
    while (first < last) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(hashes.size(), last - first));
        for (std::size_t i = 0; i < count; ++i) hashes[i] = hash_key(xxh3{}, first + i);
        work(std::span<const std::uint64_t>(hashes.data(), count));
        first += count;
    }
}

std::uint64_t count_maybe(const auto& f, std::uint64_t first, std::uint64_t last) {
    std::array<bool, 4096> answers;
    std::uint64_t found = 0;
    for_each_batch(first, last, [&](auto hashes) { found += f.may_contain(hashes, answers); });
    return found;
}

template <class F>
void holds_its_rate() {
    for (const auto& parameters : variants<F>(keys, 0.01)) {
        SCOPED_TRACE(describe<F>(parameters));
        auto made = F::create(parameters);
        ASSERT_TRUE(made) << made.error().message;
        F f = std::move(*made);
        if (BOUNCER_TEST_SCALE == 1) {
            EXPECT_GT(f.shape().blocks, std::uint64_t{1} << 16);
        }

        for_each_batch(0, keys, [&](auto hashes) { f.add_batch(hashes); });
        EXPECT_EQ(count_maybe(f, 0, keys / 10), keys / 10) << "a false negative";

        const auto hits = static_cast<double>(count_maybe(f, keys, keys + queries));
        const double variance = rate_variance(f, keys);
        EXPECT_TRUE(within_sigma(hits, queries, f.expected_fpr())) << "of its own bits";
        EXPECT_TRUE(within_sigma(hits, queries, f.fpr_at(keys), 5, variance)) << "of the design";
        const auto n = static_cast<double>(keys);
        EXPECT_TRUE(near_by_sigma(f.fill_ratio(), math::expected_fill(f.shape(), n),
                                  std::sqrt(math::fill_variance(f.shape(), n))))
            << "fill";
    }
}

TEST(large, blocked) {
    holds_its_rate<plain_blocked_bloom>();
}
TEST(large, split_block) {
    holds_its_rate<plain_split_block_bloom>();
}
TEST(large, register_bloom) {
    holds_its_rate<plain_register_bloom>();
}

} // namespace
} // namespace bouncer::test
