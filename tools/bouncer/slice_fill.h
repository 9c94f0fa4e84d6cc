// Whether the set bits of a filter are spread as chance would spread them: a good hash knows no favourite places.
#pragma once

#include <bouncer/any_filter.h>

#include <cstdint>
#include <optional>

namespace bouncer::tool {

struct slice_fill {
    std::uint32_t slices = 0;
    double expected = 0; // fill of a slice, the filter's own mean
    double sigma = 0;    // of the fill of a slice, as the exact math has it
    double lowest = 0;
    double highest = 0;
    double worst_sigmas =
        0; // the largest deviation, in sigma; of 64 slices below 4.5 but for one filter in 2,000
};

// 64 equal slices, fewer where a filter has fewer blocks. Nothing for kinds without bits of keys (static ones, chains,
// stable_bloom, whose cells are cleared by chance) and for filters with too few bits or keys to tell. O(m).
std::optional<slice_fill> measure_slices(const any_filter& filter);

} // namespace bouncer::tool
