#include "growing_words.h"

#include "text.h"
#include "tool_error.h"

#include <bouncer/region.h>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bouncer::tool {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

[[noreturn]] void no_memory(std::size_t bytes, int error) {
    throw tool_error("no memory for a part of the table, " + bytes_text(bytes) + ": " + std::strerror(error) +
                     "; --filter needs less");
}

} // namespace

growing_words::~growing_words() {
    if (words_ != nullptr) ::munmap(words_, reserved_bytes_);
}

void growing_words::grow(std::uint64_t words) {
    const std::size_t bytes = (words * sizeof(std::uint64_t) + huge_page - 1) / huge_page * huge_page;
    if (words_ == nullptr) {
        // A sixteenth of what the machine has: addresses cost nothing. Fewer where the process is limited.
        std::size_t wanted = std::max<std::size_t>(bytes, memory_limit_bytes() / 16 / huge_page * huge_page);
        for (;; wanted = std::max(bytes, wanted / 4 / huge_page * huge_page)) {
            void* const got = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (got != MAP_FAILED) {
                words_ = static_cast<std::uint64_t*>(got);
                reserved_bytes_ = wanted;
                break;
            }
            if (wanted == bytes) no_memory(bytes, errno);
        }
    } else if (bytes > reserved_bytes_) {
        const std::size_t wanted = std::max(bytes, reserved_bytes_ / 2 * 3 / huge_page * huge_page);
        void* const got = ::mremap(words_, reserved_bytes_, wanted, MREMAP_MAYMOVE);
        if (got == MAP_FAILED) no_memory(wanted, errno);
        words_ = static_cast<std::uint64_t*>(got);
        reserved_bytes_ = wanted;
    }
    // A small table must not take a huge page for every part.
    if (words * sizeof(std::uint64_t) >= huge_page && size_ * sizeof(std::uint64_t) < huge_page)
        ::madvise(words_, reserved_bytes_, MADV_HUGEPAGE);
    size_ = words;
}

void growing_words::reset(std::uint64_t words) {
    if (words_ != nullptr && ::madvise(words_, reserved_bytes_, MADV_DONTNEED) != 0)
        std::fill_n(words_, size_, 0); // never seen; zeros all the same
    size_ = std::min(size_, words);
    grow(words);
}

} // namespace bouncer::tool
