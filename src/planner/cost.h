// What the ranking compares. docs/planning.md, "How kinds are ranked"
#pragma once

#include <bouncer/planner.h>

namespace bouncer::planner {

// ns to read a random line in so many bytes, prefetched, on huge pages.
double line_ns(double size_bytes);

// `rate`: what space is compared at; `size_bytes`: where the lines lie.
double cost_of(const candidate& one, enum prefer wanted, double rate, double size_bytes);

} // namespace bouncer::planner
