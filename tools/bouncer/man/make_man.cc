// Writes the man pages from the definitions of the subcommands: make_man FOLDER DATE
#include "describe_commands.h"
#include "roff.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

using bouncer::tool::described_command;
using bouncer::tool::described_flag;
using bouncer::tool::roff;

std::string upper(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

std::string title(const std::string& name, const std::string& date) {
    return ".\\\" Made from the command's own definitions; do not edit.\n.TH " + roff(upper(name)) + " 1 " +
           date + " \"bouncer " BOUNCER_VERSION "\" \"User Commands\"\n";
}

std::string bold(const std::string& text) {
    return "\\fB" + roff(text) + "\\fR";
}
std::string slanted(const std::string& text) {
    return "\\fI" + roff(text) + "\\fR";
}

std::string positional_text(const described_flag& flag) {
    std::string out = slanted(flag.names.front()) + (flag.repeated ? " ..." : "");
    return flag.required ? out : '[' + out + ']';
}

std::string synopsis(const described_command& command) {
    std::string out = ".B bouncer " + roff(command.name) + "\n[\\fIoptions\\fR]";
    for (const described_flag& flag : command.flags)
        if (flag.required)
            out += ' ' + bold(flag.names.front()) + (flag.value.empty() ? "" : ' ' + slanted(flag.value));
    for (const described_flag& flag : command.positionals) out += ' ' + positional_text(flag);
    return out + '\n';
}

std::string flag_text(const described_flag& flag) {
    std::string out = ".TP\n";
    for (std::size_t i = 0; i < flag.names.size(); ++i) out += (i == 0 ? "" : ", ") + bold(flag.names[i]);
    if (!flag.value.empty()) out += ' ' + slanted(flag.value);
    out += '\n' + roff(flag.help) + '\n';
    return out;
}

std::string exit_status() {
    return ".SH EXIT STATUS\n"
           ".TP\n.B 0\nDone.\n"
           ".TP\n.B 1\nA check found no line; verify or doctor found damage.\n"
           ".TP\n.B 2\nAn error, one of usage too: one line on standard error names the file and the cause.\n"
           ".TP\n.BR 130 \", \" 143\nInterrupted by SIGINT or SIGTERM.\n"
           ".TP\n.B 141\nWhoever read the output has gone.\n";
}

std::string see_also(const std::vector<described_command>& all, const std::string& but) {
    std::vector<std::string> names;
    if (but != "bouncer") names.emplace_back("bouncer");
    for (const described_command& each : all)
        if (each.name != but) names.push_back("bouncer-" + each.name);
    std::string out = ".SH SEE ALSO\n";
    for (std::size_t i = 0; i < names.size(); ++i)
        out += ".BR " + roff(names[i]) + (i + 1 < names.size() ? " (1),\n" : " (1)\n");
    return out;
}

std::string example(const std::string& line) {
    return ".PP\n.nf\n.RS 4\n" + roff(line) + "\n.RE\n.fi\n";
}

std::string page_of(const described_command& command, const std::vector<described_command>& all,
                    const std::string& date) {
    std::string out = title("bouncer-" + command.name, date);
    out += ".SH NAME\nbouncer\\-" + roff(command.name) + " \\- " + roff(command.summary) + '\n';
    out += ".SH SYNOPSIS\n" + synopsis(command);
    out += ".SH DESCRIPTION\n" + roff(command.summary) + ".\n";
    for (const std::string& note : command.notes) out += ".PP\n" + roff(note) + '\n';
    if (!command.positionals.empty()) out += ".SH ARGUMENTS\n";
    for (const described_flag& flag : command.positionals)
        out += ".TP\n" + slanted(flag.names.front()) + (flag.repeated ? " ..." : "") + '\n' +
               roff(flag.help) + '\n';
    out += ".SH OPTIONS\n";
    std::vector<std::string> groups;
    for (const described_flag& flag : command.flags)
        if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
    for (const std::string& group : groups) {
        if (groups.size() > 1) out += ".SS " + roff(group) + '\n';
        for (const described_flag& flag : command.flags)
            if (flag.group == group) out += flag_text(flag);
    }
    out += exit_status();
    if (!command.examples.empty()) out += ".SH EXAMPLES\n";
    for (const std::string& line : command.examples) out += example(line);
    return out + see_also(all, command.name);
}

std::string main_page(const std::vector<described_command>& all, const std::string& date) {
    std::string out = title("bouncer", date);
    out += ".SH NAME\nbouncer \\- filters in front of what is expensive\n"
           ".SH SYNOPSIS\n.B bouncer\n\\fIcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n"
           ".SH DESCRIPTION\n"
           "A filter answers whether a key is in a set: \"surely not\", or \"probably\", with a rate of "
           "errors that was\n"
           "chosen when it was made, in a few bits per key. It never turns away a key that is there, but for "
           "kinds\n"
           "that forget on purpose.\n"
           ".PP\n"
           "Numbers may be written as 10M (powers of 1000), 1.5GiB (powers of 1024), 1e\\-6, 1% and 1in1000, "
           "spans of\n"
           "time as 90s, 30min, 24h and 7d.\n"
           ".SH COMMANDS\n";
    for (const described_command& each : all)
        out += ".TP\n.BR bouncer\\-" + roff(each.name) + " (1)\n" + roff(each.summary) + ".\n";
    out += ".SH OPTIONS\n"
           ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nHelp, also of a command.\n"
           ".TP\n\\fB\\-\\-version\\fR\nThe version.\n";
    out += exit_status();
    out += ".SH EXAMPLES\n";
    for (const char* line :
         {"bouncer plan --keys 100M --fpr 0.1%", "bouncer build -o words.bnc /usr/share/dict/words",
          "bouncer check words.bnc text.txt"})
        out += example(line);
    return out + see_also(all, "bouncer");
}

bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) std::cerr << "make_man: cannot write " << path << '\n';
    return static_cast<bool>(file);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "make_man FOLDER DATE\n";
        return 2;
    }
    const std::string folder = argv[1];
    const std::string date = argv[2];
    const std::vector<described_command> all = bouncer::tool::describe_commands();
    bool good = write(folder + "/bouncer.1", main_page(all, date));
    for (const described_command& each : all)
        good = write(folder + "/bouncer-" + each.name + ".1", page_of(each, all, date)) && good;
    return good ? 0 : 1;
}
