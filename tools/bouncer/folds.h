// By what a filter could be folded, and what would come of it.
#pragma once

#include "format/kinds.h"

#include <bouncer/math.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bouncer::tool {

struct possible_fold {
    std::uint64_t factor;
    double rate; // foretold for so many keys
};

// The factors that divide, up to `most`, until a rate is above `rate`: that one is the last. Rates only grow.
inline std::vector<possible_fold> possible_folds(const detail::kind_entry& kind, const snapshot_info& from,
                                                 double keys, double rate, std::uint64_t most) {
    std::vector<possible_fold> out;
    for (std::uint64_t factor = 2; factor <= std::min(most, from.payload_bytes / 8); ++factor) {
        const auto fields = kind.folded(from.fields, factor);
        if (!fields) continue;
        out.push_back({factor, math::fpr(kind.shape(*fields), keys)});
        if (out.back().rate > rate) break;
    }
    return out;
}

} // namespace bouncer::tool
