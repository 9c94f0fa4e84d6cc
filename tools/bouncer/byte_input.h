// The bytes of a file, a pipe or a terminal, decompressed where they begin as gzip, zstd, xz, bzip2 or lz4 do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace bouncer::tool {

struct signature;

// Which file a descriptor stands for; nothing if it is no regular one.
struct file_id {
    std::uint64_t device;
    std::uint64_t inode;
    bool operator==(const file_id&) const = default;
};
std::optional<file_id> regular_file(int number) noexcept;

// [exclusive] All of it, but where a line says otherwise. Errors are tool_error, and name the file.
class byte_input {
  public:
    // "-" is standard input. `as_is`: no decompression.
    static byte_input open(const std::string& path, bool as_is = false);
    byte_input(byte_input&&) noexcept;
    byte_input& operator=(byte_input&&) noexcept;
    ~byte_input();

    const std::string& name() const noexcept; // as messages should call it
    // Up to `most` bytes, at least 1; 0 at the end, or when reading was stopped (signals.h). Waits for the first byte only.
    // Damage is an error of the call after the one that gave the bytes before it.
    std::size_t read(char* to, std::size_t most);
    // Whether read() will give something, or the end, within a tenth of a second. False for a pipe of compressed bytes: what
    // comes next there may give nothing.
    bool more_comes_soon() const;

    // [any-thread] Up to `most` bytes of a regular file as stored, from `offset` on; 0 behind its end. Moves nothing.
    std::size_t read_at(std::uint64_t offset, char* to, std::size_t most) const;

    std::optional<file_id> id() const noexcept; // of a regular file
    bool seekable() const noexcept;             // a regular file, which can be read twice
    // What the stored bytes begin as; null if that is no signature, or if they are read as they are. open() has read them.
    const signature* begins_as() const noexcept;
    bool compressed() const noexcept;           // and what read() gives is not
    std::uint64_t size_bytes() const noexcept;  // of a regular file from where it is read, as stored; else 0
    std::uint64_t taken_bytes() const noexcept; // as stored

  private:
    struct state;
    explicit byte_input(std::unique_ptr<state> held) noexcept;
    std::unique_ptr<state> held_;
};

} // namespace bouncer::tool
