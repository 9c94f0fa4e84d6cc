#include "plan_file.h"

#include "tool_error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bouncer::tool {

namespace {

[[noreturn]] void give_up(const std::string& path, int error) {
    throw tool_error(path + ": " + std::generic_category().message(error));
}
[[noreturn]] void refuse(const std::string& path) {
    throw tool_error(path + ": exists; --force overwrites it");
}

} // namespace

void check_page(const std::string& path, bool force) {
    struct stat there {};
    if (!force && ::lstat(path.c_str(), &there) == 0) refuse(path);
}

void write_page(const std::string& path, std::string_view page, bool force) {
    const int number =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
    if (number < 0 && errno == EEXIST) refuse(path);
    if (number < 0) give_up(path, errno);
    while (!page.empty()) {
        const ssize_t done = ::write(number, page.data(), page.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) {
            const int why = errno;
            ::close(number);
            ::unlink(path.c_str()); // half a page is none
            give_up(path, why);
        }
        page.remove_prefix(static_cast<std::size_t>(done));
    }
    if (::close(number) != 0) give_up(path, errno);
}

} // namespace bouncer::tool
