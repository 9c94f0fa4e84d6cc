#include "memory/huge_page_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace bouncer::detail {
namespace {

// Takes smaps line by line: a header "begin-end perms ..." and then "Name: value kB" for that mapping.
class smaps_sum {
  public:
    smaps_sum(std::uint64_t begin, std::uint64_t end) noexcept : begin_(begin), end_(end) {}

    void line(const char* text) noexcept {
        char* after = nullptr;
        const unsigned long long low = std::strtoull(text, &after, 16);
        if (after != text && *after == '-') {
            const unsigned long long high = std::strtoull(after + 1, nullptr, 16);
            finish_mapping();
            const std::uint64_t size = high - low;
            const std::uint64_t inside_low = std::max<std::uint64_t>(low, begin_);
            const std::uint64_t inside_high = std::min<std::uint64_t>(high, end_);
            relevant_ = inside_low < inside_high;
            outside_ = relevant_ ? size - (inside_high - inside_low) : 0;
        } else if (relevant_) {
            field(text);
        }
    }

    std::uint64_t finish() noexcept {
        finish_mapping();
        return total_;
    }

  private:
    void field(const char* text) noexcept {
        constexpr const char* names[] = {
            "AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:", "Shared_Hugetlb:", "Private_Hugetlb:"};
        for (const char* name : names) {
            const std::size_t length = std::strlen(name);
            if (std::strncmp(text, name, length) == 0)
                huge_ += std::strtoull(text + length, nullptr, 10) * 1024;
        }
    }

    void finish_mapping() noexcept {
        if (relevant_ && huge_ > outside_) total_ += huge_ - outside_;
        huge_ = 0;
        relevant_ = false;
    }

    std::uint64_t begin_;
    std::uint64_t end_;
    std::uint64_t outside_ = 0;
    std::uint64_t huge_ = 0;
    std::uint64_t total_ = 0;
    bool relevant_ = false;
};

} // namespace

std::uint64_t huge_bytes_between(const char* smaps_file, std::uint64_t begin, std::uint64_t end) noexcept {
    const int file = ::open(smaps_file, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    smaps_sum sum(begin, end);
    char buffer[8192]; // longer than the longest line, a header with a path of 4,096 bytes
    std::size_t filled = 0;
    for (;;) {
        const ssize_t got = ::read(file, buffer + filled, sizeof buffer - 1 - filled);
        if (got <= 0) break;
        filled += static_cast<std::size_t>(got);
        char* line = buffer;
        while (char* const stop = static_cast<char*>(
                   std::memchr(line, '\n', static_cast<std::size_t>(buffer + filled - line)))) {
            *stop = '\0';
            sum.line(line);
            line = stop + 1;
        }
        filled = static_cast<std::size_t>(buffer + filled - line);
        std::memmove(buffer, line, filled);
        if (filled == sizeof buffer - 1) filled = 0; // no such line exists; do not loop on it
    }
    ::close(file);
    return sum.finish();
}

} // namespace bouncer::detail
