// What the numbers were measured on.
#pragma once

#include <map>
#include <string>

namespace bench {

// cpu, cores, L1, L2, L3, memory, kernel, huge_pages, compiler, date.
std::map<std::string, std::string> describe_machine();

} // namespace bench
