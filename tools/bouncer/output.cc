#include "output.h"

#include "tool_error.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bouncer::tool {

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
            const std::size_t line = bytes.substr(0, done).find_last_of(std::string_view("\n\0", 2));
            const std::size_t half = done - (line == std::string_view::npos ? 0 : line + 1);
            const off_t end = ::lseek(number_, 0, SEEK_CUR);
            if (end >= static_cast<off_t>(half) && end == about.st_size &&
                ::ftruncate(number_, end - static_cast<off_t>(half)) != 0) {
            } // the message below is all we can do
        }
        throw tool_error(name_ + ": " + std::strerror(error));
    }
}

} // namespace bouncer::tool
