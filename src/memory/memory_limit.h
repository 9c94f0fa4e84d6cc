// The part of memory_limit_bytes() that reads control groups, apart so that it can be tested.
#pragma once

#include <cstdint>

namespace bouncer::detail {

// The smallest memory.max from this process's cgroup v2 up to the root; UINT64_MAX without any.
// `membership_file` is /proc/self/cgroup, `root` is /sys/fs/cgroup. Version 1 groups are not read.
std::uint64_t cgroup_limit_bytes(const char* membership_file, const char* root) noexcept;

} // namespace bouncer::detail
