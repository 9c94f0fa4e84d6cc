// What the machine does for a filter: pages in memory, page faults, huge pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bouncer::tool {

struct file_pages {
    std::uint64_t bytes = 0;
    double resident = 0;            // share of the file in the page cache before it was touched
    std::uint64_t major_faults = 0; // while every page was read once: each waits for the disk
    std::uint64_t minor_faults = 0;
    double seconds = 0;
};
// Maps the file and reads a byte of each page. Nothing when it cannot be mapped.
std::optional<file_pages> touch_pages(const std::string& path);

struct huge_pages {
    std::string mode;           // "always", "madvise", "never"; empty: the system does not say
    std::uint64_t asked = 0;    // bytes allocated to try, as a loaded filter would be
    std::uint64_t received = 0; // of those in huge pages
};
// Allocates at most 64 MiB, and frees them. Below 2 MiB there is nothing to ask for.
huge_pages try_huge_pages(std::uint64_t filter_bytes);

} // namespace bouncer::tool
