// region: one move-only owner for every kind of memory a filter can live in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "bouncer/result.h"

namespace bouncer {

// The memory of a host program (Redis, a database) that wants to count and place every byte itself.
// It promises 16-byte alignment and nothing else: blocks may be dirty, and the host may move them
// (region::host_block_moved_to). `release` gets the block's current address. Neither may throw.
struct host_allocator {
    void* (*allocate)(void* context, std::size_t bytes) noexcept = nullptr; // nullptr: no memory
    void (*release)(void* context, void* block) noexcept = nullptr;
    void* context = nullptr; // handed back to both; must outlive the region
};

enum class numa_policy : std::uint8_t {
    none,       // where the kernel puts it: the node of the thread that first touches a page
    interleave, // pages round robin over the nodes the process may use: even latency for all sockets
    bind,       // only numa_node
};

struct memory_options {
    // From 2 MiB up. Advice, not a promise: region::huge_page_bytes() says what came of it. False keeps huge
    // pages away even where the system gives them to everyone.
    bool huge_pages = true;
    // From 2 MiB up: make every page resident at once, so that no query pays a page fault. Costs the zeroing
    // of all bytes in allocate(); false spreads it over the first touches.
    bool prefault = true;
    // Needs libnuma at run time, and is refused (unsupported) without it. Not together with a host.
    numa_policy numa = numa_policy::none;
    int numa_node = 0; // for numa_policy::bind
    // Take the memory from here instead; copied. No huge-page advice and no prefault: the pages are the
    // host's.
    std::optional<host_allocator> host = std::nullopt;
};

enum class file_access : std::uint8_t {
    read_only,
    read_write, // shared: writes reach the file, and other mappings of it
};

// [any-thread] The most this process can use: total RAM, or the smallest memory.max of its cgroup (v2) and
// the cgroups above, and never more than 2^47 bytes. Swap is not counted. A few system calls.
std::uint64_t memory_limit_bytes() noexcept;

namespace detail {

// [any-thread] What this process can still take without swapping: MemAvailable of the machine, and what each cgroup
// (v2) above it has left, page cache that can be dropped not counted as used. Some file reads.
std::uint64_t memory_left_bytes() noexcept;

} // namespace detail

// A range of bytes and the duty to give it back. Thread safety: the region itself is a value (const methods
// from any thread while nobody moves, assigns or destroys it); access to its bytes is up to the caller.
//   1. data() is 64-byte aligned, and readable to the end of its last 64-byte line.
//   2. allocate() gives zeroed bytes, whoever supplied them, and shares none of their lines with anyone.
//   3. A moved-from or default region is empty: no data, size 0, not writable.
class region {
  public:
    // The size from which allocate() maps pages instead of using the heap, and the alignment of such a
    // mapping: one huge page of x86-64 and of aarch64 with 4 KiB pages.
    static constexpr std::uint64_t mapping_threshold_bytes = std::uint64_t{2} << 20;
    static constexpr std::size_t alignment_bytes = 64;

    // [any-thread] Zeroed bytes: heap below 2 MiB (unless a NUMA policy is given), an anonymous mapping from
    // there up, or a block of options.host.
    // Errors: invalid_argument (no bytes, unknown node, a host without functions or without its alignment),
    // too_large (more than memory_limit_bytes(), decided before anyone is asked), out_of_memory, unsupported.
    // A size within the limit but beyond what is free right now is the kernel's to judge: with prefault that
    // can mean its out-of-memory killer, as for any program.
    static result<region> allocate(std::uint64_t bytes, const memory_options& options = {});

    // [any-thread] `bytes` of a file from `offset`, 0 meaning up to its end. The file stays open only through
    // the mapping. The range must lie inside the file as it is now; if somebody truncates it later, touching
    // the lost part is SIGBUS: replace files by rename, never in place.
    // Errors: io (with the system's text), invalid_argument (offset not a multiple of 64, range beyond the end,
    // empty file), out_of_memory.
    static result<region> map_file(const std::string& path, file_access access, std::uint64_t offset = 0,
                                   std::uint64_t bytes = 0);

    // [any-thread] The same of a file that is open; `name` is for messages. The caller closes it.
    static result<region> map_file(int descriptor, const std::string& name, file_access access,
                                   std::uint64_t offset = 0, std::uint64_t bytes = 0);

    // [any-thread] Bytes that belong to somebody else, who must outlive the region.
    // Preconditions: `data` is 64-byte aligned, and readable up to the next multiple of 64 bytes.
    static region borrow(void* data, std::uint64_t bytes) noexcept;
    static region borrow(const void* data, std::uint64_t bytes) noexcept; // not writable

    // [exclusive] Moving and destroying; never throws, never copies the bytes.
    region() = default;
    region(region&& other) noexcept : held_(std::exchange(other.held_, state{})) {}
    region& operator=(region&& other) noexcept;
    region(const region&) = delete;
    region& operator=(const region&) = delete;
    ~region() { release(); }

    // [immutable] Writing needs writable().
    void* data() noexcept { return held_.data; }
    const void* data() const noexcept { return held_.data; }

    // [immutable] As asked for; what was reserved for alignment is not counted.
    std::uint64_t size_bytes() const noexcept { return held_.size_bytes; }

    // [immutable]
    bool writable() const noexcept { return held_.writable; }

    // [any-thread] How many of the bytes are in huge pages now, by /proc/self/smaps; 0 where that is unknown.
    // Exact for what allocate() mapped. Where the kernel reports the range only together with neighbours
    // (heap, host, borrowed), the least it can be. The kernel walks the page tables of the whole process for
    // this (20 ms per GiB in 4 KiB pages, 0.5 ms in huge ones): it is for reports, not for queries.
    std::uint64_t huge_page_bytes() const noexcept;

    // [immutable] What options.host returned, for the host's own bookkeeping; nullptr for any other region.
    void* host_block() const noexcept { return held_.owner == owner::host ? held_.base : nullptr; }

    // [exclusive] The host copied the block, byte for byte, to `new_block` (16-byte aligned, same size) and
    // may have freed the old one, which is not touched any more. data() changes; where the distance to the
    // next 64-byte line differs, the content is moved within the block. No effect on other regions.
    void host_block_moved_to(void* new_block) noexcept;

  private:
    enum class owner : std::uint8_t { none, heap, mapping, host };

    struct state {
        void* data = nullptr;
        std::uint64_t size_bytes = 0;
        void* base = nullptr;         // what to give back: data lies inside
        std::uint64_t base_bytes = 0; // of a mapping
        host_allocator host = {};
        enum owner owner = owner::none;
        bool writable = false;
    };

    explicit region(const state& held) noexcept : held_(held) {}
    static result<region> allocate_heap(std::uint64_t bytes);
    static result<region> allocate_mapping(std::uint64_t bytes, const memory_options& options);
    static result<region> allocate_from_host(std::uint64_t bytes, const host_allocator& host);
    void release() noexcept;

    state held_ = {};
};

} // namespace bouncer
