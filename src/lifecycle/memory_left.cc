#include "lifecycle/memory_left.h"

#include "bouncer/detail/hot_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace bouncer::detail {
namespace {

std::optional<std::uint64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (!(file >> value)) return std::nullopt; // "max" is no number
    return value;
}

// The number behind `name` in a file of "name number" lines.
std::optional<std::uint64_t> number_of(const std::string& path, const std::string& name) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, name.size(), name) != 0) continue;
        std::uint64_t value = 0;
        const std::size_t digit = line.find_first_of("0123456789", name.size());
        if (digit == std::string::npos) return std::nullopt;
        for (std::size_t i = digit; i < line.size() && line[i] >= '0' && line[i] <= '9'; ++i)
            value = value * 10 + static_cast<std::uint64_t>(line[i] - '0');
        return value;
    }
    return std::nullopt;
}

std::uint64_t left_in(const std::string& directory) {
    const auto most = number_in(directory + "/memory.max");
    const auto used = number_in(directory + "/memory.current");
    if (!most || !used) return unlimited;
    const std::uint64_t cache = number_of(directory + "/memory.stat", "inactive_file ").value_or(0);
    const std::uint64_t kept = *used - std::min(*used, cache);
    return *most - std::min(*most, kept);
}

} // namespace

std::uint64_t machine_left_bytes(const std::string& meminfo_file) {
    const auto kibibytes = number_of(meminfo_file, "MemAvailable:");
    return kibibytes ? *kibibytes * 1024 : unlimited;
}

std::uint64_t cgroup_left_bytes(const std::string& membership_file, const std::string& root) {
    std::ifstream membership(membership_file);
    std::string group;
    for (std::string line; std::getline(membership, line);)
        if (line.compare(0, 4, "0::/") == 0) group = line.substr(3);
    if (group.empty()) return unlimited;
    std::uint64_t left = unlimited;
    for (;;) {
        left = std::min(left, left_in(root + group));
        if (group.empty()) return left;
        group.erase(group.rfind('/'));
    }
}

std::uint64_t memory_left_bytes() {
    return std::min(machine_left_bytes("/proc/meminfo"),
                    cgroup_left_bytes("/proc/self/cgroup", "/sys/fs/cgroup"));
}

} // namespace bouncer::detail
