// Zeroed 64-bit words that grow where they are: addresses are reserved ahead, and pages come when they are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace bouncer::tool {

// [exclusive] Throws tool_error when there is no memory.
class growing_words {
  public:
    growing_words() = default;
    growing_words(growing_words&& other) noexcept
        : words_(std::exchange(other.words_, nullptr)), size_(std::exchange(other.size_, 0)),
          reserved_bytes_(std::exchange(other.reserved_bytes_, 0)) {}
    growing_words& operator=(growing_words&& other) noexcept {
        std::swap(words_, other.words_);
        std::swap(size_, other.size_);
        std::swap(reserved_bytes_, other.reserved_bytes_);
        return *this;
    }
    ~growing_words();

    std::uint64_t* data() const noexcept { return words_; }
    std::uint64_t size() const noexcept { return size_; }
    // More words; those there are keep their values, new ones are 0. They move only where the reserved addresses end.
    void grow(std::uint64_t words);
    // All 0 again, and that many: pages are given back.
    void reset(std::uint64_t words);

  private:
    std::uint64_t* words_ = nullptr;
    std::uint64_t size_ = 0;
    std::size_t reserved_bytes_ = 0;
};

} // namespace bouncer::tool
