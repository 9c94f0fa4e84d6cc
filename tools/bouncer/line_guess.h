// How many distinct lines a regular file holds, told from a few pieces of it.
#pragma once

#include "records.h"

#include <cstdint>
#include <optional>

namespace bouncer::tool {

// A hint, for how much room to make: wrong by any factor where a file changes its ways between the pieces.
// From at most 3 MiB of the first input, read without moving it. Nothing where that tells nothing: a pipe, compressed or
// length-prefixed records, less than 4 MiB, or fewer than 100 lines in the pieces.
std::optional<std::uint64_t> guess_distinct_lines(const record_reader& reader, framing how);

} // namespace bouncer::tool
