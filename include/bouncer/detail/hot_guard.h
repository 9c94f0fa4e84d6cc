// The read side of hot<F>: holds the current version from construction to destruction.
#pragma once

#include <bouncer/detail/hot_record.h>
#include <bouncer/detail/hot_version.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

enum class hot_use : std::uintptr_t {
    ask = 0,
    add = 1, // a rebuild waits for these, not for those that only ask
};

// Cost: a thread-local pointer, two loads of `current`, a load and two stores of a line of the thread's own. No lock,
// no fence, no read-modify-write. A handle inside another one is taken out of line, a few ns more.
//
// Why a version in use is not freed. The reader stores its address E, then loads `current` again (C). The writer
// exchanges `current` (X), calls membarrier, then scans the entries (S). membarrier puts a full barrier P into every
// thread, after X and before S. The signal fence keeps the compiler from moving C before E; the processor may, but
// not across P. So either
//   - E is before P: S sees E (or what the same entry held later), and the version stays; or
//   - E is after P, and so is C: C reads what X wrote or a later version, and the reader tries again with that.
// A version that once passed P and is not in any entry can have no new holder: later scans need no barrier.
// The same address may come back as a newer version between the first load and C: C is an acquire load, so then it is
// the newer version that is held.
// The scan's acquire load pairs with the release store that ended the use, or with any later one of the same thread:
// everything the reader did with the version happens-before its end.
//
// Without membarrier E is a sequentially consistent exchange, and X, C and S are sequentially consistent too: in
// their one order either E is before S, or X before S before E before C. That costs about 6 ns.
//
// verification/hot_guard.pml checks both ways, in every order of E, C, X, P and S with store buffers.
class hot_guard {
  public:
    // [any-thread] lock-free: tries again only when a swap happened meanwhile.
    [[gnu::always_inline]] hot_guard(const std::atomic<hot_version*>& current, hot_use use) noexcept {
        // The entry itself says whether it is free, and not a count beside it: handles may then end in any order, and
        // no count is carried from one query to the next through memory (5 cycles each).
        auto& entry = this_thread_hot_record->entries[0];
        if (entry.load(std::memory_order_relaxed) == 0) [[likely]] {
            hot_version* const seen = current.load(std::memory_order_acquire);
            entry.store(reinterpret_cast<std::uintptr_t>(seen) | static_cast<std::uintptr_t>(use),
                        std::memory_order_release); // E
            std::atomic_signal_fence(std::memory_order_seq_cst);
            if (current.load(std::memory_order_acquire) == seen) [[likely]] { // C
                held_ = {&entry, seen};
                return;
            }
            entry.store(0, std::memory_order_release);
        }
        held_ = hold_out_of_line(current, static_cast<std::uintptr_t>(use));
    }
    [[gnu::always_inline]] ~hot_guard() { held_.entry->store(0, std::memory_order_release); }
    hot_guard(const hot_guard&) = delete;
    hot_guard& operator=(const hot_guard&) = delete;

    // [immutable] Precondition: the publisher's versions are of this F.
    template <class F>
    const hot_version_of<F>& as() const noexcept {
        return static_cast<const hot_version_of<F>&>(*held_.version);
    }

  private:
    hot_hold held_;
};

} // namespace bouncer::detail
