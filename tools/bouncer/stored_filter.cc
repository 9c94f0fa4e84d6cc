#include "stored_filter.h"

#include "signals.h"
#include "tool_error.h"

#include <bouncer/detail/hot_memory.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <utility>

namespace bouncer::tool {

stored_filter open_stored(const std::string& path, access how, const std::optional<secret_key>& key,
                          const form_flags& asked) {
    auto info = inspect(path);
    if (!info) throw tool_error(info.error().message);
    const auto algorithm = static_cast<hash_algorithm>(info->hash.algorithm);
    const bool keyed = algorithm == hash_algorithm::siphash13 || algorithm == hash_algorithm::siphash24;
    auto hasher = any_hasher::make(info->hash, keyed ? key : std::nullopt);
    if (!hasher)
        throw tool_error(path + ": " + hasher.error().message + (keyed && !key ? " (--key-file)" : ""));
    const key_form form = form_of(*info, asked, path);
    auto filter = open(path, how == access::map && info->compressed ? access::load : how);
    if (!filter) throw tool_error(filter.error().message);
    return {path, std::move(*info), std::move(*filter), *hasher, form};
}

void save_back(const stored_filter& from, std::uint64_t keys_added) {
    ok_or_throw(save(from.filter, from.path,
                     {.label = from.info.label,
                      .keys_designed = from.info.keys_designed,
                      .keys_added = keys_added,
                      .fpr_promised = from.info.fpr_promised,
                      .compress = from.info.compressed,
                      .keys = from.form}));
}

change_lock::change_lock(const std::string& path) : change_lock(path, true) {}
change_lock change_lock::of_output(const std::string& path) {
    return change_lock(path, false);
}

change_lock::change_lock(const std::string& path, bool must_exist) {
    for (;;) {
        struct stat mine {
        }, now{};
        if (!must_exist && (::stat(path.c_str(), &now) != 0 || !S_ISREG(now.st_mode))) return;
        // NFS locks only what may be written; what may not is locked elsewhere all the same.
        number_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (number_ < 0) number_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (number_ < 0 && !must_exist) return;
        if (number_ < 0) throw tool_error(path + ": " + std::strerror(errno));
        while (::flock(number_, LOCK_EX) != 0) {
            if (errno == EBADF || errno == ENOLCK || errno == EOPNOTSUPP) return;
            if (errno == EINTR && !interrupted()) continue;
            const int why = errno;
            ::close(number_);
            stop_if_interrupted();
            throw tool_error(path + ": cannot be locked: " + std::strerror(why));
        }
        if (::fstat(number_, &mine) == 0 && ::stat(path.c_str(), &now) == 0 && mine.st_ino == now.st_ino &&
            mine.st_dev == now.st_dev)
            return;
        ::close(number_); // replaced while we waited
        number_ = -1;
    }
}
change_lock::~change_lock() {
    if (number_ >= 0) ::close(number_);
}

void check_output(const std::string& path, bool force) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) {
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == std::string::npos ? "."
                                   : slash == 0               ? "/"
                                                              : path.substr(0, slash);
        if (::access(folder.c_str(), W_OK | X_OK) != 0)
            throw tool_error(folder + ": " + std::strerror(errno));
        return;
    }
    if (S_ISDIR(about.st_mode)) throw tool_error(path + ": is a folder");
    if (!force) throw tool_error(path + ": exists already; --force replaces it");
}

std::string kind_of(const std::string& name) {
    std::string found;
    std::string names;
    int count = 0;
    for (const kind_info& kind : all_kinds) {
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
        if (kind.name == name) return name;
        if (!name.empty() && kind.name.starts_with(name)) {
            found = kind.name;
            ++count;
        }
    }
    if (count == 1) return found;
    throw tool_error("--kind: no kind is called \"" + name + "\"; there are " + names);
}

std::uint64_t free_memory_bytes() {
    return detail::memory_left_bytes();
}

} // namespace bouncer::tool
