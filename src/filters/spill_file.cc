#include "filters/spill_file.h"

#include "base/no_size_signal.h"
#include "memory/size_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace bouncer::detail {

namespace {

failure spill_failure(const char* what, const std::string& folder, int error_number) {
    return {error_code::io, "cannot " + std::string(what) + " a temporary file in " + folder + ": " +
                                error_text(error_number)};
}

std::string chosen_folder(const std::string& asked) {
    if (!asked.empty()) return asked;
    // Not of a set-user-ID program: whoever starts it would choose where it writes.
    const char* const from_environment = ::secure_getenv("TMPDIR");
    return from_environment != nullptr && *from_environment != '\0' ? from_environment : "/tmp";
}

// Open, and without a name; -1 and errno.
int open_nameless(const std::string& folder) {
    int number = -1;
#if defined(O_TMPFILE)
    do {
        number = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    } while (number < 0 && errno == EINTR);
    // What file systems and kernels without nameless files say.
    if (number >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return number;
#endif
    std::string path = folder + "/bouncer-XXXXXX";
    number = ::mkostemp(path.data(), O_CLOEXEC);
    if (number < 0 || ::unlink(path.c_str()) == 0) return number;
    const int error_number = errno;
    ::close(number);
    errno = error_number;
    return -1;
}

} // namespace

result<spill_file> spill_file::create(const std::string& folder) {
    std::string chosen = chosen_folder(folder);
    const int number = open_nameless(chosen);
    if (number < 0) return spill_failure("create", chosen, errno);
    return spill_file(std::move(chosen), number);
}

spill_file::~spill_file() {
    if (number_ >= 0) ::close(number_); // nobody needs what it could still report
}

result<void> spill_file::write(std::uint64_t first, std::span<const std::uint64_t> words) const {
    auto bytes = std::as_bytes(words);
    auto offset = static_cast<off_t>(first * sizeof(std::uint64_t));
    no_size_signal guard; // for 4 MiB as a rule
    while (!bytes.empty()) {
        const ssize_t put = guard.write(number_, bytes, offset);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return spill_failure("write", folder_, errno);
        if (put == 0) return spill_failure("write", folder_, ENOSPC); // no error and no progress
        offset += put;
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
}

result<void> spill_file::read(std::uint64_t first, std::span<std::uint64_t> words) const {
    auto bytes = std::as_writable_bytes(words);
    auto offset = static_cast<off_t>(first * sizeof(std::uint64_t));
    while (!bytes.empty()) {
        const ssize_t got = ::pread(number_, bytes.data(), bytes.size(), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return spill_failure("read", folder_, errno);
        if (got == 0)
            return failure{error_code::io, "cannot read a temporary file in " + folder_ +
                                               ": it ends at byte " + std::to_string(offset) +
                                               ", before what was written"};
        offset += got;
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

} // namespace bouncer::detail
