// What add says about change, checked against what its read-modify-writes really did, and that hot keys are not written.
#include <bouncer/counted.h>

#include "concurrency/threads.h"
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace bouncer::test {
namespace {

// atomic_words that count, per thread, how often a word was written and how often that set a bit.
class observed_words : public atomic_words {
  public:
    static constexpr bool in_memory = false; // no kernel goes around these words
    static inline thread_local std::uint64_t writes = 0;
    static inline thread_local std::uint64_t changes = 0;

    template <std::memory_order Order = std::memory_order_relaxed>
    static std::uint64_t fetch_or(std::uint64_t* at, std::uint64_t bits) noexcept {
        const std::uint64_t before = atomic_words::fetch_or<Order>(at, bits);
        note(before, bits);
        return before;
    }
    static void set_bits(std::uint64_t* at, std::uint64_t bits) noexcept { fetch_or(at, bits); }
    static bool compare_exchange(std::uint64_t* at, std::uint64_t& expected, std::uint64_t desired) noexcept {
        const std::uint64_t before = expected;
        const bool done = atomic_words::compare_exchange(at, expected, desired);
        if (done) note(before, desired);
        return done;
    }

  private:
    static void note(std::uint64_t before, std::uint64_t bits) noexcept {
        ++writes;
        changes += (before & bits) != bits;
    }
};
static_assert(writable_words<observed_words>);

template <class F>
class change_count : public ::testing::Test {};
// Typed, because the words are its own: probes by the specification. A layout of each way to write: words one by one, words of a
// block that is looked at first, a single word. Other layouts go one of these ways; change_count_of has them all, by kernels.
using observed_kinds = ::testing::Types<basic_bloom<observed_words>, basic_blocked_bloom<observed_words>,
                                        basic_register_bloom<observed_words>>;
TYPED_TEST_SUITE(change_count, observed_kinds, kind_names);

constexpr std::array counting_threads{2u, 4u, 16u};

// An add that set a bit says so, always; one that did not may say so too, but only if it wrote (and lost the race).
TYPED_TEST(change_count, an_add_that_set_a_bit_says_so) {
    const auto keys = random_hashes(scaled_for_threads(40'000), 1);
    for (const auto& parameters : variants<TypeParam>(keys.size(), 0.01)) {
        for (const unsigned threads : counting_threads) {
            SCOPED_TRACE(describe<TypeParam>(parameters) + ", " + std::to_string(threads) + " threads");
            auto f = TypeParam::create(parameters).value();
            std::atomic<std::uint64_t> set_a_bit{0};
            std::atomic<std::uint64_t> said_so{0};
            std::atomic<std::uint64_t> wrong{0};
            run_threads(threads, [&](unsigned) {
                for (const std::uint64_t hash : keys) {
                    const std::uint64_t writes = observed_words::writes;
                    const std::uint64_t changes = observed_words::changes;
                    const bool said = f.add(hash);
                    const bool wrote = observed_words::writes != writes;
                    const bool changed = observed_words::changes != changes;
                    wrong += (changed && !said) + (said != wrote);
                    set_a_bit += changed;
                    said_so += said;
                }
            });
            EXPECT_EQ(wrong, 0u);
            EXPECT_GE(said_so, set_a_bit);
            EXPECT_GT(set_a_bit, keys.size() / 2);
        }
    }
}

// Key by key in the order of a sequential run, the count is never below that run's.
TYPED_TEST(change_count, is_never_below_the_sequential_count) {
    const auto keys = random_hashes(scaled_for_threads(4000), 1);
    for (const auto& parameters : variants<TypeParam>(keys.size(), 0.01)) {
        auto alone =
            counted<typename TypeParam::template with_words<plain_words>>::create(parameters).value();
        for (const std::uint64_t hash : keys) alone.add(hash);
        for (const unsigned threads : {2u, 8u}) {
            SCOPED_TRACE(describe<TypeParam>(parameters) + ", " + std::to_string(threads) + " threads");
            auto f = counted<TypeParam>::create(parameters).value();
            const auto said = race_in_lockstep(threads, keys, [&](auto hash) { return f.add(hash); });
            std::uint64_t sum = 0;
            for (const unsigned each : said) sum += each;
            EXPECT_EQ(f.count(), sum);
            EXPECT_GE(f.count(), alone.count());
            EXPECT_LE(f.count(), alone.count() * threads);
        }
    }
}

class change_count_of : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, change_count_of, atomic_subjects_that(&facts::bits), subject_names);

// The same of every kind, without a look at its words.
TEST_P(change_count_of, is_never_below_the_sequential_count) {
    const auto keys = random_hashes(scaled_for_threads(4000), 1);
    for (const auto& chosen : k.variants(keys.size(), 0.01)) {
        auto alone = k.in(words_access::plain).create(chosen).value();
        std::vector<bool> changed;
        for (const std::uint64_t hash : keys) changed.push_back(alone.add(hash));
        for (const unsigned threads : {2u, 8u}) {
            SCOPED_TRACE(k.describe(chosen) + ", " + std::to_string(threads) + " threads");
            auto f = k.create(chosen).value();
            const auto said = race_in_lockstep(threads, keys, [&](auto hash) { return f.add(hash); });
            for (std::size_t i = 0; i < keys.size(); ++i) {
                ASSERT_GE(said[i], unsigned{changed[i]}) << i;
                ASSERT_LE(said[i], changed[i] ? threads : 0) << i;
            }
            EXPECT_TRUE(f == alone);
        }
    }
}

// At full speed, by every method: count() is at least the calls that set a bit, and at most the calls.
TYPED_TEST(change_count, counts_every_change_of_every_method) {
    constexpr unsigned threads = 4;
    const auto keys = random_hashes(scaled_for_threads(40'000), 1);
    for (const auto& parameters : variants<TypeParam>(keys.size(), 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(parameters));
        auto f = counted<TypeParam>::create(parameters).value();
        std::atomic<std::uint64_t> changing_calls{0};
        run_threads(threads, [&](unsigned) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                const std::span<const std::uint64_t> one(&keys[i], 1);
                std::array<bool, 1> answer;
                const std::uint64_t changes = observed_words::changes;
                switch (i % 4) {
                case 0: f.add(keys[i]); break;
                case 1: f.test_and_add(keys[i]); break;
                case 2: f.add_batch(one); break;
                default: f.test_and_add(one, answer);
                }
                changing_calls += observed_words::changes != changes;
            }
        });
        EXPECT_GE(f.count(), changing_calls);
        EXPECT_LE(f.count(), threads * keys.size());
        EXPECT_GT(changing_calls, keys.size() / 2);
    }
}

// A key that is there is never written again, so its cache lines stay shared among all cores that add it.
TYPED_TEST(change_count, a_hot_key_is_not_written) {
    const auto keys = random_hashes(64, 1);
    for (const auto& parameters : variants<TypeParam>(1000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(parameters));
        auto f = TypeParam::create(parameters).value();
        f.add_batch(keys);
        const auto same = f.template clone<atomic_words>().value();
        const auto empty = TypeParam::create(parameters).value();
        std::atomic<std::uint64_t> writes{0};
        std::atomic<std::uint64_t> changes_said{0};
        run_threads(4, [&](unsigned) {
            std::array<bool, 64> answers;
            const std::uint64_t before = observed_words::writes;
            for (std::uint64_t i = 0; i < scaled_for_threads(2000); ++i) {
                changes_said += f.add(keys[i % keys.size()]);
                changes_said += !f.test_and_add(keys[i % keys.size()]);
                changes_said += f.add_batch(keys);
                changes_said += f.test_and_add(keys, answers);
                f.merge(same).value();
                f.merge(empty).value();
            }
            f.add_all(keys, 1);
            writes += observed_words::writes - before;
        });
        EXPECT_EQ(writes, 0u);
        EXPECT_EQ(changes_said, 0u);
    }
}

} // namespace
} // namespace bouncer::test
