// How much of a range the kernel has put into huge pages.
#pragma once

#include <cstdint>

namespace bouncer::detail {

// Reads a file in the form of /proc/self/smaps. A kernel mapping that lies only partly in [begin, end) counts
// with the least its part can hold: its huge bytes less its bytes outside. 0 if the file cannot be read.
std::uint64_t huge_bytes_between(const char* smaps_file, std::uint64_t begin, std::uint64_t end) noexcept;

} // namespace bouncer::detail
