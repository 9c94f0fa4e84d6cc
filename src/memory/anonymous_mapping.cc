#include "memory/anonymous_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "base/descriptor.h"
#include "memory/numa.h"
#include "memory/size_text.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14; older headers lack the name
#endif

namespace bouncer::detail {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) noexcept {
    return (value + multiple - 1) / multiple * multiple;
}

failure no_memory(std::uint64_t bytes, int error_number) {
    return {error_code::out_of_memory,
            "the kernel gave no mapping of " + size_text(bytes) + ": " + error_text(error_number)};
}

// 0, or an errno value.
int prefault(void* data, std::uint64_t bytes) noexcept {
    int error_number = 0;
    do {
        error_number = ::madvise(data, static_cast<std::size_t>(bytes), MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    } while (error_number == EINTR || error_number == EAGAIN);
    // EINVAL: an old kernel. EPERM, ENOSYS: a sandbox that filters the call.
    if (error_number != EINVAL && error_number != EPERM && error_number != ENOSYS) return error_number;
    touch_pages(data, bytes);
    return 0;
}

// What is done to fresh pages, in this order: placement and page size must be settled before the first touch.
result<void> prepare(void* data, std::uint64_t bytes, const memory_options& options) {
    // Advice: a kernel built without huge pages says EINVAL, and huge_page_bytes() then says 0.
    (void)::madvise(data, static_cast<std::size_t>(bytes),
                    options.huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (auto placed = apply_numa(data, bytes, options.numa, options.numa_node); !placed) return placed;
    if (options.prefault) {
        if (const int error_number = prefault(data, bytes); error_number != 0)
            return no_memory(bytes, error_number);
    }
    return {};
}

} // namespace

std::uint64_t page_bytes() noexcept {
    static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

void touch_pages(void* data, std::uint64_t bytes) noexcept {
    auto* const first = static_cast<volatile unsigned char*>(data);
    for (std::uint64_t i = 0; i < bytes; i += page_bytes()) first[i] = 0;
}

// Reserves address space with room for the alignment and opens the middle. The rest stays inaccessible, for
// two reasons: an overrun faults instead of spoiling a neighbour, and the kernel cannot join the mapping with
// the next one, which would make the report of huge pages inexact. It costs 2 MiB of addresses and no memory.
// The size is rounded up to small pages only: whole huge pages would waste up to 2 MiB of RAM to spare the
// tail.
result<anonymous_mapping> map_anonymous(std::uint64_t bytes, const memory_options& options) {
    constexpr std::uint64_t alignment = region::mapping_threshold_bytes;
    const std::uint64_t open_bytes = round_up(bytes, page_bytes());
    const std::uint64_t base_bytes = open_bytes + alignment + page_bytes();
    void* const base =
        ::mmap(nullptr, static_cast<std::size_t>(base_bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return no_memory(bytes, errno);

    const auto address = reinterpret_cast<std::uintptr_t>(base);
    void* const data = static_cast<char*>(base) + (round_up(address + page_bytes(), alignment) - address);
    // Guarded here: what it throws would leave the mapping behind.
    const result<void> ready = guarded([&]() -> result<void> {
        if (::mprotect(data, static_cast<std::size_t>(open_bytes), PROT_READ | PROT_WRITE) != 0)
            return no_memory(bytes, errno);
        return prepare(data, open_bytes, options);
    });
    if (!ready) {
        ::munmap(base, static_cast<std::size_t>(base_bytes));
        return ready.error();
    }
    return anonymous_mapping{base, base_bytes, data};
}

} // namespace bouncer::detail
