// bouncer: approximate membership for the shell. Every subcommand is a file of its own.
#include "commands.h"
#include "signals.h"

int main(int argc, char** argv) {
    bouncer::tool::prepare_descriptors();
    return bouncer::tool::run(argc, argv);
}
