#include "shells.h"

namespace bouncer::tool {

namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string out;
    for (const std::string& each : words) out += (out.empty() ? "" : between) + each;
    return out;
}

// What may follow a flag: "  'build --kind') ... ;;".
std::string value_case(const described_command& command, const described_flag& flag) {
    std::string pattern;
    for (const std::string& name : flag.names)
        pattern += (pattern.empty() ? "" : "|") + ("'" + command.name + ' ' + name + '\'');
    std::string action = "return";
    if (!flag.choices.empty())
        action = "_bouncer_words '" + joined(flag.choices, " ") + "'; return";
    else if (flag.takes_file())
        action = "_bouncer_files; return";
    return "        " + pattern + ") " + action + " ;;\n";
}

} // namespace

std::string bash_completion(const std::vector<described_command>& all) {
    std::string names;
    std::string values;
    std::string flags;
    for (const described_command& command : all) {
        names += (names.empty() ? "" : " ") + command.name;
        std::string of_this;
        for (const described_flag& flag : command.flags) {
            if (!flag.value.empty()) values += value_case(command, flag);
            of_this += (of_this.empty() ? "" : " ") + joined(flag.names, " ");
        }
        flags += "            " + command.name + ") _bouncer_words '" + of_this + "' ;;\n";
    }
    return "# bash completion of bouncer. Made from the command's own definitions; do not edit.\n"
           "_bouncer_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
           "_bouncer_files() { mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); }\n"
           "_bouncer() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
           "    COMPREPLY=()\n"
           "    # --kind=x comes as three words.\n"
           "    if [[ $cur == = ]]; then\n"
           "        cur=\n"
           "    elif [[ $prev == = && COMP_CWORD -gt 1 ]]; then\n"
           "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    fi\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
           "            command=${COMP_WORDS[i]}\n"
           "            break\n"
           "        fi\n"
           "    done\n"
           "    if [[ -z $command ]]; then\n"
           "        _bouncer_words '" +
           names +
           " --help --version'\n"
           "        return\n"
           "    fi\n"
           "    case \"$command $prev\" in\n" +
           values +
           "    esac\n"
           "    if [[ $cur == -* ]]; then\n"
           "        case $command in\n" +
           flags +
           "        esac\n"
           "        return\n"
           "    fi\n"
           "    _bouncer_files\n"
           "}\n"
           "complete -o filenames -F _bouncer bouncer\n";
}

} // namespace bouncer::tool
