// The subcommands: one file each, and one line in the table of subcommands.cc.
#pragma once

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace bouncer::tool {

// Runs a subcommand whose flags have been read; returns the exit code. Throws tool_error and quiet_exit.
using run_function = std::function<int()>;

run_function add_plan(CLI::App& command);
run_function add_build(CLI::App& command);
run_function add_check(CLI::App& command);
run_function add_dedup(CLI::App& command);
run_function add_add(CLI::App& command);
run_function add_remove(CLI::App& command);
run_function add_merge(CLI::App& command);
run_function add_fold(CLI::App& command);
run_function add_rotate(CLI::App& command);
run_function add_info(CLI::App& command);
run_function add_verify(CLI::App& command);
run_function add_overlap(CLI::App& command);
run_function add_doctor(CLI::App& command);
run_function add_import(CLI::App& command);
run_function add_export(CLI::App& command);
run_function add_bench(CLI::App& command);

// What SIGINT and SIGTERM do: end it at once, or make interrupted() true (signals.h), where it has an end of its own: the
// last whole line, a commit, the figures so far.
enum class on_signal : bool { die, finish };

// Name, one line, and the function above.
struct subcommand {
    const char* name;
    const char* summary;
    run_function (*add)(CLI::App&);
    on_signal signal = on_signal::die;
};
std::span<const subcommand> all_subcommands();

// The whole command; returns its exit code.
int run(int argc, char** argv);

} // namespace bouncer::tool
