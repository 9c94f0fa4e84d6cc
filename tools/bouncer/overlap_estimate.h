// How many keys two filters share, from the fill of both and of their union.
#pragma once

#include <bouncer/any_filter.h>

#include <optional>
#include <string>

namespace bouncer::tool {

struct measured_number {
    double value = 0;
    std::optional<double> error; // one standard error, or an upper bound of it; nothing where it is not known
};

struct overlap_estimate {
    measured_number a;
    measured_number b;
    measured_number either;
    measured_number both;
    measured_number jaccard;
    measured_number share_of_a;
    measured_number share_of_b;
    bool significant = false; // the intersection is more than 3 of its errors from nothing
    std::string note;
};

// Merges b into a. Errors: as any_filter::merge; unsupported for kinds that cannot count, full when a filter has no zero
// bit left.
result<overlap_estimate> estimate_overlap(any_filter& a, const any_filter& b);

} // namespace bouncer::tool
