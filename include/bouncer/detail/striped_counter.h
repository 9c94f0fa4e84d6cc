// A counter that many threads can bump without sharing a cache line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

// Thread safety: add and total from any thread; everything else is exclusive.
//   1. add is one fetch_add on the calling thread's stripe: wait-free where the machine has an atomic
//      add (x86-64, aarch64 with LSE), lock-free elsewhere. It allocates nothing and cannot fail.
//   2. No add is ever lost. total() counts every add that happens-before it, and may miss adds still in
//      flight.
//   3. Counting is modulo 2^64, so add(0 - n) takes n away.
// Threads get stripes round robin when they first count, so up to size() threads running side by side share
// nothing if they started in a row, and sharing costs speed only. Stripes are made in the constructor;
// without memory for them one stripe inside the object serves all threads.
class striped_counter {
  public:
    // [exclusive] Twice the processors, rounded up to a power of two, at most 64 stripes.
    striped_counter() noexcept;
    // [exclusive] So many, at least 1, rounded up to a power of two and at most 64. One stripe needs no
    // memory but the object.
    explicit striped_counter(std::uint32_t stripes) noexcept;
    // [exclusive] The count moves; `other` stays a counter, at 0.
    striped_counter(striped_counter&& other) noexcept;
    striped_counter& operator=(striped_counter&& other) noexcept;
    striped_counter(const striped_counter&) = delete;
    striped_counter& operator=(const striped_counter&) = delete;
    ~striped_counter();

    // [any-thread] Relaxed, unless two counters must be seen in the order in which they were fed.
    template <std::memory_order Order = std::memory_order_relaxed>
    void add(std::uint64_t n = 1) noexcept {
        stripes_[this_thread() & mask_].value.fetch_add(n, Order);
    }

    // [any-thread] The same; returns what the calling thread's stripe held before. Who acts only when a stripe passes a
    // multiple of some number need not read all of them.
    std::uint64_t fetch_add(std::uint64_t n = 1) noexcept {
        return stripes_[this_thread() & mask_].value.fetch_add(n, std::memory_order_relaxed);
    }

    // [any-thread] Reads every stripe: size() cache lines.
    template <std::memory_order Order = std::memory_order_relaxed>
    std::uint64_t total() const noexcept {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i <= mask_; ++i) sum += stripes_[i].value.load(Order);
        return sum;
    }

    // [exclusive]
    void reset() noexcept {
        for (std::uint32_t i = 0; i <= mask_; ++i) stripes_[i].value.store(0, std::memory_order_relaxed);
    }

    // [immutable] Stripes there are.
    std::uint32_t size() const noexcept { return mask_ + 1; }

  private:
    // Two threads on one line cost 7-23 ns an add, on neighbouring lines 2.5; 128 bytes apart was no better.
    static constexpr std::size_t line_bytes = 64;

    struct alignas(line_bytes) stripe {
        std::atomic<std::uint64_t> value{0};
    };

    // One number per thread for all counters, from 1 up; 0 until the thread's first add.
    inline static constinit thread_local std::uint32_t thread_number_ = 0;
    static std::uint32_t next_thread_number() noexcept;

    // Assigned here, not in the library: a program built with hidden symbols has a copy of the variable of its own.
    static std::uint32_t this_thread() noexcept {
        if (thread_number_ == 0) thread_number_ = next_thread_number();
        return thread_number_;
    }

    stripe* stripes_; // an array of mask_ + 1, or &only_
    std::uint32_t mask_;
    stripe only_; // alone on its line, away from the pointer every add reads
};

} // namespace bouncer::detail
