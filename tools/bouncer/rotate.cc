// bouncer rotate: the next step of a windowed_bloom, which forgets what is older than its window.
#include "commands.h"
#include "keyless_filter.h"
#include "numbers.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"
#include "window.h"

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
    std::optional<std::chrono::nanoseconds> window;
    bool force = false;
    bool json = false;
    bool quiet = false;
};

window_state state_of(keyless_filter& stored) {
    const auto found = window_state_of(stored.filter);
    if (!found) throw tool_error(stored.path + ": " + stored.filter.rotate_to(0).error().message);
    return *found;
}

// The window by which the file is rotated: its own; or the one that was given, which it has from now on.
std::chrono::nanoseconds window_of(const rotate_options& chosen, const keyless_filter& stored) {
    const std::chrono::nanoseconds told = stored.info.window;
    if (told.count() == 0 && !chosen.window)
        throw tool_error(stored.path +
                         ": the file does not say how long its window is: give --window, such as "
                         "--window 24h, once");
    if (told.count() != 0 && chosen.window && *chosen.window != told)
        throw tool_error(stored.path + ": its window is " + window_text(told) + ", not " +
                         window_text(*chosen.window) + "; leave --window out, or build it anew with another");
    return told.count() != 0 ? told : *chosen.window;
}

void refuse_to_forget_all(const rotate_options& chosen, const window_state& before, std::uint64_t epoch,
                          bool by_hand) {
    if (!forgets_all(before, epoch)) return;
    std::string why = chosen.path + ": from epoch " + std::to_string(before.epoch) + " to " +
                      std::to_string(epoch) + " is more than its whole window (" +
                      std::to_string(before.steps) +
                      " steps): every key would be forgotten. Nothing was changed; ";
    // Its epochs were never those of a clock: no window fits.
    why += chosen.now && by_hand ? "it was built without --window, so its steps are numbered by hand: give "
                                   "--epoch " +
                                       std::to_string(before.epoch + 1) +
                                       ", or build it anew with --window (--force begins the clock's steps, "
                                       "without a key)"
                                 : std::string("--force does it");
    throw tool_error(why);
}

int rotate(const rotate_options& chosen) {
    if (chosen.epoch.has_value() == chosen.now) throw tool_error("give either --epoch N or --now");
    change_lock lock = lock_to_change(chosen.path);
    keyless_filter stored = open_keyless(chosen.path, access::load);
    const window_state before = state_of(stored);
    const std::chrono::nanoseconds told = stored.info.window;
    if (chosen.epoch && told.count() != 0)
        throw tool_error(chosen.path + ": its steps are those of its window of " + window_text(told) +
                         " by the clock: rotate --now, without --epoch");
    if (chosen.now) stored.info.window = window_of(chosen, stored);
    const std::uint64_t epoch =
        chosen.now ? schedule_of(stored.info.window, before.steps).epoch_now() : *chosen.epoch;
    if (!chosen.force) refuse_to_forget_all(chosen, before, epoch, told.count() == 0);
    ok_or_throw(stored.filter.rotate_to(epoch), chosen.path);
    if (epoch != before.epoch || stored.info.window != told) save_back(stored, lock);
    const auto keys = stored.filter.approximate_size();
    if (chosen.json) {
        nlohmann::ordered_json report{
            {"file", json_text(chosen.path)}, {"epoch_before", before.epoch}, {"epoch", epoch},
            {"window_steps", before.steps},   {"window_seconds", nullptr},    {"keys_estimated", nullptr}};
        if (const auto seconds = window_seconds(stored.info.window)) report["window_seconds"] = *seconds;
        if (keys) report["keys_estimated"] = *keys;
        std::cout << report.dump(2) << '\n';
    } else if (!chosen.quiet) {
        std::cerr << line_text(chosen.path) << ": epoch " << before.epoch << " to " << epoch;
        if (stored.info.window.count() != 0) std::cerr << ", window " << window_text(stored.info.window);
        if (keys) std::cerr << ", about " << short_count_text(*keys) << " keys in it";
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
    auto* const epoch = add_count(
        command, "--epoch", chosen->epoch,
        "For a file that does not know its window: the number of the step that begins, never less than "
        "before: --epoch 7");
    auto* const now = command
                          .add_flag("--now", chosen->now,
                                    "The step that the clock says, by the window that the file was built "
                                    "with: rotate --now seen.bnc")
                          ->excludes(epoch);
    add_window(command, chosen->window,
               "For a file that does not know its window: how long a key is remembered. The file keeps it: "
               "--now --window 24h")
        ->needs(now);
    command.add_flag("--force", chosen->force,
                     "Rotate even if no key is left then: rotate --now --force seen.bnc");
    command.add_flag("-q,--quiet", chosen->quiet,
                     "No line about what was done: rotate -q seen.bnc --epoch 7");
    command.add_flag("--json", chosen->json, "What was done, as JSON: rotate --json seen.bnc --epoch 7");
    command.footer(
        "A key is found for the whole window after its last add, and gone one step (a sixth of it) later.\n"
        "A rotation over the whole window, which forgets every key, is refused without --force: so a file "
        "that\n"
        "was not rotated for that long keeps its keys until somebody looks. From cron, once a step or more "
        "often;\n"
        "the same step again changes nothing:\n"
        "  bouncer build --kind windowed_bloom --window 24h --expect 1M -o seen.bnc first.txt\n"
        "  bouncer rotate --now seen.bnc");
    return [chosen] { return rotate(*chosen); };
}

} // namespace bouncer::tool
