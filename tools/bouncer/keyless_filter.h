// A filter in a file, for subcommands that never hash a key: they need neither the secret nor a hash that the command knows.
#pragma once

#include <bouncer/any_filter.h>

#include <cstdint>
#include <string>

namespace bouncer::tool {

struct keyless_filter {
    std::string path;
    snapshot_info info;
    any_filter filter;
};

// Eager: every byte is checked. A file that cannot be mapped (compressed, or of a kind that grows) is loaded. Throws
// tool_error, which names the file.
keyless_filter open_keyless(const std::string& path, access how);

// For a save over the file that a filter came from: what its header says.
save_options as_before(const snapshot_info& info, change_lock& lock);
// save() over the file that it came from.
void save_back(const keyless_filter& from, change_lock& lock);

// Refuses what does not fit into memory, before it is loaded.
void check_fits(const std::string& path, std::uint64_t bytes);

// The name of a file, for a line of its own: what would break the line is a question mark.
std::string line_text(std::string text);

// The text as JSON may hold it: bytes that are no UTF-8 become U+FFFD.
std::string json_text(const std::string& text);

} // namespace bouncer::tool
