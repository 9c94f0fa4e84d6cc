// locked and sharded: many threads at once, the same in the end as one thread.
#include <bouncer/blocked_bloom.h>
#include <bouncer/bloom.h>
#include <bouncer/locked.h>
#include <bouncer/register_bloom.h>
#include <bouncer/sharded.h>

#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

using hash_span = std::span<const std::uint64_t>;

template <class F>
class shared_by_locks : public ::testing::Test {
  public:
    static F make(std::uint64_t keys) {
        return F::create(goal{.keys = keys, .false_positive_rate = 0.01}).value();
    }
    static F sequential(hash_span keys) {
        F out = make(keys.size());
        for (const std::uint64_t hash : keys) out.add(hash);
        return out;
    }
};

// Each lock, with a kind of one block and one of many; without a lock also a kind of a single word, which has one winner
// all the same. The rest is the filters' own affair.
using wrapped =
    ::testing::Types<locked<plain_bloom, std::mutex>, locked<plain_blocked_bloom, std::shared_mutex>,
                     locked<atomic_blocked_bloom, no_lock>, sharded<plain_blocked_bloom, std::mutex>,
                     sharded<plain_bloom, std::shared_mutex>, sharded<atomic_blocked_bloom>,
                     sharded<atomic_register_bloom>>;
TYPED_TEST_SUITE(shared_by_locks, wrapped);

TYPED_TEST(shared_by_locks, final_bits_are_those_of_a_sequential_run) {
    constexpr std::size_t chunk = 64;
    const auto all = random_hashes(scaled_for_threads(40'000), 1);
    const TypeParam expected = this->sequential(all);
    for (const unsigned threads : {2u, 4u, 16u}) {
        SCOPED_TRACE(std::to_string(threads) + " threads");
        TypeParam f = this->make(all.size());
        std::atomic<std::uint64_t> missed{0};
        run_threads(threads, [&](unsigned t) {
            auto mine = all;
            std::shuffle(mine.begin(), mine.end(), std::mt19937_64(t));
            mine.resize(mine.size() / 2);
            for (std::size_t i = t; i < all.size(); i += threads) mine.push_back(all[i]);
            std::array<bool, chunk> answers;
            for (std::size_t i = 0; i < mine.size(); i += chunk) {
                const auto part = hash_span(mine).subspan(i, std::min(chunk, mine.size() - i));
                switch (i / chunk % 4) {
                case 0:
                    for (const std::uint64_t hash : part) f.add(hash);
                    break;
                case 1: f.add_batch(part); break;
                case 2:
                    for (const std::uint64_t hash : part) f.test_and_add(hash);
                    break;
                default: f.test_and_add(part, answers);
                }
                missed += part.size() - f.may_contain(part, answers);
                for (const std::uint64_t hash : part) missed += !f.may_contain(hash);
            }
        });
        EXPECT_EQ(missed, 0u);
        EXPECT_TRUE(f == expected);
    }
}

// a merges b while b merges a and others add to both: no deadlock, and both end as the union.
TYPED_TEST(shared_by_locks, crosswise_merges_end) {
    const auto all = random_hashes(scaled_for_threads(4000), 1);
    const auto low = hash_span(all).first(all.size() / 2);
    const auto high = hash_span(all).subspan(all.size() / 2);
    TypeParam a = this->make(all.size());
    TypeParam b = this->make(all.size());
    std::atomic<std::uint64_t> refused{0};
    run_threads(6, [&](unsigned t) {
        switch (t) {
        case 0: a.add_batch(low); break;
        case 1: b.add_batch(high); break;
        default:
            for (int i = 0; i < 50; ++i) {
                const auto rate = t % 2 == 0 ? a.merge(b) : b.merge(a);
                refused += !rate || !(*rate >= 0 && *rate <= 1);
                refused += !a.merge(a);
            }
        }
    });
    EXPECT_EQ(refused, 0u);
    ASSERT_TRUE(a.merge(b));
    ASSERT_TRUE(b.merge(a));
    const TypeParam expected = this->sequential(all);
    EXPECT_TRUE(a == expected);
    EXPECT_TRUE(b == expected);
}

// With a lock, or with a single word per key, exactly one thread is told "new" unless the key was covered.
TYPED_TEST(shared_by_locks, test_and_add_has_one_winner) {
    constexpr bool one_winner = TypeParam::filter_type::layout_type::usual_form::key_words == 1 ||
                                TypeParam::concurrency == concurrency_level::locked;
    constexpr unsigned threads = 4;
    const auto keys = random_hashes(scaled_for_threads(4000), 1);
    TypeParam f = this->make(keys.size());
    TypeParam expected = this->make(keys.size());
    const auto winners = race_in_lockstep(threads, keys, [&](auto hash) { return !f.test_and_add(hash); });
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool covered = expected.test_and_add(keys[i]);
        wrong += covered ? winners[i] != 0 : winners[i] < 1 || (one_winner && winners[i] != 1);
    }
    EXPECT_EQ(wrong, 0u);
}

// A batch takes the lock once, and so does clear: whoever asks sees all keys of the batch or none.
template <class Lock>
void sees_batches_whole() {
    const auto keys = random_hashes(500, 1);
    auto f =
        locked<plain_blocked_bloom, Lock>::create(goal{.keys = 500, .false_positive_rate = 0.01}).value();
    std::atomic<std::uint64_t> torn{0};
    run_threads(4, [&](unsigned t) {
        std::array<bool, 500> answers;
        for (std::uint64_t round = 0; round < scaled_for_threads(4000); ++round) {
            if (t == 0) f.clear();
            if (t == 1) f.add_batch(keys);
            if (t == 2) f.test_and_add(keys, answers);
            const std::size_t found = f.may_contain(keys, answers);
            torn += found != 0 && found != keys.size();
        }
    });
    EXPECT_EQ(torn, 0u);
}

TEST(locked_filter, shows_batches_whole_under_a_mutex) {
    sees_batches_whole<std::mutex>();
}
TEST(locked_filter, shows_batches_whole_under_a_shared_mutex) {
    sees_batches_whole<std::shared_mutex>();
}

// clear locks one shard after the other: an add that races with it is kept whole or forgotten whole.
TEST(sharded_filter, may_be_cleared_while_others_add) {
    const auto keys = random_hashes(scaled_for_threads(4000), 1);
    auto f = sharded<plain_blocked_bloom, std::mutex>::create(
                 goal{.keys = keys.size(), .false_positive_rate = 0.01})
                 .value();
    run_threads(4, [&](unsigned t) {
        for (int round = 0; round < 20; ++round) {
            if (t == 0)
                f.clear();
            else
                f.add_batch(keys);
        }
    });
    f.add_batch(keys);
    std::vector<std::uint64_t> missed;
    for (const std::uint64_t hash : keys)
        if (!f.may_contain(hash)) missed.push_back(hash);
    EXPECT_TRUE(missed.empty());
    f.clear();
    EXPECT_EQ(f.fill_ratio(), 0);
}

} // namespace
} // namespace bouncer::test
