#include "memory/memory_limit.h"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "bouncer/region.h"

namespace bouncer {
namespace detail {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// The start of a small file as a C string in `buffer`; false if it cannot be read. No allocation, no
// exception.
bool read_small_file(const char* path, char* buffer, std::size_t capacity) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    std::size_t length = 0;
    while (length + 1 < capacity) {
        const ssize_t got = ::read(file, buffer + length, capacity - 1 - length);
        if (got <= 0) break;
        length += static_cast<std::size_t>(got);
    }
    ::close(file);
    buffer[length] = '\0';
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

std::uint64_t limit_in(const char* directory, std::size_t directory_length) noexcept {
    constexpr char name[] = "/memory.max";
    char path[4352];
    if (directory_length + sizeof name > sizeof path) return no_limit;
    std::memcpy(path, directory, directory_length);
    std::memcpy(path + directory_length, name, sizeof name);
    char text[64];
    if (!read_small_file(path, text, sizeof text)) return no_limit;
    char* end = text;
    const unsigned long long value = std::strtoull(text, &end, 10);
    return end == text ? no_limit : value; // "max" has no digits
}

} // namespace

std::uint64_t cgroup_limit_bytes(const char* membership_file, const char* root) noexcept {
    char membership[8192];
    if (!read_small_file(membership_file, membership, sizeof membership)) return no_limit;
    const char* const group = find_group(membership);
    if (group == nullptr) return no_limit;

    char directory[4352];
    const std::size_t root_length = std::strlen(root);
    std::size_t length = root_length + std::strlen(group);
    if (length >= sizeof directory) return no_limit;
    std::memcpy(directory, root, root_length);
    std::memcpy(directory + root_length, group, length - root_length);
    std::uint64_t limit = no_limit;
    for (;;) {
        limit = std::min(limit, limit_in(directory, length));
        if (length <= root_length) return limit;
        do --length;
        while (length > root_length && directory[length] != '/');
    }
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
