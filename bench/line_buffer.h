// Memory for the limit: lines in pages of a chosen size, all of them resident.
#pragma once

#include "subject.h"

#include <cstddef>
#include <cstdint>

namespace bench {

class line_buffer {
  public:
    // Throws bad_request when the machine has no such memory.
    line_buffer(std::uint64_t bytes, page_size pages);
    line_buffer(const line_buffer&) = delete;
    line_buffer& operator=(const line_buffer&) = delete;
    ~line_buffer();

    const std::uint64_t* words() const { return words_; }
    std::uint64_t lines() const { return lines_; }
    // Whether the kernel gave the pages that were asked for, by /proc/self/smaps.
    bool as_asked() const { return as_asked_; }

  private:
    void* base_ = nullptr;
    std::size_t mapped_ = 0;
    std::uint64_t* words_ = nullptr;
    std::uint64_t lines_ = 0;
    bool as_asked_ = false;
};

} // namespace bench
