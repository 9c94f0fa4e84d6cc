// Files as the format needs them: whole reads and writes, and a file that replaces another in one step.
#pragma once

#include <bouncer/change_lock.h>
#include <bouncer/result.h>

#include "base/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace bouncer::detail {

// The failure after max_rounds (file_lock.h).
failure never_the_same(const std::string& what, const std::string& path);

// [any-thread] A regular file; a directory, a FIFO or a device is io, and nothing waits for its other end.
result<descriptor> open_regular(const std::string& path, bool writable);
result<std::uint64_t> size_of(const descriptor& file, const std::string& path);

// [any-thread] All bytes, or as many as there are up to the end of the file (read); all or a failure (write, from `offset` or
// where the file stands).
result<std::size_t> read_some(const descriptor& file, const std::string& path, std::uint64_t offset,
                              std::span<std::byte> into);
result<void> write_all(const descriptor& file, const std::string& path, std::span<const std::byte> bytes,
                       std::optional<std::uint64_t> offset = std::nullopt);
// [any-thread] Everything written is on the disk.
result<void> make_durable(const descriptor& file, const std::string& path);

// [any-thread] The file for open_shared: open for writing, with the lock that says so, and it has the name. io: another
// process seals or changes it, or there are no locks here.
result<descriptor> open_to_share(const std::string& path);
// [any-thread] Makes the lock of such a file exclusive for a while: io when others have it open.
result<void> lock_for_sealing(const descriptor& file, const std::string& path);
void unlock_after_sealing(const descriptor& file) noexcept;

struct file_promise {
    bool durable = true; // commit() will wait until all is on the disk, so writing there begins at once
    bool replace = true; // a file that is there; otherwise it stays, and that is io
    change_lock* lock = nullptr; // of the file that is replaced, or null; of the new file afterwards
};

// A file without a name beside `path`, which takes its place at commit(). Where the filesystem has no nameless files it
// is ".NAME.RANDOM.tmp". A lock on it, which dies with the process, tells a temporary file that is still being written
// from one that a killed process left behind; begin() removes the latter. Locks: format/file_lock.h.
class replacing_file {
  public:
    static result<replacing_file> begin(const std::string& path, const file_promise& promised);
    replacing_file(replacing_file&& other) noexcept
        : target_(std::move(other.target_)), folder_(std::move(other.folder_)),
          temporary_(std::exchange(other.temporary_, {})), file_(std::move(other.file_)),
          written_(other.written_), pushed_(other.pushed_), promised_(other.promised_) {}
    replacing_file& operator=(replacing_file&&) = delete;
    // Without commit() nothing stays.
    ~replacing_file();

    result<void> write(std::span<const std::byte> bytes);
    result<void> commit();

  private:
    replacing_file(std::string target, std::string folder, const file_promise& promised) noexcept
        : target_(std::move(target)), folder_(std::move(folder)), promised_(promised) {}
    result<void> take_name();          // the step that others see
    result<void> take_a_name_beside(); // a temporary one
    result<void> replace_locked();     // over the file of the caller's change_lock
    result<void> replace_unlocked();

    std::string target_;
    std::string folder_;
    std::string temporary_; // empty while it has no name
    descriptor file_;
    std::uint64_t written_ = 0;
    std::uint64_t pushed_ = 0; // of these, handed to the disk
    file_promise promised_;
};

} // namespace bouncer::detail
