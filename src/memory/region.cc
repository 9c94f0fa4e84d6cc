#include "bouncer/region.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "memory/anonymous_mapping.h"
#include "memory/huge_page_report.h"
#include "memory/numa.h"
#include "memory/size_text.h"

namespace bouncer {
namespace {

constexpr std::uint64_t host_alignment = 16;
constexpr std::uint64_t host_slack = region::alignment_bytes - host_alignment; // the most that aligning skips

constexpr std::uint64_t whole_lines(std::uint64_t bytes) noexcept {
    return (bytes + region::alignment_bytes - 1) / region::alignment_bytes * region::alignment_bytes;
}

void* first_line_in(void* block) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    return static_cast<char*>(block) + (whole_lines(address) - address);
}

// Decided before any allocator is asked. A cgroup below 2 MiB holds no process, so small sizes skip the
// look-up.
result<void> check_size(std::uint64_t bytes) {
    if (bytes == 0) return failure{error_code::invalid_argument, "a region of 0 bytes was asked for"};
    if (bytes < region::mapping_threshold_bytes) return {};
    const std::uint64_t limit = memory_limit_bytes();
    if (bytes <= limit) return {};
    return failure{error_code::too_large, "a region of " + detail::size_text(bytes) +
                                              " was asked for, but this process can use at most " +
                                              detail::size_text(limit)};
}

} // namespace

result<region> region::allocate(std::uint64_t bytes, const memory_options& options) {
    return detail::guarded([&]() -> result<region> {
        if (auto fits = check_size(bytes); !fits) return fits.error();
        if (options.host) {
            if (options.numa != numa_policy::none) {
                return failure{error_code::unsupported, "a NUMA policy cannot be applied to a host's memory"};
            }
            return allocate_from_host(bytes, *options.host);
        }
        if (bytes < mapping_threshold_bytes && options.numa == numa_policy::none) return allocate_heap(bytes);
        return allocate_mapping(bytes, options);
    });
}

result<region> region::allocate_heap(std::uint64_t bytes) {
    const auto reserved = static_cast<std::size_t>(whole_lines(bytes));
    state held;
    held.base = std::aligned_alloc(alignment_bytes, reserved);
    if (held.base == nullptr) {
        return failure{error_code::out_of_memory, "the heap has no " + detail::size_text(reserved)};
    }
    std::memset(held.base, 0, reserved);
    held.data = held.base;
    held.size_bytes = bytes;
    held.owner = owner::heap;
    held.writable = true;
    return region(held);
}

result<region> region::allocate_mapping(std::uint64_t bytes, const memory_options& options) {
    if (auto possible = detail::check_numa(options.numa, options.numa_node); !possible)
        return possible.error();
    const auto mapped = detail::map_anonymous(bytes, options);
    if (!mapped) return mapped.error();
    state held;
    held.base = mapped->base;
    held.base_bytes = mapped->base_bytes;
    held.data = mapped->data;
    held.size_bytes = bytes;
    held.owner = owner::mapping;
    held.writable = true;
    return region(held);
}

result<region> region::allocate_from_host(std::uint64_t bytes, const host_allocator& host) {
    if (host.allocate == nullptr || host.release == nullptr) {
        return failure{error_code::invalid_argument,
                       "the host allocator lacks its allocate or release function"};
    }
    const std::uint64_t reserved = whole_lines(bytes) + host_slack;
    state held;
    held.base = host.allocate(host.context, static_cast<std::size_t>(reserved));
    if (held.base == nullptr) {
        return failure{error_code::out_of_memory, "the host allocator has no " + detail::size_text(reserved)};
    }
    if (const auto off = reinterpret_cast<std::uintptr_t>(held.base) % host_alignment; off != 0) {
        host.release(host.context, held.base);
        return failure{error_code::invalid_argument, "the host allocator gave a block " +
                                                         std::to_string(off) +
                                                         " bytes off the 16-byte alignment it must have"};
    }
    held.data = first_line_in(held.base);
    std::memset(held.data, 0, static_cast<std::size_t>(whole_lines(bytes)));
    held.size_bytes = bytes;
    held.host = host;
    held.owner = owner::host;
    held.writable = true;
    return region(held);
}

region region::borrow(void* data, std::uint64_t bytes) noexcept {
    state held;
    held.data = data;
    held.size_bytes = bytes;
    held.writable = true;
    return region(held);
}

region region::borrow(const void* data, std::uint64_t bytes) noexcept {
    region borrowed = borrow(const_cast<void*>(data), bytes);
    borrowed.held_.writable = false;
    return borrowed;
}

region& region::operator=(region&& other) noexcept {
    if (this != &other) {
        release();
        held_ = std::exchange(other.held_, state{});
    }
    return *this;
}

void region::release() noexcept {
    switch (held_.owner) {
    case owner::none: break;
    case owner::heap: std::free(held_.base); break;
    case owner::mapping: ::munmap(held_.base, static_cast<std::size_t>(held_.base_bytes)); break;
    case owner::host: held_.host.release(held_.host.context, held_.base); break;
    }
    held_ = state{};
}

std::uint64_t region::huge_page_bytes() const noexcept {
    if (held_.size_bytes == 0) return 0;
    const auto begin = reinterpret_cast<std::uintptr_t>(held_.data);
    // Up to the end of the last page, which is this region's alone wherever the answer can be exact.
    const std::uint64_t page = detail::page_bytes();
    const std::uint64_t end = (begin + held_.size_bytes + page - 1) / page * page;
    return std::min(held_.size_bytes, detail::huge_bytes_between("/proc/self/smaps", begin, end));
}

void region::host_block_moved_to(void* new_block) noexcept {
    if (held_.owner != owner::host) return;
    char* const copied =
        static_cast<char*>(new_block) + (static_cast<char*>(held_.data) - static_cast<char*>(held_.base));
    held_.base = new_block;
    held_.data = first_line_in(new_block);
    std::memmove(held_.data, copied, static_cast<std::size_t>(whole_lines(held_.size_bytes)));
}

} // namespace bouncer
