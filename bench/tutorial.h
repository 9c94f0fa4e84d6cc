// Rows that reproduce what Bloom-filter texts show, so that readers can set this library beside them. They compare
// designs as texts do, at a size rather than at equal measured rates; the rows that claims rest on are the others.
#pragma once

#include "row.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace bench {

struct tutorial_options {
    std::uint64_t keys = 1'000'000;
    unsigned threads = 0; // 0: one per core
    unsigned repeat = 5;
    std::uint64_t max_bytes = std::uint64_t{1} << 30; // of one filter; 10 GiB adds the largest latency rows
    std::function<bool(std::string_view)> wanted; // by the name of a row, before any work for it; unset: all
};

// About half a minute for all rows at the defaults.
std::vector<row> tutorial_rows(const tutorial_options& options);

} // namespace bench
