// Writes completions for bash, zsh and fish from the definitions of the subcommands: make_completions FOLDER
#include "shells.h"

#include <fstream>
#include <iostream>
#include <string>

namespace {

bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) std::cerr << "make_completions: cannot write " << path << '\n';
    return static_cast<bool>(file);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "make_completions FOLDER\n";
        return 2;
    }
    const std::string folder = argv[1];
    const auto all = bouncer::tool::describe_commands();
    bool good = write(folder + "/bouncer.bash", bouncer::tool::bash_completion(all));
    good = write(folder + "/_bouncer", bouncer::tool::zsh_completion(all)) && good;
    good = write(folder + "/bouncer.fish", bouncer::tool::fish_completion(all)) && good;
    return good ? 0 : 1;
}
