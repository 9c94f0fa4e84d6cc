// What the concurrency tests share: threads that start together, and keys raced in lockstep.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace bouncer::test {

// Lets `threads` threads go on together, again and again. Threads spin, so that on idle cores they leave within a few
// nanoseconds of each other; beyond that they yield, because there may be more of them than cores.
class spin_barrier {
  public:
    explicit spin_barrier(unsigned threads) : threads_(threads) {}

    void wait() noexcept {
        const std::uint64_t round = round_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        for (unsigned spins = 0; round_.load(std::memory_order_acquire) == round; ++spins)
            if (spins >= 200) std::this_thread::yield();
    }

  private:
    const unsigned threads_;
    alignas(64) std::atomic<unsigned> arrived_{0};
    alignas(64) std::atomic<std::uint64_t> round_{0};
};

// work(thread number) on so many threads, which start it together; waits for all.
template <class Work>
void run_threads(unsigned threads, Work work) {
    spin_barrier start(threads);
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            start.wait();
            work(t);
        });
}

// All threads call act(hash) for the same hash at once, hash after hash; returns how many calls answered true for each.
// No thread begins a hash before all have ended the one before it, so the order of the hashes is a sequential one.
template <class Act>
std::vector<unsigned> race_in_lockstep(unsigned threads, std::span<const std::uint64_t> hashes, Act act) {
    std::vector<std::atomic<unsigned>> answered(hashes.size());
    spin_barrier together(threads);
    run_threads(threads, [&](unsigned) {
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            together.wait();
            if (act(hashes[i])) answered[i].fetch_add(1, std::memory_order_relaxed);
        }
    });
    return {answered.begin(), answered.end()};
}

} // namespace bouncer::test
