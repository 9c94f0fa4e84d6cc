// What a verdict is about: goals.json. Its numbers change only in a commit of their own that says why.
#pragma once

#include "variant.h"

#include <optional>
#include <string>
#include <vector>

namespace bench {

enum class measure_of : std::uint8_t {
    speed, // throughput of `of` over that of `against`: median of the paired ratios; against the limit: of minima
    cost,         // time of `of` over that of `against`
    difference,   // ns of `of` minus ns of `against`
    ns,           // least ns per operation, per thread
    mops,         // millions per second, of all threads, at the least ns
    bits_per_key, // of the filter
};

struct goal {
    std::string id;
    std::string title;
    std::string figure; // of figures.h; then `of` and `against` mean nothing
    variant of;
    std::optional<variant> against;
    bool against_limit = false;
    measure_of measure = measure_of::speed;
    double bound = 0;
    bool at_least = true; // else at most
    bool full = false;    // only with --full
    bool scaled_by_limit = false;
};

// A peer of our own making must be as good as the one it stands for: at most `times_limit` times the limit. Above
// that, allowed 15 %, its rows are void.
struct peer_check {
    variant of;
    double times_limit = 0;
};

struct goal_list {
    double limit_ns = 1.5; // of the machine for which goals in ns were set, at 1M keys
    double peer_tolerance = 1.15;
    std::vector<peer_check> peers;
    std::vector<goal> goals;
};

// Throws bad_request with the file's name when it is not there or not as it should be.
goal_list read_goals(const std::string& path);

} // namespace bench
