// Whatever threads add and remove at once, no increment and no decrement is lost: the counters are in the end those of
// the same calls one after the other.
#include "cells/counting_forms.h"
#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <atomic>
#include <span>

namespace bouncer::test {
namespace {

using hash_span = std::span<const std::uint64_t>;
constexpr unsigned thread_count = 4;

plain_counting_bloom sequential(const counting_bloom_parameters& chosen, hash_span hashes) {
    auto f = plain_counting_bloom::create(chosen).value();
    for (const std::uint64_t hash : hashes) f.add(hash);
    return f;
}

// All counters in two lines: every word is changed by all threads at once. Each thread has at most three keys there at any
// time, so that even a counter of 4 bits which all of them share stays below its limit.
TEST(counting_threads, lose_nothing_where_all_change_the_same_words) {
    for (const counting_form& which : counting_forms) {
        const counting_bloom_parameters chosen{which.form == cell_form::flat ? 64u : 1u, 6, which.bits,
                                               which.form};
        SCOPED_TRACE(plain_counting_bloom::describe(chosen));
        auto f = atomic_counting_bloom::create(chosen).value();
        std::atomic<std::uint64_t> missed{0};
        std::vector<std::uint64_t> stay;
        for (unsigned t = 0; t < thread_count; ++t) stay.push_back(random_hash(t, 0));
        run_threads(thread_count, [&](unsigned t) {
            f.add(stay[t]);
            for (std::uint64_t i = 1; i < scaled_for_threads(20'000); ++i) {
                const std::uint64_t one = random_hash(t, i);
                const std::uint64_t other = random_hash(t + thread_count, i % 7);
                f.add(one);
                if (i % 2 == 0)
                    f.add(other);
                else
                    f.test_and_add(other);
                missed += !f.may_contain(one);
                missed += !f.may_contain(stay[t]);
                f.remove(one);
                missed += !f.may_contain(other);
                missed += !f.try_remove(other);
            }
        });
        EXPECT_EQ(missed, 0u);
        EXPECT_TRUE(f == sequential(chosen, stay));
    }
}

// Own keys in a filter of some size, half of them removed again while the others add.
TEST(counting_threads, end_with_the_counters_of_a_sequential_run) {
    const auto all = random_hashes(scaled_for_threads(40'000), 1);
    for_each_form(all.size(), 0.01, [&](const counting_bloom_parameters& chosen) {
        // Even with all keys at once no counter is at its limit: then the order does not matter.
        ASSERT_EQ(sequential(chosen, all).sticky_counters(), 0u);
        std::vector<std::uint64_t> left;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (i / thread_count % 2 == 0) left.push_back(all[i]);
        auto f = atomic_counting_bloom::create(chosen).value();
        run_threads(thread_count, [&](unsigned t) {
            std::vector<std::uint64_t> mine;
            for (std::size_t i = t; i < all.size(); i += thread_count) mine.push_back(all[i]);
            constexpr std::size_t chunk = 64;
            for (std::size_t first = 0; first < mine.size(); first += chunk) {
                const hash_span part = hash_span(mine).subspan(first, std::min(chunk, mine.size() - first));
                if (first / chunk % 5 == 4)
                    EXPECT_TRUE(f.merge_if_within(sequential(chosen, part), 0.999));
                else if (first / chunk % 2 == 0)
                    f.add_batch(part);
                else
                    for (const std::uint64_t hash : part) f.add(hash);
                // Every second of the thread's keys goes.
                for (std::size_t i = 1; i < part.size(); i += 2) f.remove(part[i]);
            }
        });
        EXPECT_TRUE(f == sequential(chosen, left));
    });
}

// Adds alone commute even at the limit: no counter stops early or runs over.
TEST(counting_threads, saturate_as_a_sequential_run_does) {
    for (const counting_form& which : counting_forms) {
        const counting_bloom_parameters chosen{which.form == cell_form::flat ? 64u : 1u, 6, which.bits,
                                               which.form};
        SCOPED_TRACE(plain_counting_bloom::describe(chosen));
        const auto hashes = random_hashes(scaled_for_threads(12'000), 2);
        auto f = atomic_counting_bloom::create(chosen).value();
        run_threads(thread_count, [&](unsigned t) {
            for (std::size_t i = t; i < hashes.size(); i += thread_count) f.add(hashes[i]);
        });
        const auto expected = sequential(chosen, hashes);
        EXPECT_TRUE(f == expected);
        if (which.bits == 4) {
            EXPECT_GT(expected.sticky_counters(), 0u);
        }
    }
}

// Keys that stay are found, one by one and in batches, and counted, while others come and go around them.
TEST(counting_threads, never_miss_a_key_that_stays) {
    const auto stay = random_hashes(200, 3);
    for (const counting_form& which : counting_forms) {
        auto chosen = counters_for(which, 400, 0.01);
        SCOPED_TRACE(plain_counting_bloom::describe(chosen));
        auto f = atomic_counting_bloom::create(chosen).value();
        f.add_batch(stay);
        std::atomic<unsigned> changing{2};
        std::atomic<std::uint64_t> missed{0};
        run_threads(4, [&](unsigned t) {
            if (t < 2) {
                for (std::uint64_t i = 0; i < scaled_for_threads(100'000); ++i) {
                    f.add(random_hash(4 + t, i));
                    if (i >= 50) f.remove(random_hash(4 + t, i - 50));
                }
                changing.fetch_sub(1, std::memory_order_relaxed);
                return;
            }
            std::array<bool, 200> got;
            const auto view = f.view();
            do {
                missed += stay.size() - f.may_contain(stay, got);
                missed += stay.size() - view.may_contain(stay, got);
                for (const std::uint64_t hash : stay) {
                    missed += !f.may_contain(hash);
                    missed += f.count(hash) == 0;
                }
                if (chosen.form == cell_form::flat)
                    missed += stay.size() - f.to_bloom().value().may_contain(stay, got);
            } while (changing.load(std::memory_order_relaxed) != 0);
        });
        EXPECT_EQ(missed, 0u);
    }
}

// One key, all threads at once: at least one is told "new"; its count is the number of threads.
TEST(counting_threads, tell_at_least_one_that_a_key_is_new) {
    const auto hashes = random_hashes(scaled_for_threads(2'000), 6);
    for_each_form(hashes.size(), 0.01, [&](const counting_bloom_parameters& chosen) {
        auto f = atomic_counting_bloom::create(chosen).value();
        auto plain = plain_counting_bloom::create(chosen).value();
        const auto told_new =
            race_in_lockstep(3, hashes, [&](std::uint64_t hash) { return !f.test_and_add(hash); });
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const bool is_new = plain.add(hashes[i]);
            plain.add(hashes[i]);
            plain.add(hashes[i]);
            EXPECT_EQ(told_new[i] != 0, is_new);
        }
        EXPECT_TRUE(f == plain);
    });
}

// Removes that race for one add break the precondition: at least one is told yes, perhaps more, and nothing worse.
TEST(counting_threads, racing_to_remove_one_key_are_safe) {
    const auto hashes = random_hashes(scaled_for_threads(2'000), 7);
    for_each_form(hashes.size(), 0.01, [&](const counting_bloom_parameters& chosen) {
        auto f = atomic_counting_bloom::create(chosen).value();
        spin_barrier together(3);
        std::atomic<std::uint64_t> none{0};
        std::atomic<unsigned> told{0};
        run_threads(3, [&](unsigned t) {
            for (const std::uint64_t hash : hashes) {
                if (t == 0) f.add(hash);
                together.wait();
                if (f.try_remove(hash)) told.fetch_add(1, std::memory_order_relaxed);
                together.wait();
                if (t == 0 && told.exchange(0) == 0) ++none;
                together.wait();
            }
        });
        EXPECT_EQ(none, 0u);
        // Counters of 32 bits may have gone below zero, or have taken one from a neighbour: they are sticky then.
        if (chosen.counter_bits != 32) {
            EXPECT_EQ(f.fill_ratio(), 0);
        }
    });
}

} // namespace
} // namespace bouncer::test
