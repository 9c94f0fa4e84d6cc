// The rate of every blocked layout at 30 million keys (8 in scripts/test): beyond 2^16 blocks, where a layout that takes a
// key's bits from the same end of the hash as its block, or from a hash of 32 bits, shows it.
#include "support/rate_variance.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/hash.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace bouncer::test {
namespace {

const std::uint64_t keys = std::max(divided(30'000'000), scaled(8'000'000));
const std::uint64_t queries = divided(30'000'000);

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

std::uint64_t count_maybe(const subject& f, std::uint64_t first, std::uint64_t last) {
    std::array<bool, 4096> answers;
    std::uint64_t found = 0;
    for_each_batch(first, last, [&](auto hashes) { found += f.may_contain(hashes, answers); });
    return found;
}

void holds_its_rate(std::string_view kind_name) {
    const kind& k = kind_named(kind_name, words_access::plain);
    for (const auto& parameters : k.variants(keys, 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        auto made = k.create(parameters);
        ASSERT_TRUE(made) << made.error().message;
        subject f = std::move(*made);
        const math::geometry shape = k.shape_of(parameters);
        if (BOUNCER_TEST_SCALE == 1) {
            EXPECT_GT(shape.blocks, std::uint64_t{1} << 16);
        }

        for_each_batch(0, keys, [&](auto hashes) { f.add_batch(hashes); });
        EXPECT_EQ(count_maybe(f, 0, keys / 10), keys / 10) << "a false negative";

        const auto hits = static_cast<double>(count_maybe(f, keys, keys + queries));
        const double variance = rate_variance(shape, f.stored().segments.front().words, keys);
        EXPECT_TRUE(within_sigma(hits, static_cast<double>(queries), f.expected_fpr())) << "of its own bits";
        EXPECT_TRUE(within_sigma(hits, static_cast<double>(queries), f.fpr_at(keys), 5, variance))
            << "of the design";
        const auto n = static_cast<double>(keys);
        EXPECT_TRUE(near_by_sigma(f.fill_ratio(), math::expected_fill(shape, n),
                                  std::sqrt(math::fill_variance(shape, n))))
            << "fill";
    }
}

TEST(large, blocked) {
    holds_its_rate("blocked_bloom");
}
TEST(large, split_block) {
    holds_its_rate("split_block_bloom");
}
TEST(large, register_bloom) {
    holds_its_rate("register_bloom");
}

} // namespace
} // namespace bouncer::test
