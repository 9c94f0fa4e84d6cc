// The plan as one page that needs nothing else.
#include "plan_chart.h"
#include "plan_paste.h"
#include "plan_plots.h"
#include "plan_report.h"
#include "plan_style.h"
#include "text.h"

#include <vector>

namespace bouncer::tool {

namespace {

using planner::candidate;

std::string fact(const std::string& name, const std::string& value) {
    return "<div><dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd></div>";
}

std::string cell(const std::string& text) {
    return "<td>" + escaped(text) + "</td>";
}

std::string facts(const plan_report& report) {
    std::string out = "<dl class=\"facts\">";
    out += report.lsm ? fact("filters", level_filters_text(report))
                      : fact("kind", std::string(report.best().kind));
    out += fact("memory", bytes_text(report.size_bytes())) +
           fact("bits per key", number_text(report.bits_per_key(), 4));
    out += report.lsm ? fact("reads in vain per absent key", number_text(report.rate()))
                      : fact("false-positive rate", rate_text(report.rate()));
    out += fact("keys", count_text(report.keys()));
    if (!report.lsm) out += fact("lines per query", number_text(report.best().lines_absent, 2));
    if (report.full_on) out += fact("full on", date_text(*report.full_on));
    if (report.traffic) {
        out += fact("lookups avoided", short_count_text(report.traffic->avoided_per_s) + "/s");
        out += fact("lookups wasted", short_count_text(report.traffic->wasted_per_s) + "/s");
    }
    if (report.latency && report.latency->rate) {
        out += fact("late requests",
                    rate_text(report.latency->late_without) + " → " + rate_text(report.latency->late_with));
        out += fact("mean latency", number_text(report.latency->mean_ms_without) + " → " +
                                        number_text(report.latency->mean_ms_with) + " ms");
    }
    if (report.inserted_rate)
        out += fact((report.lsm ? "reads in vain with " : "rate at ") +
                        short_count_text(static_cast<double>(*report.inserted)) + " keys",
                    report.lsm ? number_text(*report.inserted_rate) : rate_text(*report.inserted_rate));
    return out + "</dl>";
}

std::string table_html(const plan_report& report) {
    std::string out =
        "<section><h2>Every kind</h2><p>The best first. Lines: cache lines that a query of an absent key "
        "reads. Build: "
        "per key, one thread, measured on this machine with " +
        count_text(measured_keys) +
        " keys.</p><div "
        "class=\"scroll\"><table><thead><tr><th>kind</th><th>keys</th><th>memory</th><th>bits/key</th>"
        "<th>rate</th><th>lines</th><th>build</th><th>can</th></tr></thead><tbody>";
    for (std::size_t i = 0; i < report.ranked.size(); ++i) {
        const candidate& one = report.ranked[i];
        const bool known = one.size_bytes != 0;
        out += i == report.chosen    ? "<tr class=\"planned\">"
               : one.why_not.empty() ? "<tr>"
                                     : "<tr class=\"not\">";
        out += cell(std::string(one.kind)) +
               cell(known ? short_count_text(static_cast<double>(one.keys)) : "") +
               cell(known ? bytes_text(one.size_bytes) : "") +
               cell(known ? number_text(one.bits_per_key, 4) : "") + cell(known ? rate_text(one.rate) : "") +
               cell(known ? number_text(one.lines_absent, 2) : "") +
               cell(report.build_ns[i] != 0
                        ? number_text(report.build_ns[i], report.build_ns[i] < 100 ? 2 : 3) + " ns"
                        : "") +
               cell(one.why_not.empty() ? abilities_text(one.can) : one.why_not) + "</tr>";
    }
    return out + "</tbody></table></div></section>\n";
}

std::string paste(const plan_report& report) {
    if (!report.useful()) return {};
    std::string commands = paste_command(report);
    std::string cpp = paste_cpp(report);
    for (const pasted_level& each : paste_levels(report)) {
        commands += each.command + "\n";
        cpp += each.cpp + "\n";
    }
    return "<section><h2>To paste</h2>" + (commands.empty() ? "" : "<pre>" + escaped(commands) + "</pre>") +
           "<pre>" + escaped(cpp) + "</pre></section>\n";
}

std::string title_of(const plan_report& report) {
    return count_text(report.keys()) + " keys " +
           (report.lsm ? "in " + std::to_string(report.tree.levels) + " levels"
                       : "at " + rate_text(report.rate()));
}

std::string summary(const plan_report& report) {
    if (report.lsm)
        return level_filters_text(report) + ", " + bytes_text(report.size_bytes()) +
               " in all. A key that is not there costs " + number_text(report.rate()) + " reads in vain.";
    return std::string(report.best().kind) + " takes " + bytes_text(report.size_bytes()) +
           " and answers “maybe” to " + rate_text(report.rate()) + " of the keys that are not there.";
}

} // namespace

std::string plan_html(const plan_report& report) {
    const std::string title = title_of(report);
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Filter plan: " +
        title + "</title><style>" + std::string(plan_style) + "</style></head><body><main>\n";
    out += "<header><h1>Filter plan: " + title + "</h1><p>" + summary(report) + "</p></header>\n";
    out += facts(report);
    if (report.exact.better)
        out += "<section class=\"advice\"><h2>An exact set is the better answer</h2><p>" +
               escaped(report.exact.why) + ".</p></section>\n";
    if (report.capacity && report.capacity->years_until_full && report.expected.per_year > 0)
        out += growth_plot(report);
    out += report.lsm ? lsm_plot(report) : memory_plot(report) + fill_plot(report) + table_html(report);
    out += paste(report);
    out += "<footer>Made by <code>bouncer plan</code>. Rates are exact expectations; docs/planning.md says "
           "how.</footer>";
    return out + "</main><div id=\"tip\"></div><script>" + std::string(plan_script) +
           "</script></body></html>\n";
}

} // namespace bouncer::tool
