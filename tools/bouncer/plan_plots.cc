#include "plan_plots.h"

#include "plan_chart.h"
#include "text.h"

#include <algorithm>
#include <cmath>

namespace bouncer::tool {

namespace {

using planner::candidate;

constexpr std::size_t hues = 9;

std::string section(const std::string& title, const std::string& words, const std::string& inside) {
    return "<section><h2>" + title + "</h2><p>" + words + "</p>" + inside + "</section>\n";
}

std::string power_label(double rate) {
    return rate_text(rate);
}

std::vector<tick> rate_ticks(double low, double high) {
    std::vector<tick> out;
    for (double rate = 1; rate >= low * 0.99; rate /= 10)
        if (rate <= high * 1.01) out.push_back({rate, power_label(rate)});
    return out;
}

std::string legend(const plan_report& report, const std::vector<const candidate*>& shown) {
    std::string out = "<ul class=\"legend\">";
    for (const candidate& each : report.ranked) {
        const candidate* const one = &each;
        if (std::find(shown.begin(), shown.end(), one) == shown.end()) continue;
        const std::string style = kind_style(*one);
        out += "<li data-k=\"" + style.substr(0, style.find(' ')) +
               "\"><svg viewBox=\"0 0 34 12\"><path class=\"line " + style + "\" d=\"M1 6H33\"/></svg>" +
               std::string(one->kind) + (one == &report.best() ? " (planned)" : "") + "</li>";
    }
    return out + "</ul>";
}

std::string measured_tip(const candidate& one, const planner::measurement& run) {
    return std::string(one.kind) + ", measured: " + rate_text(run.rate) + " (" + count_text(run.wrong) +
           " of " + count_text(run.asked) + " absent keys), " + number_text(run.bits_per_key, 4) +
           " bits per key, built in " + number_text(run.build_ns_per_key, 2) + " ns per key";
}

// Whole years keep their day and month.
std::optional<std::chrono::year_month_day> tick_day(std::chrono::year_month_day start, double years) {
    if (years != std::floor(years) || years > 8000) return planner::day_after(start, years);
    const std::chrono::year_month_day out = start + std::chrono::years(static_cast<int>(years));
    if (!out.ok() || out.year() > std::chrono::year{9999}) return planner::day_after(start, years);
    return out;
}

// The planned kind last: it lies above the others.
std::vector<const candidate*> drawn_in_order(const plan_report& report) {
    std::vector<const candidate*> out;
    for (const candidate& one : report.ranked)
        if (&one != &report.best()) out.push_back(&one);
    out.push_back(&report.best());
    return out;
}

// Bits per key over the rate, from 25 % down to `least`.
chart::points memory_curve(const candidate& one, enum prefer wanted, double least) {
    constexpr int steps = 36;
    chart::points out;
    double kept = 0; // the rate of the design before
    for (int i = 0; i <= steps; ++i) {
        const double rate = 0.25 * std::pow(least / 0.25, static_cast<double>(i) / steps);
        const auto made =
            planner::design(one.kind, {.keys = dot_keys, .false_positive_rate = rate, .prefer = wanted});
        if (!made) continue;
        // Whole bytes: the step is where the rate of the smaller one ends.
        if (one.can.fixed && !out.empty() && made->bits_per_key > 1.3 * out.back().second) {
            out.emplace_back(kept, out.back().second);
            out.emplace_back(kept, made->bits_per_key);
        }
        // A chain keeps most of its rate for layers to come: it is drawn where it is now.
        out.emplace_back(one.can.grow ? made->rate : rate, made->bits_per_key);
        kept = made->rate;
    }
    return out;
}

// Enough for 1,500 false positives, so that a dot is within a few percent of the truth; 8 million at most.
std::uint64_t questions_for(double rate) {
    return static_cast<std::uint64_t>(std::clamp(1500 / rate, 1e5, 8e6));
}

} // namespace

std::string kind_style(const candidate& one) {
    std::size_t place = 0;
    std::size_t alike = 0; // earlier ones with the same dash: they have other hues
    for (const auto& each : planner::all_abilities()) {
        if (each.kind == one.kind) break;
        ++place;
        alike += each.can.fixed == one.can.fixed && each.can.forget == one.can.forget;
    }
    std::string out = std::string("k") + std::to_string(place) + " h" + std::to_string(alike % hues);
    if (one.can.fixed) out += " dashed";
    if (one.can.forget) out += " dotted";
    return out;
}

std::string memory_plot(const plan_report& report) {
    constexpr double least = 1e-6;
    constexpr double most_bits = 256;
    chart plot(
        "Memory over false-positive rate",
        {.low = 0.25,
         .high = least,
         .logarithmic = true,
         .ticks = rate_ticks(least, 0.25),
         .title = "false-positive rate"},
        {.low = 2,
         .high = most_bits,
         .logarithmic = true,
         .ticks =
             {{2, "2"}, {4, "4"}, {8, "8"}, {16, "16"}, {32, "32"}, {64, "64"}, {128, "128"}, {256, "256"}},
         .title = "bits per key"});
    chart::points bound;
    for (double rate = 0.25; rate >= least * 0.99; rate /= 1.2) bound.emplace_back(rate, -std::log2(rate));
    plot.line(bound, "bound", "No filter can do with less: log2(1 / rate) bits per key");
    std::vector<const candidate*> shown;
    for (const candidate* each : drawn_in_order(report)) {
        const candidate& one = *each;
        const chart::points curve = memory_curve(one, report.wanted.prefer, least);
        if (curve.empty()) continue;
        shown.push_back(&one);
        plot.line(curve, kind_style(one) + (&one == &report.best() ? " planned" : ""), std::string(one.kind));
        for (const double rate : {0.1, 0.01, 0.001, 0.0001}) {
            const auto run = planner::measure(
                one.kind, {.keys = dot_keys, .false_positive_rate = rate, .prefer = report.wanted.prefer},
                questions_for(one.can.fixed ? std::min(rate, 0.004) : rate));
            if (run && run->wrong >= 20)
                plot.dot(run->rate, run->bits_per_key, kind_style(one), measured_tip(one, *run));
        }
    }
    plot.mark_x(report.best().rate, "this plan: " + rate_text(report.best().rate));
    return section(
        "Memory over rate",
        "Lines are what each kind needs by exact arithmetic for " + count_text(dot_keys) +
            " keys. Dots were <em>measured</em> on this machine just now: a filter was built for 10 %, 1 %, "
            "0.1 % and "
            "0.01 %, and asked keys that are not there. Dashed kinds are static, dotted ones forget. "
            "A static kind of whole bytes keeps a better rate than asked: its dots lie at the end of a step.",
        plot.svg() + legend(report, shown));
}

std::string fill_plot(const plan_report& report) {
    const candidate& best = report.best();
    const double worst_shown = 1;
    const double least = std::max(1e-9, std::pow(10.0, std::floor(std::log10(best.rate)) - 1));
    double most = 3; // times the design
    if (report.inserted)
        most = std::max(most, 1.1 * static_cast<double>(*report.inserted) / static_cast<double>(best.keys));
    most = std::min(most, 50.0);
    axis x{.low = 0, .high = most, .ticks = {}, .title = "keys, as a share of those it was designed for"};
    for (const double at : round_steps(most, 6)) x.ticks.push_back({at, number_text(100 * at) + " %"});
    chart plot("False-positive rate over fill", x,
               {.low = least,
                .high = worst_shown,
                .logarithmic = true,
                .ticks = rate_ticks(least, 1),
                .title = "false-positive rate"});
    std::vector<const candidate*> shown;
    for (const candidate* each : drawn_in_order(report)) {
        const candidate& one = *each;
        if (!one.rate_at || (!one.why_not.empty() && &one != &best)) continue;
        shown.push_back(&one);
        chart::points curve;
        for (int i = 1; i <= 90; ++i) {
            const double share = most * i / 90;
            const double keys = share * static_cast<double>(one.keys);
            curve.emplace_back(share, one.rate_at(static_cast<std::uint64_t>(std::max(1.0, keys))));
        }
        plot.line(curve, kind_style(one) + (&one == &best ? " planned" : ""), std::string(one.kind));
    }
    if (best.rate_at && !report.wanted.k) {
        for (const double share : {0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0}) {
            const double expected =
                best.rate_at(static_cast<std::uint64_t>(share * static_cast<double>(best.keys)));
            if (expected <= 0 || share > most) continue;
            const auto run = planner::measure(
                best.kind,
                {.keys = measured_keys, .false_positive_rate = best.rate, .prefer = report.wanted.prefer},
                questions_for(expected), share);
            if (run && run->wrong >= 20)
                plot.dot(share, run->rate, kind_style(best), measured_tip(best, *run));
        }
    }
    plot.mark_x(1, "designed for " + short_count_text(static_cast<double>(best.keys)),
                report.inserted && *report.inserted > best.keys ? chart::side::left : chart::side::any);
    if (report.inserted)
        plot.mark_x(static_cast<double>(*report.inserted) / static_cast<double>(best.keys),
                    "inserted " + short_count_text(static_cast<double>(*report.inserted)),
                    *report.inserted > best.keys ? chart::side::any : chart::side::left);
    return section(
        "Rate over fill",
        "A filter never refuses a key; beyond its design the rate climbs. Dots were measured on a " +
            std::string(best.kind) + " designed for " + count_text(measured_keys) + " keys.",
        plot.svg() + legend(report, shown));
}

std::string growth_plot(const plan_report& report) {
    const auto& plan = *report.capacity;
    const double until = plan.years_until_full.value_or(0);
    const double years = std::min(1000.0, std::max({1.0, report.expected.years * 1.2, until * 1.15}));
    const double most =
        1.15 * std::max(static_cast<double>(plan.keys_design),
                        planner::keys_after(report.keys_today, report.expected.per_year, years));
    axis x{.low = 0, .high = years, .ticks = {}, .title = "day"};
    for (const double at : round_steps(years, 6)) {
        const auto day = tick_day(report.today, at);
        if (day) x.ticks.push_back({at, date_text(*day)});
    }
    axis y{.low = 0, .high = most, .ticks = {}, .title = "keys"};
    for (const double at : round_steps(most, 6)) y.ticks.push_back({at, short_count_text(at)});
    chart plot("Keys over time", x, y);
    chart::points curve;
    for (int i = 0; i <= 120; ++i) {
        const double at = years * i / 120;
        curve.emplace_back(at, planner::keys_after(report.keys_today, report.expected.per_year, at));
    }
    plot.line(curve, "h0 planned",
              "Keys, " + number_text(100 * report.expected.per_year) + " % more each year");
    plot.mark_y(static_cast<double>(plan.keys_design),
                "designed for " + short_count_text(static_cast<double>(plan.keys_design)));
    const auto tip_of = [&](double at) {
        const auto day = planner::day_after(report.today, at);
        const double keys = planner::keys_after(report.keys_today, report.expected.per_year, at);
        std::string out = (day ? date_text(*day) + ": " : "") + short_count_text(keys) + " keys";
        if (report.rate_at())
            out +=
                ", " + rate_words(report, report.rate_at()(static_cast<std::uint64_t>(std::max(1.0, keys))));
        return out;
    };
    for (double at = 0; at <= years; at += years / 12)
        plot.dot(at, planner::keys_after(report.keys_today, report.expected.per_year, at), "h0", tip_of(at));
    if (report.full_on) plot.mark_x(until, "full on " + date_text(*report.full_on));
    std::string words = count_text(report.keys_today) + " keys on " + date_text(report.today) +
                        ", designed for " + count_text(plan.keys_design) + ". ";
    if (!report.full_on)
        words += "It does not fill before the year 9999.";
    else
        words += "On " + date_text(*report.full_on) +
                 (report.lsm ? " the filters are full: build larger ones before, or the reads in vain climb."
                             : " the filter is full: build a larger one before, or the rate climbs.");
    return section("Growth to saturation", words, plot.svg());
}

std::string lsm_plot(const plan_report& report) {
    const auto& split = *report.lsm;
    double most = split.uniform_bits_per_key;
    for (const auto& level : split.levels) most = std::max(most, level.bits_per_key);
    const auto count = static_cast<double>(split.levels.size());
    axis x{.low = 0, .high = count, .ticks = {}, .title = "level, the smallest first"};
    axis y{.low = 0, .high = 1.15 * most, .ticks = {}, .title = "bits per key"};
    for (const double at : round_steps(1.15 * most, 6)) y.ticks.push_back({at, number_text(at)});
    for (std::size_t i = 0; i < split.levels.size(); ++i)
        x.ticks.push_back({static_cast<double>(i) + 0.5,
                           split.levels.size() <= 10
                               ? std::to_string(i + 1) + ": " +
                                     short_count_text(static_cast<double>(split.levels[i].keys)) + " keys"
                               : std::to_string(i + 1)});
    chart plot("Bits per key on each level", x, y);
    for (std::size_t i = 0; i < split.levels.size(); ++i) {
        const auto& level = split.levels[i];
        const auto at = static_cast<double>(i);
        const bool few = split.levels.size() <= 10;
        const std::string keys = count_text(level.keys) + " keys, ";
        plot.bar(at + 0.16, at + 0.49, level.bits_per_key, "h0",
                 "Split: " + keys + bytes_text(level.size_bytes) + ", rate " + rate_text(level.rate),
                 few ? (level.size_bytes == 0 ? "none" : number_text(level.bits_per_key)) : "");
        plot.bar(at + 0.51, at + 0.84, split.uniform_bits_per_key, "h3",
                 "Uniform: " + keys + "rate " + rate_text(level.uniform_rate),
                 few ? number_text(split.uniform_bits_per_key) : "");
    }
    const std::string names =
        "<ul class=\"legend\"><li><svg viewBox=\"0 0 34 12\"><rect class=\"bar h0\" width=\"34\" "
        "height=\"12\" "
        "rx=\"2\"/></svg>split by Lagrange (Monkey)</li><li><svg viewBox=\"0 0 34 12\"><rect class=\"bar "
        "h3\" "
        "width=\"34\" height=\"12\" rx=\"2\"/></svg>the same bits per key everywhere</li></ul>";
    return section("LSM tree",
                   "The same " + bytes_text(split.size_bytes) +
                       " of filters, split two ways. A lookup of an absent key reads <b>" +
                       number_text(split.reads) + "</b> levels in vain with the split, <b>" +
                       number_text(split.uniform_reads) + "</b> with the same bits per key everywhere.",
                   plot.svg() + names);
}

} // namespace bouncer::tool
