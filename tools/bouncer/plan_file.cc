#include "plan_file.h"

#include "tool_error.h"

#include "format/file.h"

#include <sys/stat.h>

#include <span>

namespace bouncer::tool {

void check_page(const std::string& path, bool force) {
    struct stat there {};
    if (::lstat(path.c_str(), &there) != 0) return;
    if (!force) throw tool_error(path + ": exists; --force overwrites it");
    // A link leads to what is replaced.
    if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
        throw tool_error(path + ": is no regular file, and will not be replaced");
}

void write_page(const std::string& path, std::string_view page, bool force) {
    check_page(path, force);
    // The old page stays until the new one is whole. It can be made again: no need to wait for the disk.
    auto file = value_or_throw(detail::replacing_file::begin(path, {.durable = false, .replace = force}));
    ok_or_throw(file.write(std::as_bytes(std::span(page))));
    ok_or_throw(file.commit());
}

} // namespace bouncer::tool
