#include "base/no_size_signal.h"

#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace bouncer::detail {

no_size_signal::no_size_signal() noexcept {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

no_size_signal::~no_size_signal() {
    const int error_number = errno;
    const timespec at_once{};
    if (refused_ && !was_pending_)
        while (::sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
        }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error_number;
}

ssize_t no_size_signal::write(int file, std::span<const std::byte> bytes) noexcept {
    return noted(::write(file, bytes.data(), bytes.size()));
}

ssize_t no_size_signal::write(int file, std::span<const std::byte> bytes, off_t offset) noexcept {
    return noted(::pwrite(file, bytes.data(), bytes.size(), offset));
}

ssize_t no_size_signal::noted(ssize_t put) noexcept {
    refused_ |= put < 0 && errno == EFBIG;
    return put;
}

} // namespace bouncer::detail
