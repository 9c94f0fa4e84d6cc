// The window of a windowed_bloom in a file: how long it remembers a key, by the clock.
#pragma once

#include <bouncer/any_filter.h>
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

// A windowed_bloom, as far as rotation goes.
struct window_state {
    std::uint64_t epoch;
    std::uint32_t steps;
    bool empty; // no key is in the window
};
// Nothing for other kinds.
std::optional<window_state> window_state_of(const any_filter& filter);

// Whether a rotation to `epoch` leaves no key of those that there are. One of the current step is still found after `steps`
// steps.
bool forgets_all(const window_state& before, std::uint64_t epoch);

// Before keys are added to a filter in a file: the step that the clock says, if the file tells its window. Otherwise the keys
// would be of a step that is over. Throws tool_error where that would forget every key.
void rotate_to_now(any_filter& filter, const snapshot_info& info, const std::string& path);

} // namespace bouncer::tool
