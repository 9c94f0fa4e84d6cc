#include "verdict.h"

#include "figures.h"
#include "measure.h"
#include "options.h"
#include "statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <map>
#include <memory>

namespace bench {
namespace {

[[gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...) {
    char text[512];
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return text;
}

struct judgement {
    enum class state : std::uint8_t { ok, short_of, unmeasured } state = state::unmeasured;
    double asked = 0;
    interval value; // low and high 0: no interval
    std::string note;
};

class court {
  public:
    court(const std::vector<plugin>& plugins, const goal_list& goals, const options& chosen)
        : plugins_(plugins), goals_(goals), chosen_(chosen),
          filters_(plugins, std::max(chosen.max_bytes, std::uint64_t{8} << 30)) {}

    verdict_result run(nlohmann::json& json);

  private:
    using group_key = std::pair<std::uint64_t, double>;

    bool asked(const goal& one) const {
        return (chosen_.full || !one.full) && (!chosen_.rows || std::regex_search(one.id, *chosen_.rows));
    }
    void plan();
    void measure(verdict_result& out);
    void check_peers(verdict_result& out);
    const measured& find(const variant& what) const;
    judgement judge_one(const goal& one) const;
    std::string why_not(const variant& what) const;

    const std::vector<plugin>& plugins_;
    const goal_list& goals_;
    const options& chosen_;
    instances filters_;
    hash_pools pools_;
    std::map<group_key, std::vector<variant>> wanted_;
    std::map<group_key, std::deque<measured>> results_;
    std::map<std::string, std::string> void_peers_; // name: why
    figure_set figures_;
    double limit_now_ = 0; // ns at 1M keys
};

// The limit at 1M keys scales the goals in ns.
const variant limit_probe{.name = "atomic_blocked_bloom"};

void court::plan() {
    const auto want = [&](const variant& what) {
        auto& list = wanted_[{what.keys, what.fpr}];
        if (std::find(list.begin(), list.end(), what) == list.end()) list.push_back(what);
    };
    bool scaled = false;
    for (const goal& one : goals_.goals) {
        if (!asked(one) || !one.figure.empty()) continue;
        want(one.of);
        if (one.against) want(*one.against);
        scaled = scaled || one.scaled_by_limit;
        for (const peer_check& peer : goals_.peers)
            if (one.against && one.against->name == peer.of.name) want(peer.of);
    }
    if (scaled) want(limit_probe);
}

// Groups from small to large, filters and pools of one forgotten before the next.
void court::measure(verdict_result& out) {
    for (const auto& [key, variants] : wanted_) {
        std::fprintf(stderr, "measuring %zu variants at %s keys, %g\n", variants.size(),
                     short_number(key.first).c_str(), key.second);
        group together(plugins_, filters_, pools_);
        for (const variant& what : variants) together.add(what);
        together.run(chosen_.repeat);
        for (const measured& one : together.results()) {
            out.rows.push_back(one.result);
            out.fpr_wrong = out.fpr_wrong || one.fpr_wrong;
        }
        out.rows.insert(out.rows.end(), together.limit_rows().begin(), together.limit_rows().end());
        results_[key] = together.results();
        filters_.forget();
        pools_.forget();
    }
}

const measured& court::find(const variant& what) const {
    const auto& list = results_.at({what.keys, what.fpr});
    return *std::find_if(list.begin(), list.end(), [&](const measured& one) { return one.what == what; });
}

void court::check_peers(verdict_result& out) {
    for (const peer_check& peer : goals_.peers) {
        const auto group = wanted_.find({peer.of.keys, peer.of.fpr});
        if (group == wanted_.end() ||
            std::find(group->second.begin(), group->second.end(), peer.of) == group->second.end())
            continue;
        const measured& one = find(peer.of);
        if (!one.ok() || one.limit_rounds.empty()) continue;
        const double times = one.result.ns_min / least_of(one.limit_rounds);
        const bool bad = times > peer.times_limit * goals_.peer_tolerance;
        const auto line = text_of("peer %s: %.1f times the limit, %.1f expected%s", peer.of.name.c_str(),
                                  times, peer.times_limit, bad ? ": void" : "");
        out.lines.push_back(line);
        std::printf("%s\n", line.c_str());
        if (!bad) continue;
        void_peers_[peer.of.name] = line;
        for (row& made : out.rows)
            if (made.name.starts_with(peer.of.name + ".") && made.note.empty()) made.note = "void: " + line;
    }
}

std::string court::why_not(const variant& what) const {
    const measured& one = find(what);
    if (!one.ok()) return one.result.note;
    if (one.fpr_wrong) return "unmeasured: FPR out of bounds";
    if (const auto bad = void_peers_.find(what.name); bad != void_peers_.end()) return bad->second;
    return "";
}

judgement court::judge_one(const goal& one) const {
    judgement out;
    out.asked = one.bound;
    if (!one.figure.empty()) {
        const auto found = figures_.values.find(one.figure);
        if (found == figures_.values.end()) {
            out.note = figures_.note.empty() ? "unmeasured: no figure called " + one.figure : figures_.note;
            return out;
        }
        out.value = found->second;
        const bool met = one.at_least ? out.value.median >= out.asked : out.value.median <= out.asked;
        out.state = met ? judgement::state::ok : judgement::state::short_of;
        return out;
    }
    out.note = why_not(one.of);
    if (out.note.empty() && one.against) out.note = why_not(*one.against);
    if (one.scaled_by_limit) {
        if (limit_now_ > 0)
            out.asked *= limit_now_ / goals_.limit_ns;
        else if (out.note.empty())
            out.note = "unmeasured: no limit at 1M keys";
    }
    if (out.note.empty() && one.against_limit && find(one.of).limit_is_wrong)
        out.note = "unmeasured: the limit is wrong";
    if (!out.note.empty()) return out;

    const row& of = find(one.of).result;
    if (one.against_limit) {
        const double share = least_of(find(one.of).limit_rounds) / of.ns_min;
        out.value.median = one.measure == measure_of::cost ? 1 / share : share;
    } else if (one.against) {
        const measured& left = find(one.of);
        const measured& right = find(*one.against);
        const bool crowd = left.crowded() || right.crowded();
        const auto& of_rounds = crowd ? left.typical : left.result.rounds;
        const auto& other_rounds = crowd ? right.typical : right.result.rounds;
        const double threads = static_cast<double>(of.threads) / right.result.threads;
        switch (one.measure) {
        case measure_of::speed:
            out.value = paired_ratio(other_rounds, of_rounds);
            for (double* const part : {&out.value.median, &out.value.low, &out.value.high}) *part *= threads;
            break;
        case measure_of::cost: out.value = paired_ratio(of_rounds, other_rounds); break;
        default: out.value = paired_difference(of_rounds, other_rounds); break;
        }
    } else {
        switch (one.measure) {
        case measure_of::mops: out.value.median = of.threads * 1e3 / of.ns_min; break;
        case measure_of::bits_per_key: out.value.median = of.bits_per_key; break;
        default: out.value.median = of.ns_min; break;
        }
    }
    // A claim of a few percent rests on the interval of at least 15 pairs, not on its middle.
    constexpr double few_percent = 0.1;
    constexpr std::size_t pairs_least = 15;
    double worst = out.value.median;
    if (one.against && one.measure != measure_of::difference && std::abs(one.bound - 1) <= few_percent) {
        if (std::min(of.rounds.size(), find(*one.against).result.rounds.size()) < pairs_least) {
            out.note = "unmeasured: fewer than 15 pairs";
            return out;
        }
        worst = one.at_least ? out.value.low : out.value.high;
    }
    const bool met = one.at_least ? worst >= out.asked : worst <= out.asked;
    out.state = met ? judgement::state::ok : judgement::state::short_of;
    return out;
}

verdict_result court::run(nlohmann::json& json) {
    verdict_result out;
    plan();
    const auto wanted = [&](std::string_view name) {
        return std::any_of(goals_.goals.begin(), goals_.goals.end(),
                           [&](const goal& one) { return one.figure == name && asked(one); });
    };
    const bool figures_asked = std::any_of(goals_.goals.begin(), goals_.goals.end(), [&](const goal& one) {
        return !one.figure.empty() && asked(one);
    });
    if (wanted_.empty() && !figures_asked) throw bad_request("no goal has such an id");
    measure(out);
    if (figures_asked) {
        std::fprintf(stderr, "measuring figures\n");
        figures_ = measure_figures(chosen_, wanted);
        out.rows.insert(out.rows.end(), figures_.rows.begin(), figures_.rows.end());
    }
    if (const auto group = results_.find({limit_probe.keys, limit_probe.fpr}); group != results_.end())
        for (const measured& one : group->second)
            if (one.what == limit_probe && !one.limit_rounds.empty()) limit_now_ = least_of(one.limit_rounds);
    check_peers(out);
    for (const row& one : out.rows) {
        if (one.note.find("limit is wrong") == std::string::npos) continue;
        out.lines.push_back(text_of("%s at %s keys: %.2f of its limit: the limit is wrong", one.name.c_str(),
                                    short_number(one.keys).c_str(), one.limit_ratio));
        std::printf("%s\n", out.lines.back().c_str());
    }
    if (limit_now_ > 0)
        std::printf("limit at 1M keys: %.2f ns; goals in ns are scaled by %.2f\n", limit_now_,
                    limit_now_ / goals_.limit_ns);

    json = {{"goals", nlohmann::json::array()}};
    for (const goal& one : goals_.goals) {
        if (!asked(one)) continue;
        const judgement found = judge_one(one);
        const char* const state = found.state == judgement::state::ok         ? "ok"
                                  : found.state == judgement::state::short_of ? "short"
                                                                              : "unmeasured";
        out.ok += found.state == judgement::state::ok;
        out.short_of += found.state == judgement::state::short_of;
        out.unmeasured += found.state == judgement::state::unmeasured;
        std::string measured_text = found.note;
        if (found.note.empty()) {
            measured_text = text_of("%8.3f", found.value.median);
            if (found.value.high > 0)
                measured_text += text_of(" [%.3f, %.3f]", found.value.low, found.value.high);
        }
        const auto line =
            text_of("%-10s %-30s asked %s %8.3f  measured %-26s  %s", state, one.id.c_str(),
                    one.at_least ? ">=" : "<=", found.asked, measured_text.c_str(), one.title.c_str());
        out.lines.push_back(line);
        std::printf("%s\n", line.c_str());
        nlohmann::json entry{{"id", one.id},         {"title", one.title},
                             {"asked", found.asked}, {"at_least", one.at_least},
                             {"state", state},       {"note", found.note}};
        if (found.note.empty()) {
            entry["measured"] = found.value.median;
            if (found.value.high > 0) entry["interval"] = {found.value.low, found.value.high};
        }
        json["goals"].push_back(std::move(entry));
    }
    const auto counts = text_of("%u ok, %u short, %u unmeasured", out.ok, out.short_of, out.unmeasured);
    out.lines.push_back(counts);
    std::printf("%s\n", counts.c_str());
    json["ok"] = out.ok;
    json["short"] = out.short_of;
    json["unmeasured"] = out.unmeasured;
    return out;
}

} // namespace

verdict_result judge(const std::vector<plugin>& plugins, const goal_list& goals, const options& chosen,
                     nlohmann::json& json) {
    return court(plugins, goals, chosen).run(json);
}

} // namespace bench
