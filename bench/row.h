// One line of the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct row {
    std::string name; // subject.operation[.detail]
    std::string kind;
    bool peer = false;
    std::string op;
    std::uint64_t keys = 0;
    unsigned threads = 1;
    std::string page_size; // "4K" or "2M"
    double bits_per_key = 0;
    double fpr_promised = 0;
    double fpr_measured = 0;
    double hit_ratio = 0;
    double ns_min = 0;
    double ns_median = 0;
    double mops = 0;                 // of all threads together, from the median
    double limit_ratio = 0;          // 1: at the memory limit; 0: has none
    std::string build;               // "native" or "baseline"
    std::string note;                // "unmeasured: ...", "void: ...", "the limit is wrong", percentiles
    std::vector<double> percentiles; // of a latency row: p50, p99, p99.9, p99.99 in ns
    std::vector<double> rounds;      // ns of every round, for paired ratios
};

} // namespace bench
