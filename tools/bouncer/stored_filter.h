// A filter in a file, with what it takes to ask it about keys.
#pragma once

#include "keys.h"

#include <bouncer/any_filter.h>
#include <bouncer/any_hasher.h>
#include <bouncer/interchange.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bouncer::tool {

struct stored_filter {
    std::string path;
    snapshot_info info;
    any_filter filter;
    any_hasher hasher;
    key_form form;
};

// Throws tool_error, which names the file. A key that the hash does not take is not handed on: one --key-file may serve
// several filters of which not all are keyed.
stored_filter open_stored(const std::string& path, access how, const std::optional<secret_key>& key,
                          const form_flags& asked);

// Throws tool_error if there is a key, and none of the filters has a hash that takes one.
void refuse_useless_key(const std::optional<secret_key>& key, std::span<const stored_filter> filters);

// save() over the file that it came from, with what `info` says.
void save_back(const stored_filter& from, change_lock& lock);

// The file, to be loaded, changed and saved: other commands wait, and no process gets it by open_shared. A signal ends the
// wait. Throws tool_error.
change_lock lock_to_change(const std::string& path);

// Kinds by name, or by a beginning that only one has: "scalable" is scalable_bloom. Throws tool_error.
std::string kind_of(const std::string& name);

// What --prefer takes, and what it means.
extern const std::vector<std::string> prefer_names;
enum prefer prefer_of(const std::string& name);

// Formats of other programs, by name. Throws tool_error.
foreign_format format_of(const std::string& name);

// The most memory that the command may take by itself: what is free now.
std::uint64_t free_memory_bytes();

} // namespace bouncer::tool
