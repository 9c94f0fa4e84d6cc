// The measurements of `bouncer bench`: queries of a filter in memory, beside what the memory itself can do.
#pragma once

#include <bouncer/any_filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bouncer::tool {

struct bench_plan {
    std::uint64_t keys = std::uint64_t{1} << 20; // asked in each measurement
    double seconds = 2;                          // for all of them
    unsigned threads = 1;                        // the most; 1 is measured too
    double lines = 1;                            // cache lines that a query reads,
    bool lines_adjacent = false;                 // one behind the other
};

// One row: medians over the rounds. Nanoseconds of wall time per query, of all threads together.
struct bench_row {
    std::string what; // "absent, batch", "absent, single", "present, batch", ...
    unsigned threads = 1;
    double ns = 0;
    double spread = 0;               // (third quartile - first) / median, over the rounds
    std::optional<double> memory_ns; // random reads of as many lines, in the same rounds
};

struct bench_result {
    std::vector<bench_row> rows;
    unsigned rounds = 0;
    std::uint64_t absent_asked = 0; // for the rate
    std::uint64_t absent_found = 0;
    std::uint64_t present_hashes = 0; // that the filter answers "maybe", found by asking; 0: too rare
    bool memory_measured = false;     // not when a second buffer of that size does not fit
};

// Interleaved: each round measures everything once, so that what disturbs the machine disturbs all alike. Stops early
// when the command is interrupted. Hashes are random, and new in each round: a cache does not learn them.
bench_result run_bench(const any_filter& filter, const bench_plan& plan);

// The 95 % interval of a rate by Wilson's score.
struct rate_interval {
    double low = 0;
    double high = 1;
};
rate_interval interval_of(std::uint64_t found, std::uint64_t asked);

} // namespace bouncer::tool
