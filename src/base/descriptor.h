// Open files: their numbers, whole reads and writes, and what the system says of errors.
#pragma once

#include <bouncer/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace bouncer::detail {

// What the system calls an errno value: "No such file or directory".
std::string error_text(int error_number);
// io: "cannot open FILE: No such file or directory".
failure io_failure(const std::string& what, const std::string& path, int error_number);

class descriptor {
  public:
    explicit descriptor(int number = -1) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor();

    explicit operator bool() const noexcept { return number_ >= 0; }
    int number() const noexcept { return number_; }
    // Hands the number over to the caller, who closes it.
    int release() noexcept { return std::exchange(number_, -1); }
    // Closes, and says whether that failed.
    int close() noexcept;

  private:
    int number_;
};

// What was done until the end of the file, or an error (errno; 0: none).
struct transferred {
    std::size_t bytes = 0;
    int error_number = 0;
};
// [any-thread] As many bytes as there are, from `offset` on.
transferred read_at(int file, std::uint64_t offset, std::span<std::byte> into) noexcept;
// [any-thread] All bytes, at `offset` or where the file stands. A limit on the size of files is an error and no signal.
transferred write_to(int file, std::optional<std::uint64_t> offset,
                     std::span<const std::byte> bytes) noexcept;

} // namespace bouncer::detail
