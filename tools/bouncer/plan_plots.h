// The plots of the page, each with what it shows in words.
#pragma once

#include "plan_report.h"

namespace bouncer::tool {

// Of how many keys the filters are that stand for the dots.
inline constexpr std::uint64_t dot_keys = 100'000;

std::string memory_plot(const plan_report& report); // over the rate, every kind, with measured dots
std::string fill_plot(const plan_report& report);   // the rate over the fill, with measured dots
std::string growth_plot(const plan_report& report);
std::string lsm_plot(const plan_report& report);

// The classes of a kind's lines and dots: a hue, and a dash for static ones and those that forget.
std::string kind_style(const planner::candidate& one);

} // namespace bouncer::tool
