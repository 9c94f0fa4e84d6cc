#include "stored_filter.h"

#include "keyless_filter.h"
#include "signals.h"
#include "tool_error.h"

#include <bouncer/detail/hot_memory.h>

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

void save_back(const stored_filter& from, change_lock& lock) {
    ok_or_throw(save(from.filter, from.path, as_before(from.info, lock)));
}

change_lock lock_to_change(const std::string& path) {
    auto lock = change_lock::take(path, [] { return !interrupted(); });
    if (!lock) stop_if_interrupted();
    if (!lock) throw tool_error(lock.error().message);
    return std::move(*lock);
}

change_lock lock_output(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
    return lock_to_change(path);
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
    if (S_ISREG(about.st_mode) && ::access(path.c_str(), W_OK) != 0)
        throw tool_error("cannot replace " + path + ": " + std::strerror(errno));
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
