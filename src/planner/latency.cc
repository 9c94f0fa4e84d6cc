#include <bouncer/detail/format.h>
#include <bouncer/planner.h>

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
    return {};
}

std::string percent(double share) {
    return scientific(100 * share) + " %";
}

} // namespace

result<latency_plan> plan_latency(const latency_budget& budget) {
    return detail::guarded([&]() -> result<latency_plan> {
        if (auto ok = check(budget); !ok) return ok.error();
        const double present = 1 - budget.absent;
        const double late_present = budget.hit_ms > budget.slo_ms ? present : 0;
        const bool misses_late = budget.miss_ms > budget.slo_ms;
        latency_plan out;
        out.late_without = late_present + (misses_late ? budget.absent : 0);
        out.mean_ms_without = present * budget.hit_ms + budget.absent * budget.miss_ms;
        if (late_present > budget.tolerate)
            return nonsense("no filter can help: requests for present keys take " +
                            scientific(budget.hit_ms) + " ms, above the limit of " +
                            scientific(budget.slo_ms) + " ms, and are " + percent(present) +
                            " of all, above the tolerated " + percent(budget.tolerate));
        out.late_with = out.late_without;
        out.mean_ms_with = out.mean_ms_without;
        if (out.late_without <= budget.tolerate) return out; // kept without a filter
        const double left = budget.tolerate - late_present;
        if (!(left > 0))
            return nonsense("no filter can help: a tolerated share of " + percent(budget.tolerate) +
                            " leaves no room for a single false positive of " + scientific(budget.miss_ms) +
                            " ms");
        out.rate = left / budget.absent; // below 1, because the budget is broken without a filter
        out.late_with = late_present + budget.absent * *out.rate;
        out.mean_ms_with = present * budget.hit_ms + budget.absent * *out.rate * budget.miss_ms;
        return out;
    });
}

result<traffic> plan_traffic(double requests_per_s, double absent, double rate) {
    return detail::guarded([&]() -> result<traffic> {
        if (!(requests_per_s > 0) || !std::isfinite(requests_per_s))
            return nonsense("requests per second must be above 0, and is " + scientific(requests_per_s));
        if (!(absent >= 0 && absent <= 1))
            return nonsense("the share of absent keys must be 0 to 1, and is " + scientific(absent));
        if (!(rate >= 0 && rate <= 1)) return nonsense("the rate must be 0 to 1, and is " + scientific(rate));
        traffic out;
        out.avoided_per_s = requests_per_s * absent * (1 - rate);
        out.wasted_per_s = requests_per_s * absent * rate;
        out.remaining_per_s = requests_per_s * (1 - absent) + out.wasted_per_s;
        return out;
    });
}

} // namespace bouncer::planner
