// Whatever threads do at once, the bits are in the end those of the same adds one after the other.
#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace bouncer::test {
namespace {

class final_bits : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, final_bits, atomic_subjects_that(&facts::bits), subject_names);

constexpr std::array adding_threads{2u, 4u, 16u};
constexpr std::size_t chunk = 64;

subject sequential(const kind& k, const choice& parameters, hash_span hashes) {
    auto out = k.in(words_access::plain).create(parameters).value();
    for (const std::uint64_t hash : hashes) out.add(hash);
    return out;
}

// Adds a chunk in one of the ways there are, chosen by its number; the dear ones rarely.
void add_somehow(const kind& k, subject& f, hash_span hashes, std::size_t number) {
    std::array<bool, chunk> answers;
    if (number % 61 == 30) {
        EXPECT_TRUE(f.merge(sequential(k, f.params(), hashes)));
        return;
    }
    if (number % 67 == 30) {
        EXPECT_TRUE(f.merge(sequential(k, f.params(), hashes).view()));
        return;
    }
    if (number % 71 == 30) {
        f.add_all(hashes, 2);
        return;
    }
    switch (number % 5) {
    case 0:
        for (const std::uint64_t hash : hashes) f.add(hash);
        break;
    case 1: f.add_batch(hashes); break;
    case 2:
        for (const std::uint64_t hash : hashes) f.test_and_add(hash);
        break;
    case 3: f.test_and_add(hashes, answers); break;
    default:
        for (const std::uint64_t hash : hashes) f.add_release(hash);
    }
}

// Three quarters of all keys, from a start that differs by thread, in an order of the thread's own: every key is
// added by at least one thread, most by several.
std::vector<std::uint64_t> share_of(unsigned thread, unsigned threads, hash_span all) {
    const std::size_t start = all.size() * thread / threads;
    std::vector<std::uint64_t> out(all.size() / 4 * 3 + 3);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = all[(start + i) % all.size()];
    std::shuffle(out.begin(), out.end(), std::mt19937_64(thread));
    return out;
}

TEST_P(final_bits, are_those_of_a_sequential_run) {
    const auto all = random_hashes(scaled_for_threads(40'000), 1);
    const auto before = hash_span(all).first(500);
    for (const auto& parameters : k.variants(all.size(), 0.01)) {
        const auto expected = sequential(k, parameters, all);
        for (const unsigned threads : adding_threads) {
            SCOPED_TRACE(k.describe(parameters) + ", " + std::to_string(threads) + " threads");
            auto f = k.create(parameters).value();
            f.add_batch(before);
            std::atomic<unsigned> adding{threads};
            std::atomic<std::uint64_t> missed{0};
            run_threads(threads + 2, [&](unsigned t) {
                if (t < threads) {
                    const auto mine = share_of(t, threads, all);
                    for (std::size_t i = 0; i < mine.size(); i += chunk)
                        add_somehow(k, f, hash_span(mine).subspan(i, std::min(chunk, mine.size() - i)),
                                    i / chunk);
                    adding.fetch_sub(1, std::memory_order_relaxed);
                    return;
                }
                std::array<bool, 500> answers;
                do {
                    missed += before.size() - f.may_contain(before, answers);
                    for (const std::uint64_t hash : before) missed += !f.may_contain(hash);
                } while (adding.load(std::memory_order_relaxed) != 0);
            });
            EXPECT_EQ(missed, 0u);
            EXPECT_TRUE(f == expected);
        }
    }
}

// The same words changed by all threads at once: a filter of two or three lines, again and again.
TEST_P(final_bits, lose_nothing_where_all_threads_change_the_same_words) {
    const auto all = random_hashes(64, 1);
    for (const auto& parameters : k.variants(all.size(), 0.01)) {
        const auto expected = sequential(k, parameters, all);
        for (const unsigned threads : adding_threads) {
            SCOPED_TRACE(k.describe(parameters) + ", " + std::to_string(threads) + " threads");
            auto f = k.create(parameters).value();
            spin_barrier together(threads);
            std::atomic<std::uint64_t> wrong{0};
            run_threads(threads, [&](unsigned t) {
                for (std::uint64_t round = 0; round < scaled_for_threads(4000 / threads); ++round) {
                    if (t == 0) f.clear();
                    together.wait();
                    for (std::size_t i = t; i < all.size(); i += threads) f.add(all[i]);
                    together.wait();
                    if (t == 0) wrong += !(f == expected);
                    together.wait();
                }
            });
            EXPECT_EQ(wrong, 0u);
        }
    }
}

// Even a plain filter may be built by several threads: each writes words of its own.
TEST_P(final_bits, of_a_plain_filter_built_in_parallel) {
    const auto all = random_hashes(scaled_for_threads(100'000), 1);
    for (const auto& parameters : k.variants(all.size(), 0.01)) {
        const auto expected = sequential(k, parameters, all);
        for (const unsigned threads : {1u, 2u, 3u, 4u, 16u}) {
            SCOPED_TRACE(k.describe(parameters) + ", " + std::to_string(threads) + " threads");
            auto f = k.in(words_access::plain).create(parameters).value();
            f.add_all(all, threads);
            EXPECT_TRUE(f == expected);
        }
    }
}

} // namespace
} // namespace bouncer::test
