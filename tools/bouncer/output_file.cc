#include "output_file.h"

#include "file_signature.h"
#include "filter_file.h"
#include "stored_filter.h"
#include "tool_error.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace bouncer::tool {

namespace {

// Of what a link leads to.
std::optional<struct stat> status_of(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return std::nullopt;
    return about;
}
std::optional<struct stat> status_of_input(const std::string& path) {
    if (path != "-") return status_of(path);
    struct stat about {};
    if (::fstat(STDIN_FILENO, &about) != 0) return std::nullopt;
    return about;
}

void refuse_others(const std::string& path, const struct stat& about, may_replace accepts) {
    if (S_ISDIR(about.st_mode)) throw tool_error(path + ": is a folder");
    if (!S_ISREG(about.st_mode)) throw tool_error(path + ": is not a regular file, and is not replaced");
    if (about.st_size == 0 || accepts(path)) return;
    const std::string name(look_of(path).name);
    throw tool_error(path + ": exists, and is not a filter" + (name.empty() ? "" : " but " + name) +
                     ": it is never replaced, not by --force either; choose another name, or remove it");
}

} // namespace

bool is_any_filter(const std::string& path) {
    if (is_filter_file(path)) return true;
    const file_kind kind = look_of(path).kind;
    return kind == file_kind::dcso_filter || kind == file_kind::parquet_filter;
}

void check_output(const std::string& path, bool force, std::span<const std::string> inputs,
                  may_replace accepts) {
    if (path == "-") throw tool_error("-o -: standard output takes no filter; name a file");
    const auto about = status_of(path);
    if (!about) {
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == std::string::npos ? "."
                                   : slash == 0               ? "/"
                                                              : path.substr(0, slash);
        if (::access(folder.c_str(), W_OK | X_OK) != 0)
            throw tool_error(folder + ": " + std::strerror(errno));
        return;
    }
    for (const std::string& input : inputs)
        if (const auto from = status_of_input(input);
            from && from->st_dev == about->st_dev && from->st_ino == about->st_ino)
            throw tool_error(path + ": the output is also an input" +
                             (input == path  ? ""
                              : input == "-" ? ", standard input"
                                             : ", as " + input));
    refuse_as_output(path);
    refuse_others(path, *about, accepts);
    if (!force) throw tool_error(path + ": exists already; --force replaces it");
    if (::access(path.c_str(), W_OK) != 0)
        throw tool_error("cannot replace " + path + ": " + std::strerror(errno));
}

change_lock lock_output(const std::string& path, may_replace accepts) {
    if (!status_of(path)) return {};
    change_lock lock = lock_to_change(path);
    if (const auto about = status_of(path)) refuse_others(path, *about, accepts);
    return lock;
}

} // namespace bouncer::tool
