// The two shared objects beside the program, built from the same sources: native and baseline.
#pragma once

#include "keyed.h"
#include "limit.h"
#include "subject.h"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct plugin {
    std::string build; // "native" or "baseline"
    const subject_list* subjects = nullptr;
    const limit_list* limits = nullptr;
    const keyed_list* keyed = nullptr;

    const subject_type* find(std::string_view name) const;
    const keyed_type* find_keyed(std::string_view name) const;
};

// Native first. Throws std::runtime_error with one line when one cannot be loaded. They stay loaded.
std::vector<plugin> load_plugins();

// The folder of the running program.
std::string program_folder();

} // namespace bench
