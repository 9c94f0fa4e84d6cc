#include "byte_input.h"

#include "signals.h"
#include "tool_error.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

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

} // namespace

// What turns stored bytes into bytes. (Not in the namespace without a name: byte_input::state, which is not either, has one.)
class decoder {
  public:
    virtual ~decoder() = default;
    struct step {
        std::size_t taken;
        std::size_t given;
    };
    // `ended` of the stored bytes tells a whole file from a cut one.
    virtual step decode(const char* from, std::size_t size, char* to, std::size_t most,
                        const std::string& name) = 0;
    virtual bool whole() const noexcept = 0; // may the stored bytes end here?
};

namespace {

class gzip_decoder final : public decoder {
  public:
    gzip_decoder() {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    ~gzip_decoder() override { inflateEnd(&stream_); }
    step decode(const char* from, std::size_t size, char* to, std::size_t most,
                const std::string& name) override {
        if (whole_ && size > 0) {
            // Another member follows; zeros behind the last are padding, as gzip takes them.
            if (*from == 0) return {size, 0};
            inflateReset(&stream_);
            whole_ = false;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
        stream_.avail_in = static_cast<uInt>(size);
        stream_.next_out = reinterpret_cast<Bytef*>(to);
        stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(most, UINT32_MAX));
        const uInt room = stream_.avail_out;
        const int code = inflate(&stream_, Z_NO_FLUSH);
        if (code == Z_STREAM_END)
            whole_ = true;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            throw tool_error(name + ": damaged gzip data" +
                             (stream_.msg ? std::string(": ") + stream_.msg : ""));
        return {size - stream_.avail_in, room - stream_.avail_out};
    }
    bool whole() const noexcept override { return whole_; }

  private:
    z_stream stream_{};
    bool whole_ = false;
};

class zstd_decoder final : public decoder {
  public:
    zstd_decoder() : stream_(ZSTD_createDStream()) {
        if (stream_ == nullptr) throw std::bad_alloc();
    }
    ~zstd_decoder() override { ZSTD_freeDStream(stream_); }
    step decode(const char* from, std::size_t size, char* to, std::size_t most,
                const std::string& name) override {
        ZSTD_inBuffer in{from, size, 0};
        ZSTD_outBuffer out{to, most, 0};
        const std::size_t left = ZSTD_decompressStream(stream_, &out, &in);
        if (ZSTD_isError(left)) throw tool_error(name + ": damaged zstd data: " + ZSTD_getErrorName(left));
        if (in.pos > 0 || out.pos > 0) whole_ = left == 0; // asked without bytes, it expects the next frame
        return {in.pos, out.pos};
    }
    bool whole() const noexcept override { return whole_; }

  private:
    ZSTD_DStream* stream_;
    bool whole_ = true;
};

// A terminal or a pipe may be silent for ever: a signal must end the wait, whichever thread it came to.
bool wait_for_bytes(int number) {
    std::array<pollfd, 2> wanted{{{number, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}}};
    while (!reading_stopped()) {
        // Of a named pipe Linux tells the end only after the first writer has come: until then this waits.
        const int ready = ::poll(wanted.data(), wanted.size(), -1);
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
    std::unique_ptr<decoder> decode;
    std::vector<char> stored; // what was read ahead: the magic, or a block of a compressed file
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
        // Two bytes tell most; of what begins like zstd (or a line of such bytes) the other two are waited for.
        std::array<char, 4> first{};
        std::size_t have = 0;
        constexpr std::string_view gzip("\x1f\x8b", 2);
        constexpr std::string_view zstd("\x28\xb5\x2f\xfd", 4);
        // A frame to skip, 0x184D2A50 to 5F, as pzstd puts it in front: 'P' to '_' and three more, none of which ends a line.
        std::string skippable("\x50\x2a\x4d\x18", 4);
        const auto may_be = [&](std::string_view magic) {
            return have > 0 && std::string_view(first.data(), std::min(have, magic.size())) ==
                                   magic.substr(0, std::min(have, magic.size()));
        };
        do {
            const std::size_t got = s.read_stored(first.data() + have, first.size() - have);
            if (got == 0) break;
            have += got;
            if ((first[0] & 0xf0) == 0x50) skippable[0] = first[0];
        } while ((may_be(gzip) && have < gzip.size()) ||
                 ((may_be(zstd) || may_be(skippable)) && have < zstd.size()));
        s.stored.assign(first.data(), first.data() + have);
        if (have >= gzip.size() && may_be(gzip))
            s.decode = std::make_unique<gzip_decoder>();
        else if (have >= zstd.size() && (may_be(zstd) || may_be(skippable)))
            s.decode = std::make_unique<zstd_decoder>();
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
    for (;;) {
        const std::size_t left = s.stored.size() - s.stored_first;
        const auto step = s.decode->decode(s.stored.data() + s.stored_first, left, to, most, s.name);
        s.stored_first += step.taken;
        if (step.given > 0) return step.given;
        if (s.stored_first < s.stored.size()) {
            if (step.taken == 0) throw tool_error(s.name + ": damaged compressed data");
            continue;
        }
        s.stored.resize(stored_bytes);
        s.stored_first = 0;
        const std::size_t got = s.read_stored(s.stored.data(), stored_bytes);
        s.stored.resize(got);
        if (got == 0) {
            if (!reading_stopped() && !s.decode->whole())
                throw tool_error(s.name + ": the compressed data ends too early");
            return 0;
        }
    }
}

} // namespace bouncer::tool
