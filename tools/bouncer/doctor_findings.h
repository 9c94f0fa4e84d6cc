// The examination of a filter in a file: a list of findings, each with what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bouncer::tool {

enum class finding_level : std::uint8_t {
    ok,
    note,    // good to know
    warning, // it works, and worse than promised
    problem, // damaged
};

struct finding {
    finding_level level;
    std::string subject; // one or two words
    std::string what;
    std::string advice; // empty: nothing to do
};

// Throws tool_error for a file that cannot be read; one that is damaged is a finding.
std::vector<finding> examine(const std::string& path);

} // namespace bouncer::tool
