// Where a thread says which version it is using: one record per thread, in a registry that writers scan.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

// One cache line per thread. Thread safety:
//   1. Only the owner fills an empty entry; whoever ends the use empties it. Both stores are release, so a writer that
//      reads any later value of the entry (acquire) has the use behind it.
//   2. Records are pushed to the registry once and never freed: 64 bytes for each thread that ran at the same time,
//      and for each further 4 nested handles. A thread that ends leaves its record to the next one.
struct alignas(64) hot_record {
    static constexpr std::size_t depth = 4;

    // 0: free. Otherwise the address of a version; bit 0 says that the use may add keys. A first entry that is only
    // bit 0 sends every use out of line: the thread has no record yet, or there is no membarrier.
    std::array<std::atomic<std::uintptr_t>, depth> entries{};
    std::atomic<std::uint32_t> thread_id{0}; // the kernel's; 0: nobody owns the record
    hot_record* next = nullptr;              // in the registry; fixed once pushed
    hot_record* more = nullptr;              // the owner's next record, for deeper nesting; the owner's own
};
static_assert(sizeof(hot_record) == 64);
inline constexpr std::uintptr_t hot_out_of_line = 1;

class hot_version;

// Declared constinit, so that users read it without a call to an initialisation wrapper. Never null: a thread begins
// with a record that it cannot use.
extern constinit thread_local hot_record* this_thread_hot_record;

struct hot_hold {
    std::atomic<std::uintptr_t>* entry;
    hot_version* version;
};

// [any-thread] Holds the current version by any free entry: what hot_guard does where its short way does not. Takes or
// makes a record as needed; without memory for one (64 bytes) it waits until there is.
hot_hold hold_out_of_line(const std::atomic<hot_version*>& current, std::uintptr_t use) noexcept;

// [any-thread] The first of the registry; the rest by `next`.
hot_record* hot_records() noexcept;

// [any-thread] Whether writers order the stores of readers (membarrier), decided at the first call. The environment
// variable BOUNCER_MEMBARRIER=off says no, for tests and for systems that make it slow.
bool hot_uses_membarrier() noexcept;

// [any-thread] Returns when every thread of the process has passed a full memory barrier since the call; at once
// without membarrier. 0, or the errno of a system that refuses (a sandbox that began after the first call).
int hot_barrier() noexcept;

} // namespace bouncer::detail
