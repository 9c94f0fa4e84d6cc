// Zeroed pages from the kernel: aligned for huge pages, advised, placed and made resident.
#pragma once

#include <cstdint>

#include "bouncer/region.h"

namespace bouncer::detail {

struct anonymous_mapping {
    void* base; // give base_bytes back by munmap
    std::uint64_t base_bytes;
    void* data; // aligned to region::mapping_threshold_bytes
};

// At least `bytes` of readable and writable memory at data, fenced by inaccessible pages on both sides.
// Preconditions: bytes <= memory_limit_bytes(), check_numa succeeded. Errors: out_of_memory, unsupported
// (NUMA).
result<anonymous_mapping> map_anonymous(std::uint64_t bytes, const memory_options& options);

// The size of the kernel's small pages: 4 KiB, on some aarch64 kernels 16 or 64.
std::uint64_t page_bytes() noexcept;

// Makes pages resident by writing a zero into each: for kernels before 5.14, which cannot be asked to.
// Precondition: the pages are zero.
void touch_pages(void* data, std::uint64_t bytes) noexcept;

} // namespace bouncer::detail
