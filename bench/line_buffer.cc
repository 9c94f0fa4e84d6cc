#include "line_buffer.h"

#include "options.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace bench {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

// The huge pages, in bytes, of the mapping that holds this address.
std::uint64_t huge_bytes_at(const void* address) {
    std::ifstream smaps("/proc/self/smaps");
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    bool inside = false;
    std::string line;
    while (std::getline(smaps, line)) {
        unsigned long first = 0;
        unsigned long last = 0;
        unsigned long kilobytes = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2)
            inside = first <= wanted && wanted < last;
        else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kilobytes) == 1)
            return std::uint64_t{kilobytes} << 10;
    }
    return 0;
}

} // namespace

line_buffer::line_buffer(std::uint64_t bytes, page_size pages)
    : lines_(std::max<std::uint64_t>(1, bytes / 64)) {
    const std::size_t used = (lines_ * 64 + huge_page - 1) / huge_page * huge_page;
    mapped_ = used + huge_page;
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED)
        throw bad_request("no memory for a buffer of " + std::to_string(bytes) + " bytes");
    const std::size_t gap = (huge_page - reinterpret_cast<std::uintptr_t>(base_) % huge_page) % huge_page;
    words_ = reinterpret_cast<std::uint64_t*>(static_cast<char*>(base_) + gap);
    madvise(words_, used, pages == page_size::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(words_, 0x55, used); // written, or every page would be the kernel's one page of zeros
    const std::uint64_t huge = huge_bytes_at(words_);
    as_asked_ = pages == page_size::huge ? huge >= used / 10 * 9 : huge == 0;
}

line_buffer::~line_buffer() {
    munmap(base_, mapped_);
}

} // namespace bench
