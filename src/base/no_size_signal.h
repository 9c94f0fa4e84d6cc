// Writes to files without the signal that a limit on their size sends.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <span>

namespace bouncer::detail {

// While one exists, a write beyond RLIMIT_FSIZE is an error (EFBIG) and no more: the signal that comes with it, SIGXFSZ,
// would end the process. It goes to the thread that writes, so blocking it there is enough; the disposition, which belongs
// to the program, is not touched. A SIGXFSZ that was already pending stays pending. Costs three system calls, five after a refusal.
// [exclusive], on the thread that made it.
class no_size_signal {
  public:
    no_size_signal() noexcept;
    no_size_signal(const no_size_signal&) = delete;
    no_size_signal& operator=(const no_size_signal&) = delete;
    ~no_size_signal(); // keeps errno

    // As write(2) and pwrite(2).
    ssize_t write(int file, std::span<const std::byte> bytes) noexcept;
    ssize_t write(int file, std::span<const std::byte> bytes, off_t offset) noexcept;

  private:
    ssize_t noted(ssize_t put) noexcept;

    sigset_t signal_;
    sigset_t before_;
    bool was_pending_ = false;
    bool refused_ = false;
};

} // namespace bouncer::detail
