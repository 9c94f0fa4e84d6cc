// The parts of memory_limit_bytes() and memory_left_bytes() that read files, apart so that they can be tested.
#pragma once

#include <cstdint>

namespace bouncer::detail {

// `membership_file` is /proc/self/cgroup, `root` is /sys/fs/cgroup; groups of version 1 are not read. UINT64_MAX without a
// limit. They allocate nothing.

// The smallest memory.max from this process's cgroup v2 up to the root.
std::uint64_t cgroup_limit_bytes(const char* membership_file, const char* root) noexcept;
// The least that one of these groups has left: memory.max less memory.current, where inactive page cache (inactive_file of
// memory.stat) counts as free.
std::uint64_t cgroup_left_bytes(const char* membership_file, const char* root) noexcept;
// MemAvailable of a file like /proc/meminfo, in bytes.
std::uint64_t machine_left_bytes(const char* meminfo_file) noexcept;

} // namespace bouncer::detail
