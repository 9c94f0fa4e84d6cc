// Zeroed memory for peers, in pages of the size a row asks for, all of them resident. Small pages are asked for as well:
// where the system gives huge pages to everyone, a row called "4K" would not be one.
#pragma once

#include "../subject.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace bench {

class page_memory {
  public:
    page_memory(std::size_t bytes, page_size pages)
        : size_bytes_(bytes), mapped_bytes_(bytes + huge_page_bytes) {
        void* const base =
            mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED) throw std::bad_alloc();
        base_ = base;
        const auto address = reinterpret_cast<std::uintptr_t>(base);
        const std::uintptr_t gap = (huge_page_bytes - address % huge_page_bytes) % huge_page_bytes;
        data_ = static_cast<std::byte*>(base) + gap;
        // Whole huge pages up to the end; advice only, an old kernel may refuse it.
        const std::size_t advised = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
        madvise(data_, advised < mapped_bytes_ - gap ? advised : mapped_bytes_ - gap,
                pages == page_size::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        std::memset(data_, 0, bytes);
    }
    page_memory(const page_memory&) = delete;
    page_memory& operator=(const page_memory&) = delete;
    page_memory(page_memory&& other) noexcept
        : base_(std::exchange(other.base_, nullptr)), data_(std::exchange(other.data_, nullptr)),
          size_bytes_(std::exchange(other.size_bytes_, 0)),
          mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}
    page_memory& operator=(page_memory&&) = delete;
    ~page_memory() {
        if (base_ != nullptr) munmap(base_, mapped_bytes_);
    }

    std::byte* data() const { return data_; }
    std::size_t size_bytes() const { return size_bytes_; }
    void clear() { std::memset(data_, 0, size_bytes_); }

  private:
    static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

    void* base_ = nullptr;
    std::byte* data_ = nullptr; // at the start of a huge page
    std::size_t size_bytes_ = 0;
    std::size_t mapped_bytes_ = 0;
};

} // namespace bench
