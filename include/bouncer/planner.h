// The planner: from what a user knows (keys, a rate, memory, a growth, a latency budget) to a kind and its size. Pure
// decisions over the exact math; nothing here allocates a filter but measure(). docs/planning.md
//
// The candidates are the kinds of all_filters.h, and what one can do is read from its concepts and traits: a new kind
// takes part without a line here.
//
// All functions are [any-thread]: they share nothing.
#pragma once

#include <bouncer/goal.h>
#include <bouncer/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::planner {

// ---- what a kind can do --------------------------------------------------------------------------------------------

struct abilities {
    bool add = false;        // takes keys one after the other
    bool remove = false;     // loses single keys again
    bool grow = false;       // keeps its rate beyond the keys it was made for
    bool merge = false;      // becomes a union
    bool fold = false;       // shrinks without its keys
    bool forget = false;     // loses old keys by itself
    bool concurrent = false; // its atomic form takes adds and queries from any thread
    bool fixed = false;      // static: built once from the whole set
    bool exact = false;      // never wrong over a closed universe
    bool foreign = false;    // a format of others, which fixes the hash: for interchange
};

struct kind_abilities {
    std::string_view kind;
    abilities can;
};

// [any-thread] Of every kind, in the list's order.
std::vector<kind_abilities> all_abilities();

// ---- what is wished ------------------------------------------------------------------------------------------------

// Enough are: keys and one of rate, size, bits_per_key, k; rate and size; size and bits_per_key; size and k. More than
// enough are bounds: a kind that cannot keep them all is not suited.
struct wishes {
    std::optional<std::uint64_t> keys = std::nullopt;
    std::optional<double> rate = std::nullopt;
    std::optional<std::uint64_t> size_bytes = std::nullopt;
    std::optional<double> bits_per_key = std::nullopt;
    std::optional<std::uint32_t> k = std::nullopt; // only kinds that have a k of their own take part
    enum prefer prefer = prefer::reads;
    // A kind without one of these is not suited. Without `fixed` it must take keys one by one, without `forget` it must
    // never lose one.
    abilities needs = {};
    // Keys there are today, where `keys` are those to design for: a kind that grows starts with these. 0: the same.
    std::uint64_t keys_today = 0;
};

// One kind's answer.
struct candidate {
    std::string_view kind;
    abilities can;
    // Empty: suited. Otherwise why not, and the numbers below are zero where they are not known.
    std::string why_not = {};

    std::uint64_t keys = 0; // designed for
    std::uint64_t size_bytes = 0;
    double bits_per_key = 0;
    double rate = 0;             // exact, at `keys`
    double lines_absent = 0;     // cache lines that a query reads, mean: for an absent key,
    double lines_present = 0;    // and for one that is there
    bool lines_adjacent = false; // they are neighbours: one access to memory, or little more
    double words_written = 0;    // per add, mean; 0 for static kinds
    std::uint32_t layers = 1;    // of a kind that grows
    std::string parameters = {}; // in words
    // The same as C++, where `k` was wished: ".bits = 640, .k = 7". A goal alone does not give these parameters.
    std::string initializer = {};
    // What the ranking compares: for reads and adds ns by the model in docs/planning.md, for space bytes.
    double cost = 0;
    // The exact rate with so many keys, more or fewer than designed for. Empty where a kind cannot hold others.
    std::function<double(std::uint64_t)> rate_at = {};
};

// [any-thread] Every kind: first the suited ones, the best first, then the others with their reasons. Errors:
// invalid_argument for wishes that make no sense, are not enough or contradict each other; too_large when no suited
// kind is small enough. Takes some ten milliseconds.
result<std::vector<candidate>> rank(const wishes& wanted);

// [any-thread] One kind's answer to a goal, whether suited or not. Errors: as its solve.
result<candidate> design(std::string_view kind, const goal& wanted);

// ---- the exact set -------------------------------------------------------------------------------------------------

// A filter is not worth its errors where a set of 64-bit hashes is small too.
struct exact_set {
    std::uint64_t table_bytes = 0; // open addressing, half full: 16 bytes per key
    std::uint64_t list_bytes = 0;  // a sorted list of hashes: 8 bytes per key
    bool better = false;
    std::string why = {}; // with the numbers, if better
};
inline constexpr std::uint64_t exact_set_cache_bytes = std::uint64_t{1} << 20; // the order of a core's L2
inline constexpr std::uint64_t exact_set_saving_bytes = std::uint64_t{64} << 10;

// [any-thread] Better when the table fits into a core's cache, or the filter saves less than 64 KiB against the list.
exact_set exact_set_for(std::uint64_t keys, std::uint64_t filter_bytes);

// ---- capacity ------------------------------------------------------------------------------------------------------

struct growth {
    double per_year = 0; // compound: 0.3 is 30 % more each year; above -1
    double years = 0;
    double headroom = 1; // the design is this many times the keys at the end; at least 1
};

struct capacity_plan {
    std::uint64_t keys_at_end = 0;
    std::uint64_t keys_design = 0;
    // Until the keys reach the design; nullopt when they never do.
    std::optional<double> years_until_full = std::nullopt;
};

// [any-thread] Errors: invalid_argument, too_large (more than 2^48 keys).
result<capacity_plan> plan_capacity(std::uint64_t keys_today, const growth& expected);
// [any-thread] The keys after so many years.
double keys_after(std::uint64_t keys_today, double per_year, double years);
// [any-thread] Years until `keys_today` become `keys_full`; 0 when they are there, nullopt when they never do.
std::optional<double> years_until(std::uint64_t keys_today, std::uint64_t keys_full, double per_year);
// [any-thread] The last whole day before so many years of 365.2425 days have passed; nullopt beyond the year 9999.
std::optional<std::chrono::year_month_day> day_after(std::chrono::year_month_day start, double years);
// [any-thread] 30 % a month is (1.3^12 - 1) a year. `period_days`: 1, 7, 365.2425 / 12, 365.2425.
double growth_per_year(double per_period, double period_days);

// ---- the rate from a latency budget --------------------------------------------------------------------------------

// A request for a present key takes hit_ms. One for an absent key takes nothing when the filter turns it away, and
// miss_ms when the filter errs. At most `tolerate` of all requests may take longer than slo_ms.
struct latency_budget {
    double slo_ms = 0;
    double hit_ms = 0;
    double miss_ms = 0;
    double absent = 0;   // share of requests for absent keys, 0 to 1
    double tolerate = 0; // share of requests that may be late, 0 to 1
    // Filters asked for one key, as the levels of a tree: each that errs costs one more miss_ms.
    std::uint32_t levels = 1;
};

struct latency_share {
    double late = 0; // share of requests. With several levels an upper bound
    double mean_ms = 0;
};

struct latency_plan {
    // The largest rate that keeps the budget; nullopt when it is kept without a filter. With several levels: the sum of
    // their rates, which are the reads in vain per absent key. The sum may be 1 or more where one miss is in time.
    std::optional<double> rate = std::nullopt;
    double late_without = 0; // share of requests that are late without a filter
    double mean_ms_without = 0;
    double late_with = 0; // at that rate
    double mean_ms_with = 0;
};

// [any-thread] Errors: invalid_argument, also where no filter can help: the message says why.
result<latency_plan> plan_latency(const latency_budget& budget);
// [any-thread] What a rate gives, or a sum of rates. Where only the r-th search in vain makes a request late, at most
// rate / r of the absent keys are late (Markov): an upper bound, at r = 1 and a sum of 0.01 at most 0.5 % too high.
// Expects a budget that plan_latency accepts.
latency_share latency_at(const latency_budget& budget, double rate);

// ---- traffic -------------------------------------------------------------------------------------------------------

// Of a tree a request may search several levels in vain: wasted and remaining count searches.
struct traffic {
    double avoided_per_s = 0;   // requests that the filter spares, or all filters of a tree together
    double wasted_per_s = 0;    // lookups for absent keys that it lets pass
    double remaining_per_s = 0; // all that still go through: present keys and wasted ones
};

struct lsm_split;

// [any-thread] Errors: invalid_argument.
result<traffic> plan_traffic(double requests_per_s, double absent, double rate);
result<traffic> plan_traffic(double requests_per_s, double absent, const lsm_split& tree);

// ---- LSM trees -----------------------------------------------------------------------------------------------------

// Enough are two of keys, memory and reads: the most keys, the least memory or the fewest reads follow. Where all three
// are given the memory is a bound.
struct lsm_tree {
    std::uint32_t levels = 0; // 1 to 32
    double ratio = 0;         // a level has so many times the keys of the one above it; above 1, at most 1000
    std::optional<std::uint64_t> keys = std::nullopt;       // of all levels
    std::optional<std::uint64_t> size_bytes = std::nullopt; // of all filters
    std::optional<double> bits_per_key = std::nullopt;      // instead of size_bytes
    // Reads in vain per lookup of an absent key, the sum of the rates of all levels: above 0, below `levels`.
    std::optional<double> reads = std::nullopt;
};

// One level, the smallest first.
struct lsm_level {
    std::uint64_t keys = 0;
    // Of a flat filter that fits into its share, but a word at least; 0: no filter, where one would let more than 95 % of
    // the absent keys pass.
    std::uint64_t size_bytes = 0;
    double bits_per_key = 0;
    double rate = 1;         // exact, of that filter
    double uniform_rate = 1; // the same with the uniform choice
};

struct lsm_split {
    std::vector<lsm_level> levels;
    std::uint32_t unfiltered = 0; // levels without a filter
    std::uint64_t keys = 0;
    std::uint64_t size_bytes = 0; // of all filters
    // Expected reads in vain per lookup of an absent key: the sum of the rates.
    double reads = 0;
    double uniform_reads = 0; // with the same memory, but the same bits per key on every level
    double uniform_bits_per_key = 0;
    // The exact reads of these filters with so many keys in all levels, more or fewer than planned.
    std::function<double(std::uint64_t)> reads_at = {};
};

// [any-thread] The bits per key of each level that make the sum of exp(-c ln^2 2) least, for sum n c = bits and c >= 0:
// by Lagrange's condition rates in proportion to keys, and 1 where that exceeds 1. Exact for that curve.
std::vector<double> monkey_bits(const std::vector<double>& level_keys, double bits);
// [any-thread] Whether levels and ratio make sense; plan_lsm looks too. Errors: invalid_argument.
result<void> check_shape(const lsm_tree& tree);
// [any-thread] Solved plans keep `reads` by their exact sum. Errors: invalid_argument, also for reads that need no filter;
// too_large.
result<lsm_split> plan_lsm(const lsm_tree& tree);

// ---- measured ------------------------------------------------------------------------------------------------------

struct measurement {
    std::uint64_t keys = 0;
    std::uint64_t size_bytes = 0;
    double bits_per_key = 0;
    std::uint64_t asked = 0; // absent keys
    std::uint64_t wrong = 0; // of them answered "maybe"
    double rate = 0;
    double build_ns_per_key = 0; // one thread; the memory of a filter of this size
};

// [any-thread] Builds a filter of `fill` times the goal's keys, random ones, and asks it absent ones. Kinds that forget are
// filled until they have settled. Errors: as the kind's create or build; unsupported for a fill that is not 1 where a
// kind cannot hold more or fewer keys than it was made for.
result<measurement> measure(std::string_view kind, const goal& wanted, std::uint64_t questions,
                            double fill = 1, std::uint64_t seed = 1);

} // namespace bouncer::planner
