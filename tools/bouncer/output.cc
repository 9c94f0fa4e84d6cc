#include "output.h"

#include "signals.h"
#include "tool_error.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace bouncer::tool {

namespace {

// How many of the bytes are whole records.
std::size_t whole_bytes(std::string_view bytes, framing how) {
    if (how != framing::length_prefixed) {
        const std::size_t last = bytes.rfind(terminator_of(how));
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

output::output(int number, std::string name, framing how)
    : number_(number), name_(std::move(name)), how_(how) {
    // A write to a full pipe or terminal waits where no signal of another thread reaches it. Not to wait is a property of what
    // the descriptor stands for, which others have too: so it is opened again. Where that fails, it waits. A socket cannot be
    // opened again, and is told with each write.
    struct stat about {};
    if (::fstat(number_, &about) != 0) return;
    is_socket_ = S_ISSOCK(about.st_mode);
    if (S_ISFIFO(about.st_mode) || ::isatty(number_) == 1)
        own_ = ::open(("/proc/self/fd/" + std::to_string(number_)).c_str(),
                      O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

output::~output() {
    if (own_ >= 0) ::close(own_);
}

// Whoever reads slowly gets a second for each piece after a signal, so that the last line is whole; who does not read at
// all cannot keep us.
void output::wait_for_room() const {
    constexpr int patience_ms = 1000;
    for (;;) {
        std::array<pollfd, 2> wanted{{{number_, POLLOUT, 0}, {interrupt_descriptor(), POLLIN, 0}}};
        const bool late = interrupted();
        const int ready = ::poll(wanted.data(), late ? 1 : 2, late ? patience_ms : -1);
        if (ready > 0 && wanted[0].revents != 0) return;
        if (ready == 0) stop_if_interrupted();
        if (ready > 0 && !interrupted()) { // an error elsewhere, which waits for these lines: so do we
            ::poll(wanted.data(), 1, patience_ms);
            return;
        }
        if (ready < 0 && errno != EINTR) return; // let write() tell
    }
}

void output::cut_half_record(std::string_view written) const {
    struct stat about {};
    if (written.empty() || ::fstat(number_, &about) != 0 || !S_ISREG(about.st_mode)) return;
    const auto half = static_cast<off_t>(written.size() - whole_bytes(written, how_));
    const off_t end = ::lseek(number_, 0, SEEK_CUR);
    if (half == 0 || end < half || end != about.st_size || ::ftruncate(number_, end - half) != 0) return;
    ::lseek(number_, end - half, SEEK_SET); // or whoever writes next leaves a hole
}

// Output is mostly opened for writing only (>>): opened again, it can be read. Where that fails, nothing is known.
bool output::behind_half_record() const {
    struct stat about {};
    if (::fstat(number_, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    const bool appends = (::fcntl(number_, F_GETFL) & O_APPEND) != 0;
    const off_t end = appends ? about.st_size : ::lseek(number_, 0, SEEK_CUR);
    const int readable = ::open(("/proc/self/fd/" + std::to_string(number_)).c_str(), O_RDONLY | O_CLOEXEC);
    if (readable < 0) return false;
    char last = 0;
    const bool half = end > 0 && ::pread(readable, &last, 1, end - 1) == 1 && last != terminator_of(how_);
    ::close(readable);
    return half;
}

void output::write(std::string_view bytes) {
    if (std::exchange(ends_half_, false) && behind_half_record()) put(std::string(1, terminator_of(how_)));
    put(bytes);
}

ssize_t output::write_some(std::string_view bytes) const {
    if (is_socket_) return ::send(number_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return ::write(own_ >= 0 ? own_ : number_, bytes.data(), bytes.size());
}

void output::put(std::string_view bytes) {
    if (failed_) throw tool_error(name_ + ": an earlier write failed");
    failed_ = true; // until all is out
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t wrote = write_some(bytes.substr(done));
        if (wrote >= 0) {
            done += static_cast<std::size_t>(wrote);
            continue;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_for_room();
            continue;
        }
        const int error = errno;
        if (error == EPIPE) throw quiet_exit{exit_no_reader};
        cut_half_record(bytes.substr(0, done));
        throw tool_error(name_ + ": " + std::strerror(error));
    }
    failed_ = false;
}

} // namespace bouncer::tool
