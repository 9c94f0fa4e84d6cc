// What the ranking compares. docs/planning.md, "How kinds are ranked"
#pragma once

#include <bouncer/planner.h>

namespace bouncer::planner {

// A second line beside the first comes with it for less: an estimate, not a measurement.
inline constexpr double neighbour_share = 0.35;
// A locked instruction per word written: 35 ns for eight, measured on an Ice Lake machine.
inline constexpr double word_written_ns = 4.4;
// The arithmetic of a query: a single ribbon query at 1M keys takes 28 ns, a blocked one 2.6 (docs/benchmarks.md).
inline constexpr double query_ns = 1.5;
inline constexpr double parity_ns = 25;

// ns to read a random line in so many bytes, prefetched, on huge pages.
double line_ns(double size_bytes);

// `rate`: what space is compared at; `size_bytes`: where the lines lie.
double cost_of(const candidate& one, enum prefer wanted, double rate, double size_bytes);

} // namespace bouncer::planner
