// window_schedule: from clock time to epochs, for windowed_bloom. "24 hours in 6 steps" is an epoch every four hours since
// 1970, so replicas with the same schedule have the same epochs; a filter itself never looks at a clock.
#pragma once

#include <bouncer/result.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace bouncer {

class window_schedule {
  public:
    using clock_time = std::chrono::sys_time<std::chrono::nanoseconds>;

    // [any-thread] `steps` is the filter's window_steps(), 1 to 6. Refuses (invalid_argument) a window that is not positive
    // or not divisible into that many steps.
    static result<window_schedule> make(std::chrono::nanoseconds window, std::uint32_t steps) {
        return detail::guarded([&]() -> result<window_schedule> {
            if (steps == 0 || steps > 6)
                return failure{error_code::invalid_argument,
                               "a window has 1 to 6 steps, and this one " + std::to_string(steps)};
            if (window.count() <= 0 || window.count() % steps != 0)
                return failure{error_code::invalid_argument, "a window of " + std::to_string(window.count()) +
                                                                 " ns cannot be cut into " +
                                                                 std::to_string(steps) + " equal steps"};
            return window_schedule(window / steps, steps);
        });
    }

    // [immutable] The epoch of a moment; 0 for all moments before 1970.
    std::uint64_t epoch_at(clock_time when) const noexcept {
        return when.time_since_epoch().count() <= 0
                   ? 0
                   : static_cast<std::uint64_t>(when.time_since_epoch().count() / step_.count());
    }
    // [any-thread] Of now, by the system's clock.
    std::uint64_t epoch_now() const noexcept {
        return epoch_at(
            std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now()));
    }
    // [immutable] When an epoch begins: to know how long to wait for it. Beyond the clock's range (the year 2262): its end.
    clock_time begin_of(std::uint64_t epoch) const noexcept {
        const auto last =
            static_cast<std::uint64_t>(clock_time::max().time_since_epoch().count() / step_.count());
        if (epoch > last) return clock_time::max();
        return clock_time(step_ * static_cast<std::int64_t>(epoch));
    }
    // [immutable]
    std::chrono::nanoseconds step() const noexcept { return step_; }
    std::uint32_t steps() const noexcept { return steps_; }
    std::uint32_t live() const noexcept { return steps_ + 1; } // generations that the filter needs

  private:
    window_schedule(std::chrono::nanoseconds step, std::uint32_t steps) noexcept
        : step_(step), steps_(steps) {}

    std::chrono::nanoseconds step_;
    std::uint32_t steps_;
};

} // namespace bouncer
