#include <bouncer/detail/format.h>
#include <bouncer/planner.h>

#include "planner/asked.h"

#include <cmath>

namespace bouncer::planner {

namespace {

constexpr double days_per_year = 365.2425; // the Gregorian mean

} // namespace

double keys_after(std::uint64_t keys_today, double per_year, double years) {
    return static_cast<double>(keys_today) * std::pow(1 + per_year, years);
}

std::optional<double> years_until(std::uint64_t keys_today, std::uint64_t keys_full, double per_year) {
    if (keys_full <= keys_today) return 0.0;
    if (!(per_year > 0) || keys_today == 0) return std::nullopt;
    return std::log(static_cast<double>(keys_full) / static_cast<double>(keys_today)) / std::log1p(per_year);
}

double growth_per_year(double per_period, double period_days) {
    return std::expm1(std::log1p(per_period) * (days_per_year / period_days));
}

result<capacity_plan> plan_capacity(std::uint64_t keys_today, const growth& expected) {
    return detail::guarded([&]() -> result<capacity_plan> {
        using detail::scientific;
        if (keys_today == 0)
            return failure{error_code::invalid_argument, "keys must be at least 1, and is 0"};
        if (!(expected.per_year > -1) || !std::isfinite(expected.per_year))
            return failure{error_code::invalid_argument, "growth must be above -100 %, and is " +
                                                             scientific(100 * expected.per_year) +
                                                             " % a year"};
        if (!(expected.years >= 0) || !(expected.years <= 1000))
            return failure{error_code::invalid_argument,
                           "years must be 0 to 1000, and is " + scientific(expected.years)};
        if (!(expected.headroom >= 1) || !(expected.headroom <= 1e6))
            return failure{error_code::invalid_argument,
                           "headroom is a factor from 1 to 10^6, and is " + scientific(expected.headroom)};
        const double end = keys_after(keys_today, expected.per_year, expected.years);
        // Keys that become fewer still must fit today.
        const double design = std::max(end, static_cast<double>(keys_today)) * expected.headroom;
        if (!(design <= static_cast<double>(keys_most)))
            return failure{error_code::too_large, std::to_string(keys_today) + " keys become " +
                                                      scientific(design) +
                                                      ", headroom counted: more than 2^48"};
        capacity_plan out;
        out.keys_at_end = static_cast<std::uint64_t>(std::ceil(end));
        out.keys_design = static_cast<std::uint64_t>(std::ceil(design));
        out.years_until_full = years_until(keys_today, out.keys_design, expected.per_year);
        if (out.keys_design == keys_today && !(expected.per_year > 0)) out.years_until_full.reset();
        return out;
    });
}

std::optional<std::chrono::year_month_day> day_after(std::chrono::year_month_day start, double years) {
    using namespace std::chrono;
    const double passed = std::floor(years * days_per_year);
    if (!(passed >= 0) || passed > 4e6) return std::nullopt;
    const year_month_day out{sys_days{start} + days{static_cast<int>(passed)}};
    if (out.year() > year{9999}) return std::nullopt;
    return out;
}

} // namespace bouncer::planner
