#include "shells.h"

#include <string_view>

namespace bouncer::tool {

namespace {

// Within single quotes, and within the brackets or between the colons of a spec.
std::string quoted(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else if (c == '[' || c == ']' || c == ':' || c == '\\')
            out += std::string("\\") + c;
        else
            out += c;
    }
    return out;
}

std::string value_spec(const described_flag& flag) {
    if (flag.value.empty()) return "";
    std::string action;
    if (!flag.choices.empty()) {
        for (const std::string& each : flag.choices) action += (action.empty() ? "(" : " ") + each;
        action += ')';
    } else if (flag.takes_file()) {
        action = "_files";
    }
    return ':' + quoted(flag.value) + ':' + action;
}

std::string flag_spec(const described_flag& flag) {
    std::string names;
    for (const std::string& each : flag.names) names += (names.empty() ? "" : " ") + each;
    std::string out;
    const std::string rest = '[' + quoted(short_help(flag)) + ']' + value_spec(flag);
    for (const std::string& each : flag.names) {
        out += "                '";
        out += flag.repeated ? "*" : flag.names.size() > 1 ? '(' + names + ')' : "";
        out += each + rest + "' \\\n";
    }
    return out;
}

} // namespace

std::string zsh_completion(const std::vector<described_command>& all) {
    std::string names;
    std::string cases;
    for (const described_command& command : all) {
        names += "        '" + command.name + ':' + quoted(command.summary) + "'\n";
        cases += "        " + command.name + ")\n            _arguments -s \\\n";
        for (const described_flag& flag : command.flags) cases += flag_spec(flag);
        cases += "                '*:file:_files'\n            ;;\n";
    }
    return "#compdef bouncer\n"
           "# Made from the command's own definitions; do not edit.\n"
           "_bouncer() {\n"
           "    local curcontext=\"$curcontext\" state line\n"
           "    typeset -A opt_args\n"
           "    local -a commands\n"
           "    commands=(\n" +
           names +
           "    )\n"
           "    _arguments -C '(- *)--help[Help]' '(- *)--version[The version]' '1:command:->command' "
           "'*::argument:->argument'\n"
           "    case $state in\n"
           "    command) _describe command commands ;;\n"
           "    argument)\n"
           "        case $words[1] in\n" +
           cases +
           "        esac\n"
           "        ;;\n"
           "    esac\n"
           "}\n"
           "_bouncer \"$@\"\n";
}

} // namespace bouncer::tool
