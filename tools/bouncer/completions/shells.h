// Completions of the command, in the language of each shell.
#pragma once

#include "describe_commands.h"

#include <string>
#include <vector>

namespace bouncer::tool {

std::string bash_completion(const std::vector<described_command>& all); // needs no bash-completion package
std::string zsh_completion(const std::vector<described_command>& all);
std::string fish_completion(const std::vector<described_command>& all);

} // namespace bouncer::tool
