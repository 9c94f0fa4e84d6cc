#include "machine.h"

#include <bouncer/region.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

namespace bouncer::tool {

std::optional<file_pages> touch_pages(const std::string& path) {
    const auto mapped = region::map_file(path, file_access::read_only);
    if (!mapped) return std::nullopt;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    file_pages out{.bytes = mapped->size_bytes()};
    const std::uint64_t pages = (out.bytes + page - 1) / page;
    std::vector<unsigned char> in_memory(static_cast<std::size_t>(pages));
    if (::mincore(const_cast<void*>(mapped->data()), out.bytes, in_memory.data()) == 0)
        out.resident =
            static_cast<double>(std::count_if(in_memory.begin(), in_memory.end(),
                                              [](unsigned char each) { return (each & 1) != 0; })) /
            static_cast<double>(pages);
    struct rusage before {};
    struct rusage after {};
    ::getrusage(RUSAGE_SELF, &before);
    const auto start = std::chrono::steady_clock::now();
    const auto* const bytes = static_cast<const volatile unsigned char*>(mapped->data());
    for (std::uint64_t at = 0; at < out.bytes; at += page) static_cast<void>(bytes[at]);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ::getrusage(RUSAGE_SELF, &after);
    out.major_faults = static_cast<std::uint64_t>(after.ru_majflt - before.ru_majflt);
    out.minor_faults = static_cast<std::uint64_t>(after.ru_minflt - before.ru_minflt);
    return out;
}

huge_pages try_huge_pages(std::uint64_t filter_bytes) {
    huge_pages out;
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    for (std::string word; file >> word;)
        if (word.size() > 2 && word.front() == '[') out.mode = word.substr(1, word.size() - 2);
    if (filter_bytes < region::mapping_threshold_bytes) return out;
    constexpr std::uint64_t most = std::uint64_t{64} << 20;
    const auto tried = region::allocate(std::min(filter_bytes, most));
    if (!tried) return out;
    out.asked = tried->size_bytes();
    out.received = tried->huge_page_bytes();
    return out;
}

} // namespace bouncer::tool
