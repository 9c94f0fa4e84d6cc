#include "shells.h"

#include <string_view>

namespace bouncer::tool {

namespace {

std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + '\'';
}

std::string flag_line(const std::string& condition, const described_flag& flag) {
    std::string out = "complete -c bouncer -n " + condition;
    for (const std::string& name : flag.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!flag.choices.empty()) {
        std::string list;
        for (const std::string& each : flag.choices) list += (list.empty() ? "" : " ") + each;
        out += " -x -a " + quoted(list);
    } else if (flag.takes_file()) {
        out += " -r -F";
    } else if (!flag.value.empty()) {
        out += " -x";
    }
    return out + " -d " + quoted(short_help(flag)) + '\n';
}

} // namespace

std::string fish_completion(const std::vector<described_command>& all) {
    std::string out = "# fish completion of bouncer. Made from the command's own definitions; do not edit.\n"
                      "complete -c bouncer -f\n"
                      "complete -c bouncer -n __fish_use_subcommand -s h -l help -d 'Help'\n"
                      "complete -c bouncer -n __fish_use_subcommand -l version -d 'The version'\n";
    for (const described_command& command : all) {
        const std::string condition = quoted("__fish_seen_subcommand_from " + command.name);
        out += "complete -c bouncer -n __fish_use_subcommand -a " + command.name + " -d " +
               quoted(command.summary) + '\n';
        if (!command.positionals.empty()) out += "complete -c bouncer -n " + condition + " -F\n";
        for (const described_flag& flag : command.flags) out += flag_line(condition, flag);
    }
    return out;
}

} // namespace bouncer::tool
