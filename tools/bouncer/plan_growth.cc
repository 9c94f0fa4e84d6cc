#include "plan_growth.h"

#include "numbers.h"

#include <bouncer/planner.h>

#include <array>
#include <charconv>
#include <string>

namespace bouncer::tool {

namespace {

struct period {
    std::string_view name;
    double days;
};
constexpr std::array<period, 4> periods{
    {{"year", 365.2425}, {"month", 365.2425 / 12}, {"week", 7}, {"day", 1}}};

failure nonsense(std::string_view text, const char* why) {
    return {error_code::invalid_argument, std::string(text) + ": " + why};
}

} // namespace

result<double> parse_growth(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::string_view every = slash == text.npos ? "" : text.substr(slash + 1);
    std::string_view amount = text.substr(0, slash);
    const bool percent = amount.ends_with('%');
    if (percent) amount.remove_suffix(1);
    const auto number = parse_number(amount);
    if (!number) return nonsense(text, "not a growth; 30%/year, 2%/month, 1%/week and 0.5%/day are");
    const double each = percent ? *number / 100 : *number;
    for (const period& one : periods) {
        if (one.name != every) continue;
        if (!(each > -1)) return nonsense(text, "growth must be above -100 %: no keys would be left");
        if (!(each <= 1e6)) return nonsense(text, "growth must be at most a millionfold per period");
        return planner::growth_per_year(each, one.days);
    }
    return nonsense(text, "growth needs a period: /year, /month, /week or /day");
}

result<std::chrono::year_month_day> parse_day(std::string_view text) {
    const auto number = [&](std::size_t from, std::size_t count) {
        int out = -1;
        const char* const end = text.data() + from + count;
        const auto read = std::from_chars(text.data() + from, end, out);
        return read.ec == std::errc{} && read.ptr == end ? out : -1;
    };
    if (text.size() == 10 && text[4] == '-' && text[7] == '-') {
        const int y = number(0, 4);
        const int m = number(5, 2);
        const int d = number(8, 2);
        if (y >= 0 && m >= 0 && d >= 0) {
            const std::chrono::year_month_day day{std::chrono::year{y},
                                                  std::chrono::month{static_cast<unsigned>(m)},
                                                  std::chrono::day{static_cast<unsigned>(d)}};
            if (day.ok()) return day;
        }
    }
    return nonsense(text, "not a day; 2026-11-16 is");
}

} // namespace bouncer::tool
