#include "commands.h"

#include <array>

namespace bouncer::tool {

namespace {

constexpr std::array commands{
    subcommand{"plan", "Choose a filter: sizes, rates, growth, latency, LSM levels", add_plan},
    subcommand{"build", "Make a filter of the keys in files or a pipe", add_build, on_signal::finish},
    subcommand{"check", "Print the lines that may be present in a filter", add_check, on_signal::finish},
    subcommand{"dedup", "Print the first occurrence of each line, in order", add_dedup, on_signal::finish},
    subcommand{"add", "Add keys to a filter", add_add, on_signal::finish},
    subcommand{"remove", "Remove keys from a counting filter", add_remove, on_signal::finish},
    subcommand{"merge", "Make the union of filters", add_merge},
    subcommand{"fold", "Make a filter smaller without its keys", add_fold},
    subcommand{"rotate", "Begin the next step of a filter that forgets", add_rotate},
    subcommand{"info", "Tell what a filter is, holds and promises", add_info},
    subcommand{"verify", "Check every byte of a filter against its checksums", add_verify},
    subcommand{"overlap", "Estimate how many keys two filters share", add_overlap},
    subcommand{"doctor", "Find what is wrong with a filter, and what to do", add_doctor},
    subcommand{"import", "Make a filter of a file of another program", add_import},
    subcommand{"export", "Write a filter as another program's file", add_export},
    subcommand{"bench", "Measure a filter on this machine", add_bench, on_signal::finish},
};

} // namespace

std::span<const subcommand> all_subcommands() {
    return commands;
}

} // namespace bouncer::tool
