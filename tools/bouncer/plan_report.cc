#include "plan_report.h"

#include "plan_growth.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace bouncer::tool {

namespace {

using planner::candidate;

planner::abilities needs_of(const std::vector<std::string>& names) {
    planner::abilities out;
    for (const std::string& name : names) {
        if (name == "delete") out.remove = true;
        if (name == "grow") out.grow = true;
        if (name == "merge") out.merge = true;
        if (name == "fold") out.fold = true;
        if (name == "forget") out.forget = true;
        if (name == "concurrent") out.concurrent = true;
        if (name == "static") out.fixed = true;
    }
    return out;
}

std::chrono::year_month_day first_day(const std::string& text) {
    if (!text.empty()) return value_or_throw(parse_day(text), "--today");
    return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

void plan_growth(const plan_flags& flags, plan_report& to) {
    if (flags.growth.empty() && !flags.years && !flags.headroom) {
        if (!flags.today.empty()) throw tool_error("--today says nothing without --growth");
        return;
    }
    if (!flags.keys) throw tool_error("--growth, --years and --headroom need --keys, those of today");
    if (flags.years && flags.growth.empty()) throw tool_error("--years says nothing without --growth");
    to.today = first_day(flags.today);
    to.keys_today = *flags.keys;
    to.expected.headroom = flags.headroom.value_or(1);
    if (!flags.growth.empty()) {
        to.expected.per_year = value_or_throw(parse_growth(flags.growth), "--growth");
        to.expected.years = flags.years.value_or(flags.headroom ? 0 : 1);
    }
    to.capacity = value_or_throw(planner::plan_capacity(*flags.keys, to.expected));
    if (to.capacity->years_until_full)
        to.full_on = planner::day_after(to.today, *to.capacity->years_until_full);
}

// The filters of a tree are flat Bloom filters. A flag that asks for others is refused: ignored, it would look kept.
void take_tree(const plan_flags& flags, plan_report& to) {
    if (!flags.lsm_levels && !flags.ratio) return;
    if (!flags.lsm_levels || !flags.ratio) throw tool_error("an LSM tree is --lsm-levels and --ratio, both");
    std::string other;
    if (!flags.kind.empty() && kind_of(flags.kind) != "bloom") other = "--kind " + flags.kind;
    if (flags.k) other = "--k";
    if (flags.prefer != "reads") other = "--prefer " + flags.prefer;
    for (const std::string& need : flags.needs)
        if (need == "delete" || need == "grow" || need == "forget") other = "--need " + need;
    if (!other.empty())
        throw tool_error(other +
                         " does not go with --lsm-levels: every level gets the best flat Bloom filter");
    to.tree.levels = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(*flags.lsm_levels, std::numeric_limits<std::uint32_t>::max()));
    to.tree.ratio = *flags.ratio;
    // Here already: a latency budget may be kept without any filter.
    ok_or_throw(planner::check_shape(to.tree));
}

void plan_budget(const plan_flags& flags, plan_report& to) {
    if (!flags.slo_ms && !flags.hit_ms && !flags.miss_ms && !flags.tolerate) return;
    if (!flags.slo_ms || !flags.hit_ms || !flags.miss_ms || !flags.tolerate || !flags.absent)
        throw tool_error(
            "a latency budget is --slo-ms, --hit-ms, --miss-ms, --absent and --tolerate, all of them");
    if (flags.rate)
        throw tool_error("--fpr and a latency budget contradict each other: the budget gives the rate");
    to.budget = planner::latency_budget{*flags.slo_ms, *flags.hit_ms,   *flags.miss_ms,
                                        *flags.absent, *flags.tolerate, std::max(1u, to.tree.levels)};
    to.latency = value_or_throw(planner::plan_latency(*to.budget));
    to.filter_needed = to.latency->rate.has_value();
}

void choose(const std::string& kind, plan_report& to) {
    if (kind.empty()) return;
    for (std::size_t i = 0; i < to.ranked.size(); ++i) {
        if (to.ranked[i].kind != kind) continue;
        if (!to.ranked[i].why_not.empty()) throw tool_error(kind + " is not suited: " + to.ranked[i].why_not);
        to.chosen = i;
    }
}

// A kind that is named shall be planned, whatever it can or cannot.
void allow_kind(const std::string& kind, planner::abilities& needs) {
    for (const auto& each : planner::all_abilities()) {
        if (each.kind != kind) continue;
        needs.fixed = needs.fixed || each.can.fixed;
        needs.forget = needs.forget || each.can.forget;
    }
}

// A size may be too small for any filter. In a tree it is enough that one level has one.
void check_useful(const plan_report& of) {
    if (of.lsm && of.filters() == 0)
        throw tool_error("the memory is too small for a filter on any of the levels");
    if (of.useful()) return;
    const candidate& best = of.best();
    std::string what = bytes_text(best.size_bytes) + " are too few for " + count_text(best.keys) +
                       " keys: a " + std::string(best.kind) + " would let " + rate_text(best.rate) +
                       " of the absent keys pass";
    goal usual{.keys = best.keys, .false_positive_rate = 0.01, .prefer = of.wanted.prefer};
    if (const auto enough = planner::design(best.kind, usual); enough && !of.wanted.k)
        what += "; at 1 % it takes " + bytes_text(enough->size_bytes);
    throw tool_error(what);
}

// The least of three: whatever else the machine does makes it slower, never faster.
double build_cost(const candidate& one, double rate) {
    double least = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto run =
            planner::measure(one.kind, {.keys = measured_keys, .false_positive_rate = rate}, 0, 1, seed);
        if (!run) return 0;
        least = seed == 1 ? run->build_ns_per_key : std::min(least, run->build_ns_per_key);
    }
    return least;
}

void forecast(const plan_flags& flags, plan_report& to) {
    if (flags.qps) {
        if (!flags.absent) throw tool_error("--qps needs --absent, the share of requests for absent keys");
        to.qps = *flags.qps;
        to.absent = *flags.absent;
        to.traffic = value_or_throw(to.lsm ? planner::plan_traffic(to.qps, to.absent, *to.lsm)
                                           : planner::plan_traffic(to.qps, to.absent, to.rate()));
    }
    if (flags.inserted) {
        to.inserted = flags.inserted;
        if (*flags.inserted == 0) throw tool_error("--inserted must be at least 1");
        if (*flags.inserted > std::uint64_t{1} << 50) throw tool_error("--inserted must be at most 2^50");
        if (to.rate_at()) to.inserted_rate = to.rate_at()(*flags.inserted);
    }
}

void choose_levels(plan_report& to) {
    to.tree.keys = to.wanted.keys;
    to.tree.size_bytes = to.wanted.size_bytes;
    to.tree.bits_per_key = to.wanted.bits_per_key;
    to.tree.reads = to.wanted.rate;
    to.lsm = value_or_throw(planner::plan_lsm(to.tree));
    if (!to.latency) return;
    // Of the tree as it is: its sum of rates is at most the one that was asked.
    const auto kept = planner::latency_at(*to.budget, to.lsm->reads);
    to.latency->late_with = kept.late;
    to.latency->mean_ms_with = kept.mean_ms;
}

void choose_kind(const plan_flags& flags, plan_report& to) {
    const std::string kind = flags.kind.empty() ? "" : kind_of(flags.kind);
    allow_kind(kind, to.wanted.needs);
    to.ranked = value_or_throw(planner::rank(to.wanted));
    choose(kind, to);
}

// One figure is enough: what is missing is what `build` takes by default, or a million keys, on whose number what a key
// costs hardly depends.
void assume(plan_report& to) {
    planner::wishes& wanted = to.wanted;
    const bool per_key = wanted.rate || wanted.bits_per_key || wanted.k;
    if (per_key && !wanted.keys && !wanted.size_bytes) {
        wanted.keys = 1'000'000;
        to.assumed = "a million keys";
    } else if (!per_key && wanted.keys.has_value() != wanted.size_bytes.has_value()) {
        wanted.rate = 0.01;
        to.assumed = "a rate of 1 %";
    }
}

} // namespace

plan_report make_report(const plan_flags& flags) {
    plan_report out;
    if (flags.absent && !flags.qps && !flags.slo_ms)
        throw tool_error("--absent says nothing without --qps or --slo-ms");
    take_tree(flags, out);
    plan_budget(flags, out);
    if (!out.filter_needed) return out;
    plan_growth(flags, out);
    planner::wishes& wanted = out.wanted;
    wanted.keys = out.capacity ? out.capacity->keys_design : flags.keys;
    wanted.rate = out.latency ? out.latency->rate : flags.rate;
    wanted.size_bytes = flags.memory;
    wanted.bits_per_key = flags.bits;
    if (flags.k) wanted.k = static_cast<std::uint32_t>(std::min<std::uint64_t>(*flags.k, 1000));
    assume(out);
    wanted.prefer = prefer_of(flags.prefer);
    wanted.needs = needs_of(flags.needs);
    wanted.keys_today = out.capacity ? out.keys_today : 0;
    if (flags.lsm_levels)
        choose_levels(out);
    else
        choose_kind(flags, out);
    out.exact = planner::exact_set_for(out.keys(), out.size_bytes());
    forecast(flags, out);
    check_useful(out);
    for (const candidate& each : out.ranked)
        out.build_ns.push_back(
            flags.measure && each.size_bytes != 0 ? build_cost(each, std::clamp(each.rate, 1e-9, 0.5)) : 0);
    return out;
}

double plan_report::bits_per_key() const {
    return lsm ? 8 * static_cast<double>(lsm->size_bytes) / static_cast<double>(lsm->keys)
               : best().bits_per_key;
}

std::string level_filters_text(const plan_report& report) {
    const std::size_t count = report.filters();
    const std::string filters =
        std::to_string(count) + (count == 1 ? " flat Bloom filter" : " flat Bloom filters");
    if (count == report.tree.levels) return filters + ", one per level";
    return filters + (count == 1 ? ", on the smallest level" : ", on the smallest levels");
}

std::string rate_words(const plan_report& report, double rate) {
    return report.lsm ? number_text(rate) + " reads in vain" : "rate " + rate_text(rate);
}

std::string abilities_text(const planner::abilities& can) {
    std::string out;
    const auto say = [&](bool holds, const char* name) {
        if (!holds) return;
        if (!out.empty()) out += " ";
        out += name;
    };
    say(can.add, "add");
    say(can.remove, "delete");
    say(can.grow, "grow");
    say(can.merge, "merge");
    say(can.fold, "fold");
    say(can.forget, "forget");
    say(can.concurrent && !can.fixed, "concurrent");
    say(can.fixed, "static");
    return out;
}

std::string date_text(const std::chrono::year_month_day& day) {
    std::array<char, 40> text;
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(day.year()),
                  static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
    return text.data();
}

} // namespace bouncer::tool
