// The file that a command writes: it replaces no input, and nothing but a filter.
#pragma once

#include <bouncer/change_lock.h>

#include <span>
#include <string>
#include <vector>

namespace bouncer::tool {

// Whether a file that is in the way may be replaced at all, --force or not. An empty one always may.
using may_replace = bool (*)(const std::string& path);
bool is_any_filter(const std::string& path); // ours, DCSO's or one out of a Parquet file: for exports

// Refuses, before any work is done: an output that is one of the inputs under whatever name, a file that is not a filter,
// a file that exists (unless forced), a folder that takes no files. Of the inputs "-" is standard input. Throws tool_error.
// That decides nothing yet: the keys may take hours, and lock_output() looks again.
void check_output(const std::string& path, bool force, std::span<const std::string> inputs,
                  may_replace accepts);

// Before a save over `path`: other commands wait, and no process gets it by open_shared. Holds nothing where there is no such
// file: what comes there later must not be replaced, --force or not, so save_options::replace is true only while it holds. Throws
// tool_error, also if something else than a filter has come there since check_output().
change_lock lock_output(const std::string& path, may_replace accepts);

} // namespace bouncer::tool
