// Where things are on this machine. The paths are compiled into places.cc alone: on every test's command line they would
// defeat a compiler cache that clones share.
#pragma once

#include <string>

namespace bouncer::test {

std::string source_folder();   // the root of the source tree
std::string command_program(); // the command bouncer; empty where it is not built

} // namespace bouncer::test
