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
    const candidate& best = report.best();
    std::string out = "<dl class=\"facts\">" + fact("kind", std::string(best.kind)) +
                      fact("memory", bytes_text(best.size_bytes)) +
                      fact("bits per key", number_text(best.bits_per_key, 4)) +
                      fact("false-positive rate", rate_text(best.rate)) +
                      fact("keys", count_text(best.keys)) +
                      fact("lines per query", number_text(best.lines_absent, 2));
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
        out += fact("rate at " + short_count_text(static_cast<double>(*report.inserted)) + " keys",
                    rate_text(*report.inserted_rate));
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
    const std::string command = paste_command(report);
    return "<section><h2>To paste</h2>" + (command.empty() ? "" : "<pre>" + escaped(command) + "</pre>") +
           "<pre>" + escaped(paste_cpp(report)) + "</pre></section>\n";
}

} // namespace

std::string plan_html(const plan_report& report) {
    const candidate& best = report.best();
    const std::string title = count_text(best.keys) + " keys at " + rate_text(best.rate);
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Filter plan: " +
        title + "</title><style>" + std::string(plan_style) + "</style></head><body><main>\n";
    out += "<header><h1>Filter plan: " + title + "</h1><p>" + std::string(best.kind) + " takes " +
           bytes_text(best.size_bytes) + " and answers “maybe” to " + rate_text(best.rate) +
           " of the keys that are not there.</p></header>\n";
    out += facts(report);
    if (report.exact.better)
        out += "<section class=\"advice\"><h2>An exact set is the better answer</h2><p>" +
               escaped(report.exact.why) + ".</p></section>\n";
    if (report.capacity && report.capacity->years_until_full && report.expected.per_year > 0)
        out += growth_plot(report);
    if (report.lsm) out += lsm_plot(report);
    out += memory_plot(report) + fill_plot(report) + table_html(report) + paste(report);
    out += "<footer>Made by <code>bouncer plan</code>. Rates are exact expectations; docs/planning.md says "
           "how.</footer>";
    return out + "</main><div id=\"tip\"></div><script>" + std::string(plan_script) +
           "</script></body></html>\n";
}

} // namespace bouncer::tool
