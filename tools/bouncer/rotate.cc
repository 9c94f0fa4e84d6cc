// bouncer rotate: the next step of a windowed_bloom, which forgets what is older than its window.
#include "commands.h"
#include "keyless_filter.h"
#include "numbers.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include <bouncer/window_schedule.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>

namespace bouncer::tool {

namespace {

struct rotate_options {
    std::string path;
    std::optional<std::uint64_t> epoch;
    bool now = false;
    std::optional<double> window_seconds;
    bool json = false;
    bool quiet = false;
};

std::uint64_t epoch_now(const rotate_options& chosen, std::uint32_t steps) {
    constexpr double most_seconds = 9e9; // 285 years: nanoseconds of 64 bits end there
    if (!chosen.window_seconds) throw tool_error("--now needs --window, such as --window 24h");
    if (*chosen.window_seconds > most_seconds)
        throw tool_error("--window: " + number_text(*chosen.window_seconds) + " s are more than 285 years");
    const auto window =
        std::chrono::nanoseconds(static_cast<std::int64_t>(*chosen.window_seconds * 1e9 + 0.5));
    return value_or_throw(window_schedule::make(window, steps), "--window").epoch_now();
}

int rotate(const rotate_options& chosen) {
    if (chosen.epoch.has_value() == chosen.now)
        throw tool_error("give either --epoch N, or --now with --window");
    change_lock lock = lock_to_change(chosen.path);
    keyless_filter stored = open_keyless(chosen.path, access::load);
    const auto found = stored.filter.visit([]<class F>(const F& f) {
        if constexpr (requires { f.window_steps(); })
            return std::optional(std::pair(f.epoch(), f.window_steps()));
        else
            return std::optional<std::pair<std::uint64_t, std::uint32_t>>();
    });
    if (!found) throw tool_error(chosen.path + ": " + stored.filter.rotate_to(0).error().message);
    const auto [before, steps] = *found;
    const std::uint64_t epoch = chosen.now ? epoch_now(chosen, steps) : *chosen.epoch;
    ok_or_throw(stored.filter.rotate_to(epoch), chosen.path);
    if (epoch != before) save_back(stored, stored.info.keys_added, lock);
    const auto keys = stored.filter.approximate_size();
    if (chosen.json) {
        nlohmann::ordered_json report{{"file", json_text(chosen.path)},
                                      {"epoch_before", before},
                                      {"epoch", epoch},
                                      {"window_steps", steps},
                                      {"keys_estimated", nullptr}};
        if (keys) report["keys_estimated"] = *keys;
        std::cout << report.dump(2) << '\n';
    } else if (!chosen.quiet) {
        std::cerr << line_text(chosen.path) << ": epoch " << before << " to " << epoch;
        if (keys) std::cerr << ", about " << short_count_text(*keys) << " keys in the window";
        std::cerr << '\n';
    }
    return exit_done;
}

} // namespace

run_function add_rotate(CLI::App& command) {
    auto chosen = std::make_shared<rotate_options>();
    command.add_option("FILTER", chosen->path, "A windowed_bloom: bouncer rotate seen.bnc --epoch 7")
        ->type_name("FILE.bnc")
        ->required();
    auto* const epoch = add_count(command, "--epoch", chosen->epoch,
                                  "The number of the step that begins, never less than before: --epoch 7");
    auto* const now = command
                          .add_flag("--now", chosen->now,
                                    "The step that the clock says, counted since 1970: --now --window 24h")
                          ->excludes(epoch);
    command
        .add_option_function<std::string>(
            "--window",
            [chosen](const std::string& text) {
                auto seconds = parse_seconds(text);
                if (!seconds) throw CLI::ValidationError("--window", seconds.error().message);
                chosen->window_seconds = *seconds;
            },
            "How long a key is remembered, a multiple of the filter's steps: --now --window 24h")
        ->type_name("TIME")
        ->needs(now);
    command.add_flag("-q,--quiet", chosen->quiet,
                     "No line about what was done: rotate -q seen.bnc --epoch 7");
    command.add_flag("--json", chosen->json, "What was done, as JSON: rotate --json seen.bnc --epoch 7");
    command.footer(
        "A key is found for the whole window after its last add, and gone one step later. From cron,\n"
        "every hour or oftener for a day in six steps of four hours; the same step again changes nothing:\n"
        "  bouncer rotate seen.bnc --now --window 24h");
    return [chosen] { return rotate(*chosen); };
}

} // namespace bouncer::tool
