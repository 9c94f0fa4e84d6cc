// The parts of memory_left_bytes() that read files, apart so that they can be tested.
#pragma once

#include <cstdint>
#include <string>

namespace bouncer::detail {

// MemAvailable of a file like /proc/meminfo, in bytes; UINT64_MAX where it is not told.
std::uint64_t machine_left_bytes(const std::string& meminfo_file);

// The least that this process's cgroup v2 and those above it have left: memory.max less memory.current, where inactive
// page cache (inactive_file of memory.stat) counts as free. UINT64_MAX without a limit.
std::uint64_t cgroup_left_bytes(const std::string& membership_file, const std::string& root);

} // namespace bouncer::detail
