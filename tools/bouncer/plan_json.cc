// The plan for programs. Numbers are numbers; what was not asked is not there.
#include "plan_paste.h"
#include "plan_report.h"

#include <nlohmann/json.hpp>

namespace bouncer::tool {

namespace {

using nlohmann::ordered_json;

ordered_json candidate_json(const plan_report& report, std::size_t i) {
    const planner::candidate& one = report.ranked[i];
    ordered_json out{{"kind", one.kind}, {"suited", one.why_not.empty()}};
    if (!one.why_not.empty()) out["why_not"] = one.why_not;
    if (one.size_bytes != 0) {
        out["keys"] = one.keys;
        out["size_bytes"] = one.size_bytes;
        out["bits_per_key"] = one.bits_per_key;
        out["fpr"] = one.rate;
        out["lines_absent"] = one.lines_absent;
        out["lines_present"] = one.lines_present;
        out["lines_adjacent"] = one.lines_adjacent;
        out["parameters"] = one.parameters;
        if (report.build_ns[i] != 0) out["build_ns_per_key"] = report.build_ns[i];
        if (one.can.grow) out["layers"] = one.layers;
        if (report.inserted && one.rate_at) out["fpr_inserted"] = one.rate_at(*report.inserted);
    }
    out["can"] = {{"add", one.can.add},      {"delete", one.can.remove},
                  {"grow", one.can.grow},    {"merge", one.can.merge},
                  {"fold", one.can.fold},    {"forget", one.can.forget},
                  {"static", one.can.fixed}, {"concurrent", one.can.concurrent},
                  {"exact", one.can.exact}};
    return out;
}

ordered_json latency_json(const plan_report& report) {
    const planner::latency_plan& plan = *report.latency;
    ordered_json out{{"filter_needed", plan.rate.has_value()},
                     {"late_without", plan.late_without},
                     {"mean_ms_without", plan.mean_ms_without},
                     {"late_with", plan.late_with},
                     {"mean_ms_with", plan.mean_ms_with}};
    if (plan.rate) out[report.lsm ? "reads_in_vain" : "fpr"] = *plan.rate;
    return out;
}

ordered_json capacity_json(const plan_report& report) {
    const auto& plan = *report.capacity;
    ordered_json out{{"keys_today", report.keys_today}, {"growth_per_year", report.expected.per_year},
                     {"years", report.expected.years},  {"headroom", report.expected.headroom},
                     {"keys_at_end", plan.keys_at_end}, {"keys_design", plan.keys_design},
                     {"today", date_text(report.today)}};
    out["years_until_full"] = plan.years_until_full ? ordered_json(*plan.years_until_full) : ordered_json();
    out["full_on"] = report.full_on ? ordered_json(date_text(*report.full_on)) : ordered_json();
    return out;
}

ordered_json lsm_json(const plan_report& report) {
    const planner::lsm_split& split = *report.lsm;
    ordered_json levels = ordered_json::array();
    for (const auto& level : split.levels)
        levels.push_back({{"keys", level.keys},
                          {"size_bytes", level.size_bytes},
                          {"bits_per_key", level.bits_per_key},
                          {"fpr", level.rate},
                          {"uniform_fpr", level.uniform_rate}});
    for (const pasted_level& each : paste_levels(report)) {
        levels[each.level]["command"] = each.command;
        levels[each.level]["cpp"] = each.cpp;
    }
    return {{"levels", levels},
            {"unfiltered_levels", split.unfiltered},
            {"reads_in_vain", split.reads},
            {"uniform_reads_in_vain", split.uniform_reads},
            {"uniform_bits_per_key", split.uniform_bits_per_key}};
}

} // namespace

std::string plan_json(const plan_report& report) {
    ordered_json out;
    if (report.latency) out["latency"] = latency_json(report);
    if (!report.filter_needed) return out.dump(2) + "\n";
    out["recommended"] = report.lsm ? "bloom" : report.best().kind;
    if (report.lsm) out["filters"] = report.filters();
    out["keys"] = report.keys();
    out["size_bytes"] = report.size_bytes();
    out["bits_per_key"] = report.bits_per_key();
    out[report.lsm ? "reads_in_vain" : "fpr"] = report.rate();
    out["exact_set"] = {{"better", report.exact.better},
                        {"table_bytes", report.exact.table_bytes},
                        {"list_bytes", report.exact.list_bytes}};
    if (report.exact.better) out["exact_set"]["why"] = report.exact.why;
    if (report.capacity) out["capacity"] = capacity_json(report);
    if (report.inserted) {
        out["inserted"] = {{"keys", *report.inserted}};
        out["inserted"][report.lsm ? "reads_in_vain" : "fpr"] =
            report.inserted_rate ? ordered_json(*report.inserted_rate) : ordered_json();
    }
    if (report.traffic)
        out["traffic"] = {{"requests_per_s", report.qps},
                          {"absent", report.absent},
                          {"avoided_per_s", report.traffic->avoided_per_s},
                          {"wasted_per_s", report.traffic->wasted_per_s},
                          {"remaining_per_s", report.traffic->remaining_per_s}};
    if (report.lsm) out["lsm"] = lsm_json(report);
    if (!report.lsm) out["candidates"] = ordered_json::array();
    for (std::size_t i = 0; i < report.ranked.size(); ++i)
        out["candidates"].push_back(candidate_json(report, i));
    if (const std::string command = paste_command(report); !command.empty()) out["command"] = command;
    if (const std::string cpp = paste_cpp(report); !cpp.empty()) out["cpp"] = cpp;
    return out.dump(2) + "\n";
}

} // namespace bouncer::tool
