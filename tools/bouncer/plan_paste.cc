#include "plan_paste.h"

#include "text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace bouncer::tool {

namespace {

// As short as it can be: a rate that was asked is never rounded up, one that was solved from a size never down.
std::string short_rate(double rate, bool asked) {
    std::array<char, 64> text;
    const auto exact = std::to_chars(text.data(), text.data() + text.size(), rate).ptr;
    if (asked && exact - text.data() <= 8) return {text.data(), exact};
    const double unit = std::pow(10.0, std::floor(std::log10(rate)) - 3);
    const double digits = rate / unit;
    const double near = (asked ? std::floor(digits + 1e-6) : std::ceil(digits - 1e-6)) * unit;
    if (near >= 1) return short_rate(rate, true); // no build takes it
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), near, std::chars_format::general, 4).ptr;
    return {text.data(), end};
}

std::string grouped(std::uint64_t count) {
    std::string out = count_text(count);
    for (char& c : out)
        if (c == ',') c = '\'';
    return out;
}

std::string rounded_up(double rate, int digits) {
    const double unit = std::pow(10.0, std::floor(std::log10(rate)) - digits + 1);
    std::array<char, 64> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), rate + unit / 2,
                                   std::chars_format::general, digits)
                         .ptr;
    return {text.data(), end};
}

// The shortest rate for which `build` makes the very filter that was planned: sizes have steps, and the rates between two of
// them give the larger one. So all filters together keep the memory and the sum of the rates.
std::string rate_of_level(const planner::lsm_level& level) {
    for (int digits = 4; digits <= 17; ++digits) {
        const std::string text = rounded_up(level.rate, digits);
        const auto built = planner::design(
            "bloom", {.keys = level.keys, .false_positive_rate = std::strtod(text.c_str(), nullptr)});
        if (built && built->size_bytes == level.size_bytes && built->rate <= level.rate) return text;
    }
    // So much memory was given that only collisions of hashes are left. No rate asks for all of it.
    return short_rate(1.001 * level.rate, false);
}

std::string rate_of(const plan_report& report) {
    return short_rate(report.wanted.rate.value_or(report.best().rate), report.wanted.rate.has_value());
}

std::string goal_text(const plan_report& report) {
    const auto& best = report.best();
    std::string out;
    if (!best.can.fixed) {
        // A kind that grows starts with the keys of today.
        const bool starts_small = best.can.grow && report.wanted.keys_today != 0;
        out = ".keys = " + grouped(starts_small ? report.wanted.keys_today : best.keys) + ", ";
    }
    if (report.wanted.rate)
        out += ".false_positive_rate = " + rate_of(report);
    else
        out += ".size_bytes = " + grouped(best.size_bytes);
    if (report.wanted.prefer == prefer::space) out += ", .prefer = bouncer::prefer::space";
    if (report.wanted.prefer == prefer::adds) out += ", .prefer = bouncer::prefer::adds";
    return out;
}

} // namespace

std::string paste_command(const plan_report& report) {
    if (report.lsm || report.wanted.k || !report.useful()) return {};
    const auto& best = report.best();
    std::string out = "bouncer build --kind " + std::string(best.kind) + " --fpr " + rate_of(report);
    if (!best.can.fixed) {
        const bool starts_small = best.can.grow && report.wanted.keys_today != 0;
        out += " --expect " + std::to_string(starts_small ? report.wanted.keys_today : best.keys);
    }
    if (report.wanted.prefer == prefer::space) out += " --prefer space";
    if (report.wanted.prefer == prefer::adds) out += " --prefer adds";
    return out + " -o keys.bnc keys.txt";
}

std::string paste_cpp(const plan_report& report) {
    if (report.lsm || !report.useful()) return {};
    const auto& best = report.best();
    const std::string kind(best.kind);
    if (best.can.fixed)
        return "auto filter = bouncer::plain_" + kind + "::build(hashes, {" + goal_text(report) + "});";
    const std::string made = "auto filter = bouncer::keyed<bouncer::atomic_" + kind + ">::create(";
    if (report.wanted.k) return made + "bouncer::" + kind + "_parameters{" + best.initializer + "});";
    return made + "{" + goal_text(report) + "});";
}

std::vector<pasted_level> paste_levels(const plan_report& report) {
    std::vector<pasted_level> out;
    if (!report.lsm) return out;
    for (std::size_t i = 0; i < report.lsm->levels.size(); ++i) {
        const planner::lsm_level& level = report.lsm->levels[i];
        if (level.size_bytes == 0) continue;
        const std::string rate = rate_of_level(level);
        const std::string name = "level" + std::to_string(i + 1);
        out.push_back({i,
                       "bouncer build --kind bloom --fpr " + rate + " --expect " +
                           std::to_string(level.keys) + " -o " + name + ".bnc " + name + ".txt",
                       "auto " + name + " = bouncer::keyed<bouncer::atomic_bloom>::create({.keys = " +
                           grouped(level.keys) + ", .false_positive_rate = " + rate + "});"});
    }
    return out;
}

} // namespace bouncer::tool
