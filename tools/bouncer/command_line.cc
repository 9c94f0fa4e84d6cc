// Reads the command line, runs the subcommand that it names, and makes one line and an exit code of what it throws.
#include "commands.h"
#include "signals.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace bouncer::tool {

namespace {

// Errors are one line: whatever a message holds, such as the name of a file.
std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
    return text;
}

int complain(const std::string& name, const std::string& message) {
    std::cerr << "bouncer" << (name.empty() ? "" : " " + name) << ": " << one_line(message) << '\n';
    return exit_error;
}

} // namespace

int run(int argc, char** argv) {
    CLI::App app("Filters in front of what is expensive: plan, build, check, dedup and more.", "bouncer");
    app.set_version_flag("--version", "bouncer " BOUNCER_VERSION);
    app.set_help_all_flag("--help-all", "The help of all subcommands")->group("");
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer("Exit status: 0 done; 1 check found none, verify found damage; 2 error. `bouncer NAME --help` "
               "tells more.");
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
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) { // --help and --version
        app.exit(success);
        std::cout.flush();
        return std::cout ? exit_done : complain("", "standard output: cannot be written");
    } catch (const CLI::ParseError& error) {
        const entry* const where = chosen();
        if (where == nullptr && argc > 1 && argv[1][0] != '-')
            return complain("",
                            "there is no subcommand \"" + std::string(argv[1]) + "\" (see bouncer --help)");
        return complain(where ? where->what->name : "",
                        std::string(error.what()) + " (see bouncer " +
                            (where ? where->what->name + std::string(" ") : "") + "--help)");
    }
    const entry* const now = chosen();
    if (now == nullptr) return complain("", "no subcommand (see bouncer --help)");
    try {
        if (now->what->signal == on_signal::finish) catch_interrupts();
        const int code = now->run();
        std::cout.flush();
        if (!std::cout) return complain(now->what->name, "standard output: cannot be written");
        return code == exit_done && interrupted() ? interrupted_code()
                                                  : code; // done, but somebody wanted an end
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
