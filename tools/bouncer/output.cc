#include "output.h"

#include "tool_error.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bouncer::tool {

namespace {

// How many of the bytes are whole records.
std::size_t whole_bytes(std::string_view bytes, framing how) {
    if (how != framing::length_prefixed) {
        const std::size_t last = bytes.rfind(how == framing::lines ? '\n' : '\0');
        return last == std::string_view::npos ? 0 : last + 1;
    }
    std::size_t whole = 0;
    while (bytes.size() - whole >= 4) {
        std::size_t length = 4;
        for (unsigned i = 0; i < 4; ++i)
            length += std::size_t{static_cast<unsigned char>(bytes[whole + i])} << (8 * i);
        if (length > bytes.size() - whole) break;
        whole += length;
    }
    return whole;
}

} // namespace

void output::write(std::string_view bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t wrote = ::write(number_, bytes.data() + done, bytes.size() - done);
        if (wrote >= 0) {
            done += static_cast<std::size_t>(wrote);
            continue;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN ||
            errno == EWOULDBLOCK) { // somebody made the pipe or terminal so: wait as others do
            pollfd room{number_, POLLOUT, 0};
            ::poll(&room, 1, -1);
            continue;
        }
        const int error = errno;
        if (error == EPIPE) throw quiet_exit{exit_no_reader};
        struct stat about {};
        if (done > 0 && ::fstat(number_, &about) == 0 && S_ISREG(about.st_mode)) {
            const std::size_t half = done - whole_bytes(bytes.substr(0, done), how_);
            const off_t end = ::lseek(number_, 0, SEEK_CUR);
            if (end >= static_cast<off_t>(half) && end == about.st_size &&
                ::ftruncate(number_, end - static_cast<off_t>(half)) != 0) {
            } // the message below is all we can do
        }
        throw tool_error(name_ + ": " + std::strerror(error));
    }
}

} // namespace bouncer::tool
