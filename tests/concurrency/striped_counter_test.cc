#include "bouncer/detail/striped_counter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace bouncer::detail {
namespace {

constexpr std::uint64_t threads = 8;
constexpr std::uint64_t adds = 2'000'000 / BOUNCER_TEST_SCALE;

TEST(striped_counter_concurrency, loses_no_count) {
    for (const std::uint32_t stripes : {1u, 4u, 64u}) {
        striped_counter counter(stripes);
        std::vector<std::thread> workers;
        for (std::uint64_t t = 1; t <= threads; ++t) {
            workers.emplace_back([&counter, t] {
                for (std::uint64_t i = 0; i < adds; ++i) counter.add(t);
            });
        }
        for (auto& worker : workers) worker.join();
        EXPECT_EQ(counter.total(), adds * threads * (threads + 1) / 2) << stripes;
    }
}

TEST(striped_counter_concurrency, totals_only_grow_while_threads_add) {
    striped_counter counter;
    std::atomic<std::uint64_t> running{threads};
    std::vector<std::thread> workers;
    for (std::uint64_t t = 0; t < threads; ++t) {
        workers.emplace_back([&] {
            for (std::uint64_t i = 0; i < adds; ++i) counter.add();
            running.fetch_sub(1, std::memory_order_relaxed);
        });
    }
    std::uint64_t last = 0;
    while (running.load(std::memory_order_relaxed) != 0) {
        const std::uint64_t now = counter.total();
        ASSERT_GE(now, last);
        ASSERT_LE(now, adds * threads);
        last = now;
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(counter.total(), adds * threads);
}

// More threads than stripes, one after the other and side by side, on two counters: numbers are per thread,
// not per counter, and an ended thread's count stays.
TEST(striped_counter_concurrency, keeps_the_counts_of_threads_that_ended) {
    striped_counter odd;
    striped_counter even;
    std::uint64_t started = 0;
    for (int round = 0; round < 40; ++round) {
        std::vector<std::thread> workers;
        for (std::uint64_t t = 0; t < threads; ++t, ++started) {
            workers.emplace_back([&odd, &even, t] {
                for (int i = 0; i < 100; ++i) (t % 2 != 0 ? odd : even).add();
            });
        }
        for (auto& worker : workers) worker.join();
    }
    EXPECT_EQ(odd.total(), started / 2 * 100);
    EXPECT_EQ(even.total(), started / 2 * 100);
}

} // namespace
} // namespace bouncer::detail
