#include "byte_input.h"

#include "decoders.h"
#include "file_signature.h"
#include "signals.h"
#include "tool_error.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace bouncer::tool {

namespace {

constexpr std::size_t stored_bytes = std::size_t{128} << 10; // read at once of a compressed file

[[noreturn]] void io_error(const std::string& name, int number) {
    throw tool_error(name + ": " + std::strerror(number));
}

// A terminal or a pipe may be silent for ever: a signal must end the wait, whichever thread it came to.
bool wait_for_bytes(int number, int milliseconds = -1) {
    std::array<pollfd, 2> wanted{{{number, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}}};
    while (!reading_stopped()) {
        // Of a named pipe Linux tells the end only after the first writer has come: until then this waits.
        const int ready = ::poll(wanted.data(), wanted.size(), milliseconds);
        if (ready == 0) return false;
        if (ready < 0 && errno != EINTR) return true; // let read() tell
        if (ready > 0 && wanted[0].revents != 0) return true;
    }
    return false;
}

} // namespace

struct byte_input::state {
    std::string name;
    int number = -1;
    bool regular = false;
    off_t begin = 0;
    std::uint64_t size = 0;
    std::uint64_t taken = 0;
    bool ended = false;
    const signature* begins_as = nullptr;
    std::unique_ptr<decoder> decode;
    std::string damage;       // of the compressed data, behind what has been given
    std::vector<char> stored; // what was read ahead: the first bytes, or a block of a compressed file
    std::size_t stored_first = 0;

    ~state() {
        if (number > STDIN_FILENO) ::close(number);
    }
    std::size_t read_stored(char* to, std::size_t most) {
        if (ended) return 0;
        for (;;) {
            if (!regular && !wait_for_bytes(number)) return 0;
            const ssize_t got = ::read(number, to, most);
            if (got < 0 && (errno == EINTR || errno == EAGAIN))
                continue; // the latter: another reader was faster
            if (got < 0) io_error(name, errno);
            if (got == 0) ended = true;
            taken += static_cast<std::uint64_t>(got);
            return static_cast<std::size_t>(got);
        }
    }
};

std::optional<file_id> regular_file(int number) noexcept {
    struct stat about {};
    if (::fstat(number, &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    return file_id{about.st_dev, about.st_ino};
}

byte_input::byte_input(std::unique_ptr<state> held) noexcept : held_(std::move(held)) {}
byte_input::byte_input(byte_input&&) noexcept = default;
byte_input& byte_input::operator=(byte_input&&) noexcept = default;
byte_input::~byte_input() = default;

byte_input byte_input::open(const std::string& path, bool as_is) {
    auto held = std::make_unique<state>();
    state& s = *held;
    s.name = path == "-" ? "standard input" : path;
    // To open a named pipe waits for its writer, where a signal may not reach us: not to wait, and poll() does.
    struct stat about {};
    const bool named_pipe = path != "-" && ::stat(path.c_str(), &about) == 0 && S_ISFIFO(about.st_mode);
    s.number = path == "-" ? STDIN_FILENO
                           : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (named_pipe ? O_NONBLOCK : 0));
    if (s.number < 0) io_error(s.name, errno);
    if (::fstat(s.number, &about) != 0) io_error(s.name, errno);
    if (S_ISDIR(about.st_mode)) io_error(s.name, EISDIR);
    s.regular = S_ISREG(about.st_mode);
    if (s.regular) {
        s.begin = std::max<off_t>(0, ::lseek(s.number, 0, SEEK_CUR));
        s.size = static_cast<std::uint64_t>(std::max<off_t>(0, about.st_size - s.begin));
        ::posix_fadvise(s.number, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(about.st_mode)) {
        ::fcntl(s.number, F_SETPIPE_SZ, 1 << 20); // 64 KiB by default: fewer switches between the two sides
    }
    if (!as_is) {
        // The first byte tells mostly. Of what begins like a signature (or a line that does) more is waited for.
        // What has come anyway is looked at, too.
        s.stored.resize(look_bytes);
        std::size_t have = 0;
        std::string_view first;
        do {
            const std::size_t got = s.read_stored(s.stored.data() + have, s.stored.size() - have);
            if (got == 0) break;
            have += got;
            first = {s.stored.data(), have};
            s.begins_as = signature_of(first);
        } while (s.begins_as == nullptr && may_become_signature(first));
        s.stored.resize(have);
        if (s.begins_as == nullptr && s.ended) s.begins_as = cut_signature_of(first);
        if (s.begins_as != nullptr) s.decode = make_decoder(s.begins_as->by);
    }
    return byte_input(std::move(held));
}

const std::string& byte_input::name() const noexcept {
    return held_->name;
}
std::optional<file_id> byte_input::id() const noexcept {
    return regular_file(held_->number);
}
bool byte_input::seekable() const noexcept {
    return held_->regular;
}
const signature* byte_input::begins_as() const noexcept {
    return held_->begins_as;
}
bool byte_input::compressed() const noexcept {
    return held_->decode != nullptr;
}
std::uint64_t byte_input::size_bytes() const noexcept {
    return held_->size;
}
std::uint64_t byte_input::taken_bytes() const noexcept {
    return held_->taken;
}

std::size_t byte_input::read_at(std::uint64_t offset, char* to, std::size_t most) const {
    for (;;) {
        const ssize_t got = ::pread(held_->number, to, most, held_->begin + static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) io_error(held_->name, errno);
        return static_cast<std::size_t>(got);
    }
}

std::size_t byte_input::read(char* to, std::size_t most) {
    state& s = *held_;
    if (!s.decode) {
        if (s.stored_first == s.stored.size()) return s.read_stored(to, most);
        const std::size_t ahead = std::min(most, s.stored.size() - s.stored_first);
        std::memcpy(to, s.stored.data() + s.stored_first, ahead);
        s.stored_first += ahead;
        return ahead;
    }
    // As much as the stored bytes that are here give: small blocks become one large piece.
    std::size_t given = 0;
    while (given < most && s.damage.empty()) {
        const std::string_view rest(s.stored.data() + s.stored_first, s.stored.size() - s.stored_first);
        auto step = s.decode->decode(rest, to + given, most - given);
        s.stored_first += step.taken;
        given += step.given;
        s.damage = std::move(step.damage);
        if (step.taken < rest.size()) {
            if (step.taken == 0 && step.given == 0 && s.damage.empty()) s.damage = "damaged compressed data";
        } else if (given > 0) {
            break;
        } else if (s.damage.empty() && s.ended) {
            if (s.decode->whole()) return 0;
            s.damage = "the compressed data ends too early";
        } else if (s.damage.empty()) {
            if (reading_stopped()) return 0; // a file may have gigabytes that give nothing
            s.stored.resize(stored_bytes);
            s.stored_first = 0;
            s.stored.resize(s.read_stored(s.stored.data(), stored_bytes));
            if (s.stored.empty() && !s.ended) return 0; // reading was stopped
        }
    }
    if (given == 0) throw tool_error(s.name + ": " + s.damage);
    return given;
}

bool byte_input::more_comes_soon() const {
    const state& s = *held_;
    return s.regular || (!s.decode && (s.stored_first < s.stored.size() || wait_for_bytes(s.number, 100)));
}

} // namespace bouncer::tool
