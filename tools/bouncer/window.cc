#include "window.h"

#include "numbers.h"
#include "text.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>

#include <array>
#include <utility>

namespace bouncer::tool {

using namespace std::chrono_literals;

CLI::Option* add_window(CLI::App& command, std::optional<std::chrono::nanoseconds>& target,
                        const std::string& help) {
    const auto parse = [&target](const std::string& text) {
        constexpr double most_seconds = 9e9; // 285 years: nanoseconds of 64 bits end there
        const auto seconds = parse_seconds(text);
        if (!seconds) throw CLI::ValidationError("--window", seconds.error().message);
        if (*seconds > most_seconds)
            throw CLI::ValidationError("--window", number_text(*seconds) + " s are more than 285 years");
        target = std::chrono::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9 + 0.5));
    };
    return command.add_option_function<std::string>("--window", parse, help)->type_name("TIME");
}

std::string window_text(std::chrono::nanoseconds window) {
    if (window.count() == 0) return "not told";
    constexpr std::array<std::pair<std::chrono::nanoseconds, const char*>, 5> units{
        {{24h, " days"}, {1h, " h"}, {1min, " min"}, {1s, " s"}, {1ms, " ms"}}};
    for (const auto& [unit, name] : units)
        if (window % unit == 0ns && (unit != 24h || window >= 48h))
            return std::to_string(window / unit) + name;
    return number_text(*window_seconds(window), 17) + " s";
}

std::optional<double> window_seconds(std::chrono::nanoseconds window) {
    if (window.count() == 0) return std::nullopt;
    return std::chrono::duration<double>(window).count();
}

window_schedule schedule_of(std::chrono::nanoseconds window, std::uint32_t steps) {
    auto made = window_schedule::make(window, steps);
    if (!made)
        throw tool_error("--window: " + window_text(window) + " cannot be cut into " + std::to_string(steps) +
                         " equal steps: take a multiple of " + std::to_string(steps) +
                         " seconds, minutes or hours, such as " + std::to_string(2 * steps) + "s");
    return *made;
}

std::optional<window_state> window_state_of(const any_filter& filter) {
    return filter.visit([]<class F>(const F& f) -> std::optional<window_state> {
        if constexpr (requires { f.window_steps(); })
            return window_state{f.epoch(), f.window_steps(), f.fill_ratio() == 0};
        else
            return std::nullopt;
    });
}

bool forgets_all(const window_state& before, std::uint64_t epoch) {
    return !before.empty && epoch > before.epoch && epoch - before.epoch > before.steps;
}

void rotate_to_now(any_filter& filter, const snapshot_info& info, const std::string& path) {
    const auto before = window_state_of(filter);
    if (!before || info.window.count() == 0) return;
    const std::uint64_t now = schedule_of(info.window, before->steps).epoch_now();
    if (now <= before->epoch) return;
    if (forgets_all(*before, now))
        throw tool_error(path + ": all of its keys are older than its window of " + window_text(info.window) +
                         ". Nothing was added; `bouncer rotate --now --force` forgets them, then it takes "
                         "new ones");
    ok_or_throw(filter.rotate_to(now), path);
}

} // namespace bouncer::tool
