// What to paste: the command line that builds the planned filter, and the C++ line that creates it.
#pragma once

#include "plan_report.h"

namespace bouncer::tool {

// Empty where it cannot: `build` chooses k itself, and takes no filter that is of no use.
std::string paste_command(const plan_report& report);
std::string paste_cpp(const plan_report& report);

} // namespace bouncer::tool
