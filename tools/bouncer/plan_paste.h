// What to paste: the command line that builds the planned filter, and the C++ line that creates it.
#pragma once

#include "plan_report.h"

namespace bouncer::tool {

// Of one filter; nothing of a tree. Empty where it cannot: `build` chooses k itself, and takes no filter that is of no use.
std::string paste_command(const plan_report& report);
std::string paste_cpp(const plan_report& report);

// The same for each level of a tree that has a filter: level1.bnc from level1.txt, and so on.
struct pasted_level {
    std::size_t level; // counted from 0
    std::string command;
    std::string cpp;
};
std::vector<pasted_level> paste_levels(const plan_report& report);

} // namespace bouncer::tool
