// How static filters are built: from a whole set of hashes, once. docs/static.md
#pragma once

#include <bouncer/hash.h>
#include <bouncer/region.h>
#include <bouncer/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace bouncer {

enum class build_stage : std::uint8_t {
    gathering, // hashes come from the source
    sorting,
    building,
};

struct build_progress {
    build_stage stage = build_stage::gathering;
    std::uint64_t done = 0;  // hashes of this stage
    std::uint64_t total = 0; // 0: not known yet
};

struct build_options {
    // How the hashes were made; unset: the kind's default (prehashed).
    std::optional<hash_spec> hash = std::nullopt;
    // Of the finished filter.
    memory_options memory = {};
    // 0: one per core, and fewer for few keys. The filter is the same whatever their number.
    unsigned threads = 0;
    // Another seed gives another filter of the same set, with other false positives. Stored with the filter.
    std::uint64_t seed = 0;
    // The most memory that the build may take, the finished filter counted, a span that the caller gives not. 0: no
    // bound. What does not fit is sorted in a temporary file that has no name, so that nothing stays of it, whatever
    // ends the process; 8 bytes per hash given, repeated ones too.
    std::uint64_t memory_cap_bytes = 0;
    std::string temporary_folder = {}; // empty: TMPDIR, or /tmp
    // Called now and then on the thread that builds; false ends the build (cancelled). Must not throw.
    std::function<bool(const build_progress&)> progress = {};
};

// Gives hashes: fills the span from its start and returns how many, 0 at the end. May fail; its failure ends the build. What
// it throws is passed on, but for std::bad_alloc, which is out_of_memory.
using hash_source = std::function<result<std::size_t>(std::span<std::uint64_t>)>;

} // namespace bouncer
