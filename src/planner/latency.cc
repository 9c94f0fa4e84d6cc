#include <bouncer/detail/format.h>
#include <bouncer/planner.h>

#include <algorithm>
#include <cmath>

namespace bouncer::planner {

namespace {

using detail::scientific;

failure nonsense(const std::string& message) {
    return {error_code::invalid_argument, message};
}

result<void> check(const latency_budget& budget) {
    const auto time = [](const char* name, double ms) -> result<void> {
        if (!(ms >= 0) || !std::isfinite(ms))
            return nonsense(std::string(name) + " must be a time of 0 ms or more, and is " + scientific(ms));
        return {};
    };
    if (auto ok = time("the limit", budget.slo_ms); !ok) return ok;
    if (budget.slo_ms == 0) return nonsense("the limit must be above 0 ms: every request takes longer");
    if (auto ok = time("hit", budget.hit_ms); !ok) return ok;
    if (auto ok = time("miss", budget.miss_ms); !ok) return ok;
    if (!(budget.absent >= 0 && budget.absent <= 1))
        return nonsense("the share of absent keys must be 0 to 1, and is " + scientific(budget.absent));
    if (!(budget.tolerate >= 0 && budget.tolerate <= 1))
        return nonsense("the tolerated share must be 0 to 1, and is " + scientific(budget.tolerate));
    if (budget.levels == 0) return nonsense("levels must be at least 1, and is 0");
    return {};
}

// Searches in vain that make a request late; 0 where not even all levels do.
double misses_to_be_late(const latency_budget& budget) {
    const double levels = budget.levels;
    if (!(levels * budget.miss_ms > budget.slo_ms)) return 0;
    return std::min(levels, std::floor(budget.slo_ms / budget.miss_ms) + 1);
}

double late_present(const latency_budget& budget) {
    return budget.hit_ms > budget.slo_ms ? 1 - budget.absent : 0;
}

std::string percent(double share) {
    return scientific(100 * share) + " %";
}

} // namespace

latency_share latency_at(const latency_budget& budget, double rate) {
    const double needed = misses_to_be_late(budget);
    const double late_absent = needed == 0 ? 0 : std::min(1.0, rate / needed);
    return {late_present(budget) + budget.absent * late_absent,
            (1 - budget.absent) * budget.hit_ms + budget.absent * rate * budget.miss_ms};
}

result<latency_plan> plan_latency(const latency_budget& budget) {
    return detail::guarded([&]() -> result<latency_plan> {
        if (auto ok = check(budget); !ok) return ok.error();
        const double late_hits = late_present(budget);
        const latency_share without = latency_at(budget, budget.levels);
        latency_plan out{std::nullopt, without.late, without.mean_ms, without.late, without.mean_ms};
        if (late_hits > budget.tolerate)
            return nonsense("no filter can help: requests for present keys take " +
                            scientific(budget.hit_ms) + " ms, above the limit of " +
                            scientific(budget.slo_ms) + " ms, and are " + percent(late_hits) +
                            " of all, above the tolerated " + percent(budget.tolerate));
        if (out.late_without <= budget.tolerate) return out; // kept without a filter
        const double left = budget.tolerate - late_hits;
        if (!(left > 0))
            return nonsense("no filter can help: a tolerated share of " + percent(budget.tolerate) +
                            " leaves no room for a single false positive of " + scientific(budget.miss_ms) +
                            " ms");
        // left / absent is below 1, because the budget is broken without a filter.
        out.rate = misses_to_be_late(budget) * left / budget.absent;
        const latency_share with = latency_at(budget, *out.rate);
        out.late_with = with.late;
        out.mean_ms_with = with.mean_ms;
        return out;
    });
}

namespace {

result<traffic> traffic_of(double requests_per_s, double absent, double spared, double reads) {
    if (!(requests_per_s > 0) || !std::isfinite(requests_per_s))
        return nonsense("requests per second must be above 0, and is " + scientific(requests_per_s));
    if (!(absent >= 0 && absent <= 1))
        return nonsense("the share of absent keys must be 0 to 1, and is " + scientific(absent));
    traffic out;
    out.avoided_per_s = requests_per_s * absent * spared;
    out.wasted_per_s = requests_per_s * absent * reads;
    out.remaining_per_s = requests_per_s * (1 - absent) + out.wasted_per_s;
    return out;
}

} // namespace

result<traffic> plan_traffic(double requests_per_s, double absent, double rate) {
    return detail::guarded([&]() -> result<traffic> {
        if (!(rate >= 0 && rate <= 1)) return nonsense("the rate must be 0 to 1, and is " + scientific(rate));
        return traffic_of(requests_per_s, absent, 1 - rate, rate);
    });
}

// The levels hold other keys, so their filters err independently of each other.
result<traffic> plan_traffic(double requests_per_s, double absent, const lsm_split& tree) {
    return detail::guarded([&]() -> result<traffic> {
        double spared = 1;
        for (const lsm_level& level : tree.levels) spared *= 1 - level.rate;
        return traffic_of(requests_per_s, absent, spared, tree.reads);
    });
}

} // namespace bouncer::planner
