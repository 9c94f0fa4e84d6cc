// How many lines a regular file holds, and how many of them are distinct, told from a few pieces of it.
#pragma once

#include "records.h"

#include <cstdint>
#include <optional>

namespace bouncer::tool {

// Hints, for how much room to make: both may be wrong by any factor where a file changes its ways between the pieces.
struct line_guess {
    std::uint64_t lines = 0;
    std::uint64_t distinct = 0;
};

// From at most 3 MiB of the first input, read without moving it. Nothing where that tells nothing: a pipe, compressed or
// length-prefixed records, less than 4 MiB, or fewer than 100 lines in the pieces.
std::optional<line_guess> guess_lines(const record_reader& reader, framing how);

} // namespace bouncer::tool
