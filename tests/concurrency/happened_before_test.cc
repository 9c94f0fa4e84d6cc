// The contract of every atomic filter: an add that happens-before a query is seen by it, whatever makes the edge and
// whichever path the query takes.
#include "concurrency/threads.h"
#include "support/query_kernels.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

class happened_before : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, happened_before,
                         atomic_subjects_that([](const facts& is) { return is.incremental && is.exact; }),
                         subject_names);

// How many of these keys (at most 64) a query misses, over all the ways there are to ask.
std::size_t missed(const kind& k, const subject& f, const query_kernels& kernels, hash_span hashes) {
    std::size_t out = 0;
    std::array<bool, 64> answers;
    for (const std::uint64_t hash : hashes) out += !f.may_contain(hash);
    out += hashes.size() - f.may_contain(hashes, answers);
    if (!k.is.bits) return out;
    const subject view = f.view();
    for (const std::uint64_t hash : hashes) {
        out += !f.may_contain_acquire(hash);
        out += !view.may_contain(hash);
    }
    out += hashes.size() - view.may_contain(hashes, answers);
    const auto told = [&](bouncer::detail::isa, std::size_t found) { out += hashes.size() - found; };
    kernels.batch(hashes, answers, told);
    kernels.one_by_one(hashes, answers, told);
    return out;
}

// Adds key by key in changing ways.
void add_one(const kind& k, subject& f, const std::uint64_t& hash, std::size_t i) {
    switch (i % 4) {
    case 0: f.add(hash); break;
    case 1: f.test_and_add(hash); break;
    case 2: f.add_batch({&hash, 1}); break;
    default:
        if (k.is.released)
            f.add_release(hash);
        else
            f.add(hash);
    }
}

// Two writers, each with a counter it stores with release order after each add; readers that load a counter with
// acquire order must find every key below it: the last ones, which are hottest, and an older stretch.
TEST_P(happened_before, by_a_released_counter) {
    constexpr unsigned writers = 2;
    constexpr unsigned readers = 2;
    const std::size_t count = scaled_for_threads(200'000);
    const std::array keys{random_hashes(count, 1), random_hashes(count, 1, count)};
    for (const auto& parameters : k.variants(writers * count, 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        auto f = k.create(parameters).value();
        const query_kernels kernels(k, f);
        std::array<std::atomic<std::size_t>, writers> added{};
        std::atomic<std::uint64_t> misses{0};
        std::atomic<std::uint64_t> asked{0};
        run_threads(writers + readers, [&](unsigned t) {
            if (t < writers) {
                for (std::size_t i = 0; i < count; ++i) {
                    add_one(k, f, keys[t][i], i);
                    added[t].store(i + 1, std::memory_order_release);
                }
                return;
            }
            const unsigned from = t - writers;
            const hash_span all = keys[from];
            std::size_t known = 0;
            for (std::uint64_t turn = 0; known < count; ++turn) {
                known = added[from].load(std::memory_order_acquire);
                const std::size_t recent = std::min<std::size_t>(known, 8);
                misses += missed(k, f, kernels, all.subspan(known - recent, recent));
                const std::size_t old = known < 64 ? 0 : random_hash(t, turn) % (known - 16);
                misses += missed(k, f, kernels, all.subspan(old, std::min<std::size_t>(known, 16)));
                asked.fetch_add(1, std::memory_order_relaxed);
            }
        });
        EXPECT_EQ(misses, 0u);
        EXPECT_GT(asked, 0u);
    }
}

TEST_P(happened_before, by_the_start_and_the_join_of_a_thread) {
    for (const auto& parameters : k.variants(1000, 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        auto f = k.create(parameters).value();
        const query_kernels kernels(k, f);
        for (std::uint64_t round = 0; round < scaled_for_threads(1000); ++round) {
            const auto hashes = random_hashes(2, 1, 2 * round);
            f.add(hashes[0]);
            std::size_t misses = 0;
            std::thread other([&] {
                misses = missed(k, f, kernels, hash_span(hashes).first(1));
                f.add(hashes[1]);
            });
            other.join();
            ASSERT_EQ(misses, 0u);
            ASSERT_EQ(missed(k, f, kernels, hashes), 0u);
        }
    }
}

// Every thread adds, and checks what others added, under one lock around its list of keys; the filter is used outside.
TEST_P(happened_before, by_a_mutex) {
    constexpr unsigned threads = 4;
    const std::size_t count = scaled_for_threads(50'000);
    for (const auto& parameters : k.variants(threads * count, 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        auto f = k.create(parameters).value();
        const query_kernels kernels(k, f);
        std::mutex mutex;
        std::vector<std::uint64_t> known;
        std::atomic<std::uint64_t> misses{0};
        run_threads(threads, [&](unsigned t) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint64_t hash = random_hash(1, t * count + i);
                add_one(k, f, hash, i);
                std::uint64_t last = hash;
                {
                    const std::lock_guard held(mutex);
                    if (!known.empty()) last = known.back();
                    known.push_back(hash);
                }
                misses += missed(k, f, kernels, {&last, 1});
            }
        });
        EXPECT_EQ(misses, 0u);
        EXPECT_EQ(known.size(), threads * count);
    }
}

// add_release and may_contain_acquire alone make an edge: what was written before the add is there for whoever gets
// "maybe" because of it. Each message has an empty filter of its own, so that nothing else can be the cause.
class publishing : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, publishing, atomic_subjects_that(&facts::bits), subject_names);

TEST_P(publishing, by_add_release_and_may_contain_acquire) {
    constexpr std::size_t slots = 64;
    struct message {
        std::uint64_t text[4] = {}; // not atomic: without the edge this is a data race
    };
    for (const auto& parameters : k.variants(1, 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        std::vector<subject> filters;
        for (std::size_t i = 0; i < slots; ++i) filters.push_back(k.create(parameters).value());
        spin_barrier together(2);
        std::vector<message> messages(slots);
        std::uint64_t wrong = 0;
        run_threads(2, [&](unsigned t) {
            for (std::uint64_t round = 1; round <= scaled_for_threads(2000); ++round) {
                together.wait();
                for (std::size_t i = 0; i < slots; ++i) {
                    const std::uint64_t hash = random_hash(1, round * slots + i);
                    if (t == 0) {
                        for (auto& word : messages[i].text) word = hash;
                        filters[i].add_release(hash);
                    } else {
                        while (!filters[i].may_contain_acquire(hash)) std::this_thread::yield();
                        for (const auto& word : messages[i].text) wrong += word != hash;
                    }
                }
                together.wait();
                if (t == 0)
                    for (auto& f : filters) f.clear();
            }
        });
        EXPECT_EQ(wrong, 0u);
    }
}

} // namespace
} // namespace bouncer::test
