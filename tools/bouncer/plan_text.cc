// The plan as a table for a terminal.
#include "plan_paste.h"
#include "plan_report.h"
#include "text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace bouncer::tool {

namespace {

using planner::candidate;

template <class... Values>
std::string line(const char* format, Values... values) {
    std::array<char, 400> text;
    std::snprintf(text.data(), text.size(), format, values...);
    return std::string(text.data()) + '\n';
}

// Lines break at spaces before column 100; further ones begin with the indent.
std::string wrapped(const std::string& text, const std::string& indent) {
    std::string out;
    std::string now;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t space = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, space - at);
        if (!now.empty() && now.size() + 1 + word.size() > 100) {
            out += now + '\n';
            now = indent + word;
        } else {
            now += (now.empty() || now == indent ? "" : " ") + word;
        }
        at = space + 1;
    }
    return out + now + '\n';
}

std::string lines_text(const candidate& one) {
    std::string out = number_text(one.lines_absent, one.lines_absent < 10 ? 2 : 3);
    if (one.lines_adjacent && one.lines_absent > 1) out += '+';
    return out;
}

std::string build_text(double ns) {
    if (ns == 0) return "-";
    return ns < 9.95 ? number_text(ns, 2) + " ns"
                     : count_text(static_cast<std::uint64_t>(std::llround(ns))) + " ns";
}

std::string row(const plan_report& report, std::size_t i) {
    const candidate& one = report.ranked[i];
    const bool suited = one.why_not.empty();
    const std::string last = suited ? abilities_text(one.can) : one.why_not;
    const char* const mark = i == report.chosen ? ">" : " ";
    const std::string name(one.kind);
    if (one.size_bytes == 0) return "  " + wrapped(name + ": " + last, "      ");
    return line("%s %-17s %7s %9s %8.2f %10s %6s %7s  %s", mark, name.c_str(),
                short_count_text(static_cast<double>(one.keys)).c_str(), bytes_text(one.size_bytes).c_str(),
                one.bits_per_key, rate_text(one.rate).c_str(), lines_text(one).c_str(),
                build_text(report.build_ns[i]).c_str(), last.c_str());
}

std::string table_text(const plan_report& report) {
    std::string out = line("  %-17s %7s %9s %8s %10s %6s %7s  %s", "kind", "keys", "memory", "bits/key",
                           "rate", "lines", "build", "can");
    const auto& all = report.ranked;
    std::size_t i = 0;
    for (; i < all.size() && all[i].why_not.empty(); ++i) out += row(report, i);
    if (i < all.size()) out += "  not for this plan:\n";
    for (; i < all.size(); ++i) out += row(report, i);
    out += "lines: cache lines read for an absent key (+: adjacent).";
    if (std::any_of(report.build_ns.begin(), report.build_ns.end(), [](double ns) { return ns != 0; }))
        out += " build: per key, one thread,\nmeasured here just now with " + count_text(measured_keys) +
               " keys; a filter beyond the caches takes longer.";
    return out + "\n";
}

std::string growth_text(const plan_report& report) {
    const auto& plan = *report.capacity;
    std::string out = "\nGrowth: " + count_text(report.keys_today) + " keys today";
    if (report.expected.per_year != 0)
        out += ", " + number_text(100 * report.expected.per_year) +
               " % a year: " + count_text(plan.keys_at_end) + " after " + number_text(report.expected.years) +
               (report.expected.years == 1 ? " year" : " years");
    out += ".\nDesigned for " + count_text(plan.keys_design);
    if (report.expected.headroom != 1)
        out += ", headroom of " + number_text(report.expected.headroom) + " counted";
    if (report.full_on)
        out += "; full on " + date_text(*report.full_on) + ", after " + number_text(*plan.years_until_full) +
               " years.\n";
    else if (plan.years_until_full)
        out += "; not full before the year 9999.\n";
    else
        out += "; it never fills.\n";
    return out;
}

std::string latency_text(const plan_report& report) {
    const auto& budget = *report.budget;
    const auto& plan = *report.latency;
    std::string out = "Latency: at most " + rate_text(budget.tolerate) +
                      " of requests may take longer than " + number_text(budget.slo_ms) +
                      " ms.\nWithout a filter " + rate_text(plan.late_without) + " do, and the mean is " +
                      number_text(plan.mean_ms_without) + " ms.\n";
    if (!plan.rate) return out + "The budget is kept without a filter: none is needed for it.\n";
    const std::string mean = ", and the mean is " + number_text(plan.mean_ms_with) + " ms.\n";
    if (report.lsm)
        return out + number_text(*plan.rate) +
               " reads in vain per absent key, of all levels together, keep the budget:\nat most " +
               rate_text(plan.late_with) + " are late" + mean;
    return out + "A rate of " + rate_text(*plan.rate) + " keeps the budget: " + rate_text(plan.late_with) +
           " are late" + mean;
}

std::string traffic_text(const plan_report& report) {
    const auto& flow = *report.traffic;
    return "\nTraffic: of " + short_count_text(report.qps) + " requests/s, " + rate_text(report.absent) +
           " for absent keys, " + short_count_text(flow.avoided_per_s) + "/s are turned away,\n" +
           short_count_text(flow.wasted_per_s) + "/s are looked up in vain, and " +
           short_count_text(flow.remaining_per_s) + "/s reach what is behind.\n";
}

std::string lsm_text(const plan_report& report) {
    const auto& split = *report.lsm;
    std::string out = "\nLSM tree: " + std::to_string(report.tree.levels) + " levels of ratio " +
                      number_text(report.tree.ratio) + ", " + bytes_text(split.size_bytes) +
                      " of filters (flat Bloom filters, exact rates)\n";
    out +=
        line("  %5s %15s %9s %9s %11s %13s", "level", "keys", "memory", "bits/key", "rate", "uniform rate");
    for (std::size_t i = 0; i < split.levels.size(); ++i) {
        const auto& level = split.levels[i];
        const bool none = level.size_bytes == 0;
        out += line("  %5zu %15s %9s %9.2f %11s %13s", i + 1, count_text(level.keys).c_str(),
                    none ? "none" : bytes_text(level.size_bytes).c_str(), level.bits_per_key,
                    rate_text(level.rate).c_str(), rate_text(level.uniform_rate).c_str());
    }
    out += "An absent key costs " + number_text(split.reads) + " reads in vain, with " +
           number_text(split.uniform_bits_per_key) + " bits per key on every level " +
           number_text(split.uniform_reads) + ".\n";
    return out;
}

std::string inserted_text(const plan_report& report) {
    const std::string count = count_text(*report.inserted);
    if (!report.inserted_rate)
        return "\nWith " + count + " keys: a " + std::string(report.best().kind) +
               " is built from its keys; build it anew.\n";
    std::string out =
        "\nWith " + count + " keys (" +
        number_text(static_cast<double>(*report.inserted) / static_cast<double>(report.keys())) +
        " times its design) ";
    out += report.lsm ? "an absent key costs " + number_text(*report.inserted_rate) + " reads in vain"
                      : "the rate is " + rate_text(*report.inserted_rate);
    if (report.rate() > 0 && *report.inserted_rate > report.rate())
        out += ", " + number_text(*report.inserted_rate / report.rate()) + " times the planned one";
    return out + ".\n";
}

std::string asked_text(const plan_report& report) {
    const auto& wanted = report.wanted;
    std::string out = "Asked: " + (wanted.keys ? count_text(*wanted.keys) + " keys" : "as many keys as fit");
    if (report.lsm) out += " in " + std::to_string(report.tree.levels) + " levels";
    if (wanted.rate)
        out += report.lsm ? ", at most " + number_text(*wanted.rate) + " reads in vain per absent key"
                          : " at " + rate_text(*wanted.rate);
    if (wanted.size_bytes)
        out += (report.lsm ? "," : "") + std::string(wanted.rate && wanted.keys ? " in at most " : " in ") +
               bytes_text(*wanted.size_bytes);
    if (wanted.bits_per_key) out += ", " + number_text(*wanted.bits_per_key) + " bits per key";
    if (wanted.k) out += ", k = " + std::to_string(*wanted.k);
    if (!report.assumed.empty()) out += " (" + report.assumed + " assumed)";
    if (report.lsm) return out + "\n";
    return out + (wanted.prefer == prefer::space  ? "; the fewest bytes\n"
                  : wanted.prefer == prefer::adds ? "; fast adds\n"
                                                  : "; fast reads\n");
}

std::string answer_text(const plan_report& report) {
    const std::string size =
        bytes_text(report.size_bytes()) + ", " + number_text(report.bits_per_key(), 4) + " bits per key";
    if (report.lsm)
        return "Take:  " + level_filters_text(report) + ": " + size + ", " +
               rate_words(report, report.rate()) + " with " + count_text(report.keys()) + " keys\n";
    return "Take:  " + std::string(report.best().kind) + ", " + size + ", " + rate_text(report.rate()) +
           " with " + count_text(report.keys()) + " keys\n";
}

std::string paste_text(const plan_report& report) {
    if (!report.useful()) return {};
    std::string commands;
    std::string cpp;
    for (const pasted_level& each : paste_levels(report)) {
        commands += "  " + each.command + "\n";
        cpp += "  " + each.cpp + "\n";
    }
    if (const std::string one = paste_command(report); !one.empty()) commands += "  " + one + "\n";
    if (!report.lsm) cpp += "  " + paste_cpp(report) + "\n";
    if (report.wanted.k) cpp += "(bouncer build chooses k itself: only the library makes this filter.)\n";
    return "\nTo paste:\n" + commands + cpp;
}

} // namespace

std::string plan_text(const plan_report& report) {
    std::string out;
    if (report.latency) out += latency_text(report);
    if (!report.filter_needed) return out;
    if (report.latency) out += '\n';
    out += asked_text(report) + answer_text(report);
    out += report.lsm ? lsm_text(report) : "\n" + table_text(report);
    if (report.exact.better)
        out += "\n" + wrapped("An exact set is the better answer here: " + report.exact.why + ".", "");
    if (report.capacity) out += growth_text(report);
    if (report.inserted) out += inserted_text(report);
    if (report.traffic) out += traffic_text(report);
    return out + paste_text(report);
}

} // namespace bouncer::tool
