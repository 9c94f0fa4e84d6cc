#include "memory/memory_limit.h"

#include <fcntl.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/descriptor.h"
#include "bouncer/region.h"

namespace bouncer {
namespace detail {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// The start of a small file as a C string in `buffer`; false if it cannot be read. No allocation, no
// exception.
bool read_small_file(const char* path, char* buffer, std::size_t capacity) noexcept {
    const descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
    if (!file) return false;
    const transferred got =
        read_at(file.number(), 0, std::as_writable_bytes(std::span(buffer, capacity - 1)));
    buffer[got.bytes] = '\0';
    return true;
}

// The group of version 2 is the line "0::/path"; version 1 lines have a number and controller names instead.
char* find_group(char* membership) noexcept {
    for (char* line = membership; line != nullptr && *line != '\0';) {
        char* const end = std::strchr(line, '\n');
        if (std::strncmp(line, "0::/", 4) == 0) {
            if (end != nullptr) *end = '\0';
            return line + 3;
        }
        line = end == nullptr ? nullptr : end + 1;
    }
    return nullptr;
}

constexpr std::size_t path_most = 4352;

// The number behind `name` at the start of a line of directory/file, or no_limit: "max" is no number.
std::uint64_t number_in(const char* directory, const char* file, const char* name) noexcept {
    char path[path_most];
    const int length = std::snprintf(path, sizeof path, "%s%s", directory, file);
    char text[16384]; // memory.stat has some 2 KB
    if (length < 0 || length >= static_cast<int>(sizeof path) || !read_small_file(path, text, sizeof text))
        return no_limit;
    const std::size_t name_length = std::strlen(name);
    for (const char* line = text; line != nullptr; line = std::strchr(line, '\n')) {
        line += *line == '\n';
        if (std::strncmp(line, name, name_length) != 0) continue;
        char* end = nullptr;
        const unsigned long long value = std::strtoull(line + name_length, &end, 10);
        return end == line + name_length ? no_limit : value;
    }
    return no_limit;
}

std::uint64_t limit_in(const char* group) noexcept {
    return number_in(group, "/memory.max", "");
}

std::uint64_t left_in(const char* group) noexcept {
    const std::uint64_t most = limit_in(group);
    const std::uint64_t used = number_in(group, "/memory.current", "");
    if (most == no_limit || used == no_limit) return no_limit;
    const std::uint64_t cache = number_in(group, "/memory.stat", "inactive_file ");
    const std::uint64_t kept = cache == no_limit ? used : used - std::min(used, cache);
    return most - std::min(most, kept);
}

// The least of bytes_in(directory of a group), from this process's group up to the root.
template <class BytesIn>
std::uint64_t least_of_groups(const char* membership_file, const char* root, BytesIn bytes_in) noexcept {
    char membership[8192];
    if (!read_small_file(membership_file, membership, sizeof membership)) return no_limit;
    const char* const group = find_group(membership);
    if (group == nullptr) return no_limit;
    char directory[path_most];
    const int length = std::snprintf(directory, sizeof directory, "%s%s", root, group);
    if (length < 0 || length >= static_cast<int>(sizeof directory)) return no_limit;
    std::uint64_t least = no_limit;
    for (char* end = directory + length;; *end = '\0') {
        least = std::min(least, bytes_in(directory));
        if (end <= directory + std::strlen(root)) return least;
        do --end;
        while (end > directory + std::strlen(root) && *end != '/');
    }
}

} // namespace

std::uint64_t cgroup_limit_bytes(const char* membership_file, const char* root) noexcept {
    return least_of_groups(membership_file, root, limit_in);
}

std::uint64_t cgroup_left_bytes(const char* membership_file, const char* root) noexcept {
    return least_of_groups(membership_file, root, left_in);
}

std::uint64_t machine_left_bytes(const char* meminfo_file) noexcept {
    const std::uint64_t kibibytes = number_in("", meminfo_file, "MemAvailable:");
    return kibibytes == no_limit ? no_limit : kibibytes * 1024;
}

std::uint64_t memory_left_bytes() noexcept {
    return std::min(machine_left_bytes("/proc/meminfo"),
                    cgroup_left_bytes("/proc/self/cgroup", "/sys/fs/cgroup"));
}

} // namespace detail

std::uint64_t memory_limit_bytes() noexcept {
    // Beyond 2^47 bytes x86-64 gives no user addresses; the second bound is for 32-bit machines.
    std::uint64_t limit =
        std::min(std::uint64_t{1} << 47, std::uint64_t{std::numeric_limits<std::size_t>::max() / 2});
    struct sysinfo machine = {};
    if (::sysinfo(&machine) == 0) {
        limit = std::min(limit, std::uint64_t{machine.totalram} * std::max(1u, machine.mem_unit));
    }
    return std::min(limit, detail::cgroup_limit_bytes("/proc/self/cgroup", "/sys/fs/cgroup"));
}

} // namespace bouncer
