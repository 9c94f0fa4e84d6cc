#include "base/descriptor.h"

#include "base/no_size_signal.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bouncer::detail {

std::string error_text(int error_number) {
    return std::generic_category().message(error_number);
}

failure io_failure(const std::string& what, const std::string& path, int error_number) {
    return {error_code::io, "cannot " + what + " " + path + ": " + error_text(error_number)};
}

descriptor::~descriptor() {
    close();
}

int descriptor::close() noexcept {
    if (number_ < 0) return 0;
    return ::close(std::exchange(number_, -1));
}

transferred read_at(int file, std::uint64_t offset, std::span<std::byte> into) noexcept {
    transferred out;
    while (out.bytes < into.size()) {
        const ssize_t got = ::pread(file, into.data() + out.bytes, into.size() - out.bytes,
                                    static_cast<off_t>(offset + out.bytes));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) out.error_number = errno;
        if (got <= 0) break;
        out.bytes += static_cast<std::size_t>(got);
    }
    return out;
}

transferred write_to(int file, std::optional<std::uint64_t> offset,
                     std::span<const std::byte> bytes) noexcept {
    no_size_signal guard;
    transferred out;
    while (out.bytes < bytes.size()) {
        const auto left = bytes.subspan(out.bytes);
        const ssize_t put = offset ? guard.write(file, left, static_cast<off_t>(*offset + out.bytes))
                                   : guard.write(file, left);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            out.error_number = put < 0 ? errno : ENOSPC; // no error and no progress
            break;
        }
        out.bytes += static_cast<std::size_t>(put);
    }
    return out;
}

} // namespace bouncer::detail
