// Reads the command line, runs the subcommand that it names, and makes one line and an exit code of what it throws.
#include "commands.h"
#include "keyless_filter.h"
#include "nearest.h"
#include "signals.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace bouncer::tool {

int complain(const std::string& name, const std::string& message) {
    std::cerr << "bouncer" << (name.empty() ? "" : " " + name) << ": " << line_text(message) << '\n';
    return exit_error;
}

namespace {

std::string flag_suggestion(const CLI::App& app, const std::string& written) {
    std::vector<std::string> flags;
    for (const CLI::Option* const option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
        for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    }
    return suggestion(written, flags);
}

// What is wrong with a command line. A flag that nobody knows is said before whatever is missing because of it.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
    std::string word;
    for (const std::string& each : app.remaining()) {
        if (each == "--") continue;
        if (each.size() < 2 || each[0] != '-') {
            if (word.empty()) word = each;
            continue;
        }
        const std::string flag = each.substr(0, each.find('='));
        return "there is no flag " + flag + flag_suggestion(app, flag);
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !word.empty())
        return "one word too many: \"" + word + '"';
    return error.what();
}

std::string command_suggestion(const std::string& written) {
    std::vector<std::string> names;
    for (const subcommand& each : all_subcommands()) names.emplace_back(each.name);
    return suggestion(written, names);
}

} // namespace

int run(int argc, char** argv) {
    CLI::App app("Filters in front of what is expensive: plan, build, check, dedup and more.", "bouncer");
    app.set_version_flag("--version", "bouncer " BOUNCER_VERSION);
    app.set_help_all_flag("--help-all", "The help of all subcommands")->group("");
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer(
        "Exit status: 0 done; 1 check found none, verify found damage; 2 error; 3 doctor warns. `bouncer "
        "NAME --help` tells more.");
    struct entry {
        const subcommand* what;
        CLI::App* app;
        run_function run;
    };
    std::vector<entry> entries;
    for (const subcommand& what : all_subcommands()) {
        CLI::App* const command = app.add_subcommand(what.name, what.summary);
        command->get_formatter()->column_width(34);
        entries.push_back({&what, command, what.add(*command)});
    }
    const auto chosen = [&]() -> const entry* {
        for (const entry& one : entries)
            if (one.app->parsed()) return &one;
        return nullptr;
    };
    const auto show = [&](const CLI::Success& what) {
        app.exit(what);
        std::cout.flush();
        return std::cout ? exit_done : complain("", "standard output: cannot be written");
    };
    if (argc < 2) return show(CLI::CallForHelp());
    const std::string first = argv[1];
    if (first[0] != '-' && std::none_of(entries.begin(), entries.end(),
                                        [&](const entry& one) { return first == one.what->name; }))
        return complain("", "there is no subcommand \"" + first + '"' + command_suggestion(first) +
                                " (see bouncer --help)");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) { // --help and --version
        return show(success);
    } catch (const CLI::ParseError& error) {
        const entry* const where = chosen();
        if (where != nullptr && first[0] == '-')
            return complain(
                "", first + " stands before the subcommand: flags come after it (see bouncer --help)");
        return complain(where ? where->what->name : "",
                        usage_error(where ? *where->app : app, error) + " (see bouncer " +
                            (where ? where->what->name + std::string(" ") : "") + "--help)");
    }
    const entry* const now = chosen();
    if (now == nullptr) return complain("", "no subcommand (see bouncer --help)");
    try {
        if (now->what->signal == on_signal::finish) catch_interrupts();
        const int code = now->run();
        std::cout.flush();
        if (!std::cout) return complain(now->what->name, "standard output: cannot be written");
        return code; // a signal that came when all was done changes nothing
    } catch (const tool_error& error) {
        return complain(now->what->name, error.what());
    } catch (const quiet_exit& exit) {
        return exit.code;
    } catch (const std::bad_alloc&) {
        return complain(now->what->name, "no memory");
    } catch (const std::exception& error) {
        return complain(now->what->name, error.what());
    }
}

} // namespace bouncer::tool
