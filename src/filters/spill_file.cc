#include "filters/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
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

// Open, and without a name; none and errno.
descriptor open_nameless(const std::string& folder) {
#if defined(O_TMPFILE)
    int number = -1;
    do {
        number = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    } while (number < 0 && errno == EINTR);
    // What file systems and kernels without nameless files say.
    if (number >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return descriptor(number);
#endif
    std::string path = folder + "/bouncer-XXXXXX";
    descriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file || ::unlink(path.c_str()) == 0) return file;
    const int error_number = errno;
    file.close();
    errno = error_number;
    return file;
}

std::uint64_t byte_of(std::uint64_t word) noexcept {
    return word * sizeof(std::uint64_t);
}

} // namespace

result<spill_file> spill_file::create(const std::string& folder) {
    std::string chosen = chosen_folder(folder);
    descriptor file = open_nameless(chosen);
    if (!file) return spill_failure("create", chosen, errno);
    return spill_file(std::move(chosen), std::move(file));
}

result<void> spill_file::write(std::uint64_t first, std::span<const std::uint64_t> words) const {
    const transferred put = write_to(file_.number(), byte_of(first), std::as_bytes(words)); // 4 MiB as a rule
    if (put.error_number != 0) return spill_failure("write", folder_, put.error_number);
    return {};
}

result<void> spill_file::read(std::uint64_t first, std::span<std::uint64_t> words) const {
    const transferred got = read_at(file_.number(), byte_of(first), std::as_writable_bytes(words));
    if (got.error_number != 0) return spill_failure("read", folder_, got.error_number);
    if (got.bytes == words.size_bytes()) return {};
    return failure{error_code::io, "cannot read a temporary file in " + folder_ + ": it ends at byte " +
                                       std::to_string(byte_of(first) + got.bytes) +
                                       ", before what was written"};
}

} // namespace bouncer::detail
