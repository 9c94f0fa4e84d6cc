#include "support/places.h"

namespace bouncer::test {

std::string source_folder() {
    return BOUNCER_SOURCE_DIR;
}

std::string command_program() {
    return BOUNCER_COMMAND;
}

} // namespace bouncer::test
