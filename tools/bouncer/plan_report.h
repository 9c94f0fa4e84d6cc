// What `bouncer plan` found out, before it is shown: as a table, as JSON, as a page.
#pragma once

#include <bouncer/planner.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bouncer::tool {

// The flags as they were given.
struct plan_flags {
    std::optional<std::uint64_t> keys;
    std::optional<double> rate;
    std::optional<std::uint64_t> memory;
    std::optional<double> bits;
    std::optional<std::uint64_t> k;
    std::string prefer = "reads";
    std::vector<std::string> needs;
    std::string kind;
    std::string growth; // 30%/year
    std::optional<double> years;
    std::optional<double> headroom;
    std::string today; // 2026-11-16
    std::optional<double> slo_ms;
    std::optional<double> hit_ms;
    std::optional<double> miss_ms;
    std::optional<double> absent;
    std::optional<double> tolerate;
    std::optional<double> qps;
    std::optional<std::uint64_t> lsm_levels;
    std::optional<double> ratio;
    std::optional<std::uint64_t> inserted;
    bool measure = true;
};

struct plan_report {
    planner::wishes wanted;
    std::string assumed; // what of it was not told
    // The kinds, as one filter over all keys. None where a tree is planned: it has a flat Bloom filter per level.
    std::vector<planner::candidate> ranked;
    std::size_t chosen = 0;
    std::vector<double> build_ns; // of each, measured here; 0: not
    planner::exact_set exact;

    // Growth, where asked for.
    std::optional<planner::capacity_plan> capacity;
    planner::growth expected;
    std::uint64_t keys_today = 0;
    std::chrono::year_month_day today{};
    std::optional<std::chrono::year_month_day> full_on;

    std::optional<planner::latency_budget> budget;
    std::optional<planner::latency_plan> latency;
    bool filter_needed = true; // false: the latency budget is kept without one, and nothing below was planned

    std::optional<planner::traffic> traffic;
    double qps = 0;
    double absent = 0;

    planner::lsm_tree tree;
    std::optional<planner::lsm_split> lsm; // wanted.rate is then what all its filters may have together

    std::optional<std::uint64_t> inserted;
    std::optional<double> inserted_rate; // of the plan, if it can hold them

    const planner::candidate& best() const { return ranked[chosen]; } // not of a tree
    // Of the chosen kind, or of the whole tree.
    std::uint64_t keys() const { return lsm ? lsm->keys : best().keys; }
    std::uint64_t size_bytes() const { return lsm ? lsm->size_bytes : best().size_bytes; }
    double bits_per_key() const;
    double rate() const { return lsm ? lsm->reads : best().rate; }
    const std::function<double(std::uint64_t)>& rate_at() const {
        return lsm ? lsm->reads_at : best().rate_at;
    }
    std::size_t filters() const { return lsm ? lsm->levels.size() - lsm->unfiltered : 1; }
    // Whether it turns away what it is there for; a rate that was asked is.
    bool useful() const { return lsm || wanted.rate || best().rate <= 0.5; }
};

// Of how many keys the build cost is measured.
inline constexpr std::uint64_t measured_keys = 50'000;

// Errors: tool_error.
plan_report make_report(const plan_flags& flags);

std::string plan_text(const plan_report& report);
std::string plan_json(const plan_report& report);
std::string plan_html(const plan_report& report);

// "rate 1.43 %", of a tree "0.0143 reads in vain".
std::string rate_words(const plan_report& report, double rate);
// Of a tree: "5 flat Bloom filters, one per level".
std::string level_filters_text(const plan_report& report);
// The abilities in words: "add merge fold".
std::string abilities_text(const planner::abilities& can);
std::string date_text(const std::chrono::year_month_day& day);

} // namespace bouncer::tool
