// A file that should be a filter: what is said of one that is not.
#pragma once

#include <bouncer/snapshot.h>

#include <span>
#include <string>

namespace bouncer::tool {

// inspect(). Where the file is something else, the failure says what it looks like, and what to do. A file that standard
// output goes to is refused (tool_error): the first line printed would damage it.
result<snapshot_info> inspect_filter(const std::string& path);

// [any-thread] The failure of a function that reads a filter, in these words; its code stays.
failure explained(const failure& why, const std::string& path);

// Throws tool_error if standard output goes into this file.
void refuse_as_output(const std::string& path);

// Throws tool_error if the filter is not one, and one of the inputs is: their order was mistaken.
void refuse_swapped(const std::string& filter, std::span<const std::string> inputs);

} // namespace bouncer::tool
