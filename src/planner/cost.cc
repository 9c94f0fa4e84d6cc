#include "planner/cost.h"

#include <bouncer/math.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bouncer::planner {

namespace {

struct point {
    double bytes;
    double ns;
};

// The memory limit of batches at 1M, 10M, 100M and 800M keys, by `bouncer_bench --verdict --full` on the machine of
// docs/benchmarks.md. Only ratios matter here.
constexpr std::array<point, 4> limits{{{1.26e6, 1.16}, {12.6e6, 1.90}, {126e6, 7.5}, {1010e6, 8.0}}};

double read_ns(const candidate& one, double size_bytes) {
    const double lines = one.lines_adjacent ? 1 + neighbour_share * (one.lines_absent - 1) : one.lines_absent;
    // Static kinds whose words lie side by side are ribbons: bound by parities, not by memory.
    const double arithmetic = one.can.fixed && one.lines_adjacent ? parity_ns : query_ns;
    return arithmetic + lines * line_ns(size_bytes);
}

} // namespace

double line_ns(double size_bytes) {
    if (size_bytes <= limits.front().bytes) return limits.front().ns;
    if (size_bytes >= limits.back().bytes) return limits.back().ns;
    const auto above =
        std::find_if(limits.begin(), limits.end(), [&](const point& p) { return p.bytes >= size_bytes; });
    const auto below = above - 1;
    const double part = std::log(size_bytes / below->bytes) / std::log(above->bytes / below->bytes);
    return below->ns + part * (above->ns - below->ns);
}

double cost_of(const candidate& one, enum prefer wanted, double rate, double size_bytes) {
    if (wanted == prefer::space) return static_cast<double>(one.size_bytes);
    double ns = read_ns(one, size_bytes);
    if (wanted == prefer::adds) ns += word_written_ns * one.words_written;
    // Twice the space must buy half the time.
    return ns * one.bits_per_key / math::lower_bound_bits_per_key(std::clamp(rate, 1e-300, 0.999));
}

} // namespace bouncer::planner
