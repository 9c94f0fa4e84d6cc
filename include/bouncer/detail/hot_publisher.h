// The write side of hot<F>, without F: publishes versions, keeps the retired ones until nobody holds them.
#pragma once

#include <bouncer/detail/hot_version.h>
#include <bouncer/result.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace bouncer {

// Somebody who still uses a version that was replaced.
struct hot_holder {
    std::uint32_t thread_id = 0;                 // the kernel's (gettid)
    std::chrono::nanoseconds held_at_least = {}; // since the version was replaced; it was taken before
};

namespace detail {

// Thread safety: [any-thread] but where said; writers wait for each other.
//   1. `current` is never null, and never goes back to an earlier version.
//   2. A version is freed once: after it was replaced, a barrier passed, and a scan found it in no entry.
//   3. Versions are freed outside the lock: giving back gigabytes takes milliseconds.
// verification/hot_guard.pml checks 2 (and that a rebuild loses no add).
// A swap costs a membarrier (a few microseconds: it interrupts the cores that run this process) and a look at every
// record. What stays retired is at most what is held, so the list is short however often somebody swaps.
class hot_publisher {
  public:
    // [exclusive] Owns the version.
    explicit hot_publisher(hot_version* first) noexcept : current_(first) {}
    // [exclusive] `other` can only be destroyed after.
    hot_publisher(hot_publisher&& other) noexcept;
    // [exclusive] Frees what nobody holds. A version that is still held, against the contract, is leaked: a leak
    // can be found, and beats a use after free.
    ~hot_publisher();

    const std::atomic<hot_version*>& current() const noexcept { return current_; }

    // Locks out other writers, for as long as the result lives.
    std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }

    // Under the lock. Owns the version; retires the one before it. Call reclaim() after.
    void publish(hot_version* next) noexcept;

    // Without the lock. Frees what nobody holds; returns how many versions.
    std::size_t reclaim() noexcept;

    // How many are retired and not yet freed.
    std::size_t retired() const noexcept;

    // Reclaims until nothing is retired. False: the time was over first, or the system refused the barrier.
    bool wait_for_readers(std::chrono::nanoseconds at_most) noexcept;

    // Whether nobody adds any more by a version without this shadow; io if the system refuses the barrier.
    result<bool> older_adds_ended(std::uint64_t shadow);

    // Who holds a version that was retired at least so long ago.
    std::vector<hot_holder> holders(std::chrono::nanoseconds older_than) const;

  private:
    int scan() noexcept; // 0, or the errno of a refused barrier
    hot_version* take_free() noexcept;

    std::atomic<hot_version*> current_;
    alignas(64) mutable std::mutex mutex_; // writers' line, away from what every query reads
    hot_version* retired_ = nullptr;
};

// Waits a little longer each time: yields first, then sleeps, 1 ms at most.
class hot_backoff {
  public:
    void pause() noexcept;

  private:
    unsigned rounds_ = 0;
};

} // namespace detail
} // namespace bouncer
