#include "keyless_filter.h"

#include "filter_file.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include "format/kinds.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace bouncer::tool {

keyless_filter open_keyless(const std::string& path, access how) {
    auto info = value_or_throw(inspect_filter(path));
    if (info.compressed || info.kind == atomic_scalable_bloom::kind_id) how = access::load;
    if (how == access::load) check_fits(path, info.payload_bytes);
    auto filter = open(path, how);
    if (!filter) throw tool_error(detail::in_file(filter.error(), path).message);
    return {path, std::move(info), std::move(*filter)};
}

save_options as_before(const snapshot_info& info, change_lock& lock) {
    return {.label = info.label,
            .keys_designed = info.keys_designed,
            .keys_added = info.keys_added,
            .fpr_promised = info.fpr_promised,
            .compress = info.compressed,
            .lock = &lock,
            .keys = info.keys,
            .window = info.window};
}

void save_back(const keyless_filter& from, change_lock& lock) {
    ok_or_throw(save(from.filter, from.path, as_before(from.info, lock)));
}

void check_fits(const std::string& path, std::uint64_t bytes) {
    if (const std::uint64_t free = free_memory_bytes(); bytes > free)
        throw tool_error(path + ": takes " + bytes_text(bytes) + " of memory, and " + bytes_text(free) +
                         " are free");
}

std::string line_text(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
    return text;
}

std::string json_text(const std::string& text) {
    const std::string quoted =
        nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return nlohmann::json::parse(quoted).get<std::string>();
}

} // namespace bouncer::tool
