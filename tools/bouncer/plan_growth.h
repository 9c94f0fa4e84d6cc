// Growth and days as people write them.
#pragma once

#include <bouncer/result.h>

#include <chrono>
#include <string_view>

namespace bouncer::tool {

// 30%/year, 0.02/month, 1%/week, 0.5%/day: compound growth per year.
result<double> parse_growth(std::string_view text);
// 2026-11-16
result<std::chrono::year_month_day> parse_day(std::string_view text);

} // namespace bouncer::tool
