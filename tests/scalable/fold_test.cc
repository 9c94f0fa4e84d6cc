// A copy whose newest layer is folded, and the compaction that there cannot be.
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/scalable.h>

namespace bouncer::test {
namespace {

TEST(scalable_fold, newest_layer_shrinks_and_keeps_its_promise) {
    auto f = atomic_scalable_bloom::create({.keys = 20'000, .false_positive_rate = 0.01}).value();
    const auto keys = random_hashes(110'000, 71); // 20 and 80 thousand, and 10 of 320
    f.add_batch(keys);
    ASSERT_EQ(f.layer_count(), 3u);
    const auto small = f.fold_newest<plain_words>().value();
    ASSERT_EQ(small.layer_count(), 3u);
    const auto before = f.layers();
    const auto after = small.layers();
    EXPECT_LE(after[2].size_bytes, before[2].size_bytes / 16);
    EXPECT_EQ(after[2].keys, before[2].keys);
    EXPECT_LE(after[2].keys, after[2].capacity - after[2].capacity / 8);
    EXPECT_LE(after[2].expected_fpr, after[2].promised_rate);
    EXPECT_DOUBLE_EQ(after[2].promised_rate, before[2].promised_rate);
    EXPECT_EQ(after[1].size_bytes, before[1].size_bytes);
    for (const std::uint64_t hash : keys) ASSERT_TRUE(small.may_contain(hash));
    const auto trials = static_cast<std::size_t>(scaled(300'000));
    answers there(trials);
    const auto hits = small.may_contain(random_hashes(trials, 72), there.span());
    EXPECT_TRUE(within_sigma(static_cast<double>(hits), static_cast<double>(trials), small.expected_fpr()));
    EXPECT_TRUE(small.promise_holds());

    // It goes on growing, within the promise.
    auto more = small.clone<atomic_words>().value();
    more.add_batch(random_hashes(500'000, 73));
    EXPECT_TRUE(more.promise_holds());
    for (const std::uint64_t hash : keys) ASSERT_TRUE(more.may_contain(hash));
}

TEST(scalable_fold, nothing_to_fold_is_a_copy) {
    auto f = plain_scalable_bloom::create({.keys = 100'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(90'000, 74));
    EXPECT_TRUE(f.fold_newest().value() == f);
    auto tiny = plain_scalable_bloom::create({.keys = 1, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(tiny.fold_newest());
}

} // namespace
} // namespace bouncer::test
