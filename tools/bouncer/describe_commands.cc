#include "describe_commands.h"

#include "commands.h"

#include <bouncer/all_filters.h>
#include <bouncer/all_hashers.h>

#include <CLI/CLI.hpp>

#include <sstream>

namespace bouncer::tool {

namespace {

// The type name of CLI11 is "FILE", or "TEXT:{reads,adds,space}" where only some values are allowed.
void take_type(described_flag& to, const std::string& type) {
    const std::size_t open = type.find('{');
    const std::size_t close = type.find('}');
    to.value = type.substr(0, std::min(type.find(':'), open));
    if (open != std::string::npos && close != std::string::npos) {
        std::istringstream list(type.substr(open + 1, close - open - 1));
        for (std::string each; std::getline(list, each, ',');) to.choices.push_back(each);
    }
    if (to.value.empty() && !to.choices.empty()) to.value = "WHAT";
}

void take_choices(described_flag& to) {
    const auto is = [&](const char* name) { return to.names.back() == name; };
    if (is("--kind"))
        for (const kind_info& kind : all_kinds) to.choices.emplace_back(kind.name);
    if (is("--hash"))
        for (const hash_info& hash : all_hashes) to.choices.emplace_back(hash.name);
    if (is("--prefer") && to.choices.empty()) to.choices = {"reads", "adds", "space"};
    if (is("--format") && to.choices.empty()) to.choices = {"dcso", "parquet-sbbf"};
    if ((is("--html") || is("--state")) && !to.value.starts_with("FILE")) to.value = "FILE";
}

described_flag describe_option(const CLI::Option& option, bool positional) {
    described_flag out;
    if (positional) {
        out.names = {option.get_name(true)};
    } else {
        for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
    }
    out.help = option.get_description();
    out.group = option.get_group();
    out.required = option.get_required();
    out.repeated = option.get_items_expected_max() > 1;
    if (option.get_items_expected_max() > 0) {
        take_type(out, option.get_type_name());
        if (out.value.empty()) out.value = "VALUE";
        if (!positional) take_choices(out);
    }
    return out;
}

// Lines that begin with two spaces, and what follows "Example: ", are command lines; the others are text.
void take_footer(described_command& to, const std::string& footer) {
    std::istringstream lines(footer);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  ")) {
            to.examples.push_back(line.substr(line.find_first_not_of(' ')));
            continue;
        }
        if (const std::size_t at = line.find("Example: "); at != std::string::npos) {
            to.examples.push_back(line.substr(at + 9));
            line.resize(at);
        }
        for (const std::string word : {"Example:", "Examples:"})
            if (line.ends_with(word)) line.resize(line.size() - word.size());
        while (line.ends_with(' ')) line.pop_back();
        if (!line.empty()) text += (text.empty() || text.ends_with('-') ? "" : " ") + line;
    }
    if (!text.empty()) to.notes.push_back(text);
}

} // namespace

std::vector<described_command> describe_commands() {
    std::vector<described_command> out;
    for (const subcommand& what : all_subcommands()) {
        CLI::App parent("", "bouncer");
        CLI::App* const command = parent.add_subcommand(what.name, what.summary);
        const run_function run = what.add(*command); // keeps what the flags write to
        described_command one;
        one.name = what.name;
        one.summary = what.summary;
        for (const CLI::Option* option : command->get_options()) {
            if (option->get_group().empty()) continue; // hidden
            (option->get_positional() ? one.positionals : one.flags)
                .push_back(describe_option(*option, option->get_positional()));
        }
        take_footer(one, command->get_footer());
        out.push_back(std::move(one));
    }
    return out;
}

std::string short_help(const described_flag& flag) {
    std::size_t end = flag.help.find(", e.g. ");
    if (end == std::string::npos) end = flag.help.rfind(": ");
    return flag.help.substr(0, end);
}

} // namespace bouncer::tool
