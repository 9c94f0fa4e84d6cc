// The window of a windowed_bloom in a file: how long it remembers a key, by the clock.
#pragma once

#include <bouncer/window_schedule.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace bouncer::tool {

// --window TIME. Refuses what is no time, or more than 285 years.
CLI::Option* add_window(CLI::App& command, std::optional<std::chrono::nanoseconds>& target,
                        const std::string& help);

// "24 h", "7 days", "90 min"; "not told" for 0.
std::string window_text(std::chrono::nanoseconds window);

// Nothing for 0: it is not told.
std::optional<double> window_seconds(std::chrono::nanoseconds window);

// Throws tool_error where the window cannot be cut into so many steps.
window_schedule schedule_of(std::chrono::nanoseconds window, std::uint32_t steps);

} // namespace bouncer::tool
