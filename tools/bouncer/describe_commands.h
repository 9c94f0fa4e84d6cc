// All subcommands and their flags as data, read from the definitions that parse them: what man pages and completions are
// made of, so that they cannot say anything else.
#pragma once

#include <string>
#include <vector>

namespace bouncer::tool {

struct described_flag {
    std::vector<std::string> names; // with their dashes, short ones first; of a positional its name
    std::string value;              // what it takes, such as FILE or N; empty: nothing
    std::string help;
    std::string group; // the heading it stands under
    bool required = false;
    bool repeated = false;
    std::vector<std::string> choices; // the values that there are; none: any
    bool takes_file() const { return value.starts_with("FILE"); }
};

struct described_command {
    std::string name;
    std::string summary;
    std::vector<described_flag> flags;
    std::vector<described_flag> positionals;
    std::vector<std::string> notes;    // paragraphs of what stands below the help
    std::vector<std::string> examples; // command lines
};

std::vector<described_command> describe_commands();

// The help without its example, for one line.
std::string short_help(const described_flag& flag);

} // namespace bouncer::tool
