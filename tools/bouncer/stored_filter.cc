#include "stored_filter.h"

#include "file_report.h"
#include "filter_file.h"
#include "keyless_filter.h"
#include "nearest.h"
#include "signals.h"
#include "tool_error.h"

#include <bouncer/detail/hot_memory.h>

#include <algorithm>
#include <utility>

namespace bouncer::tool {

stored_filter open_stored(const std::string& path, access how, const std::optional<secret_key>& key,
                          const form_flags& asked) {
    auto info = value_or_throw(inspect_filter(path));
    const bool keyed = is_keyed(info.hash);
    auto hasher = any_hasher::make(info.hash, keyed ? key : std::nullopt);
    if (!hasher)
        throw tool_error(path + ": " + hasher.error().message + (keyed && !key ? " (--key-file)" : ""));
    const key_form form = form_of(info, asked, path);
    auto filter = open(path, how == access::map && info.compressed ? access::load : how);
    if (!filter) throw tool_error(filter.error().message);
    return {path, std::move(info), std::move(*filter), *hasher, form};
}

void refuse_useless_key(const std::optional<secret_key>& key, std::span<const stored_filter> filters) {
    if (!key || std::any_of(filters.begin(), filters.end(),
                            [](const stored_filter& each) { return is_keyed(each.hasher.spec()); }))
        return;
    throw tool_error("--key-file: " + filters.front().path + " has no secret key: its hash is " +
                     to_string(filters.front().hasher.spec()));
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

std::string kind_of(const std::string& name) {
    std::string found;
    std::string names;
    std::vector<std::string> all;
    int count = 0;
    for (const kind_info& kind : all_kinds) {
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
        all.emplace_back(kind.name);
        if (kind.name == name) return name;
        if (!name.empty() && kind.name.starts_with(name)) {
            found = kind.name;
            ++count;
        }
    }
    if (count == 1) return found;
    const std::string meant = suggestion(name, all);
    throw tool_error("--kind: no kind is called \"" + name + '"' +
                     (meant.empty() ? "; there" : meant + " There") + " are " + names);
}

const std::vector<std::string> prefer_names{"reads", "adds", "space"};
enum prefer prefer_of(const std::string& name) {
    return name == "space" ? prefer::space : name == "adds" ? prefer::adds : prefer::reads;
}

foreign_format format_of(const std::string& name) {
    const auto found = foreign_format_of(name);
    if (found) return *found;
    std::vector<std::string> all;
    for (const auto format : {foreign_format::dcso, foreign_format::parquet_sbbf})
        all.emplace_back(name_of(format));
    throw tool_error("--format: " + found.error().message + suggestion(name, all));
}

std::uint64_t free_memory_bytes() {
    return detail::memory_left_bytes();
}

} // namespace bouncer::tool
