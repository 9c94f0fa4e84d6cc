// The bytes of a file, and the folder that tests put files into.
#pragma once

#include "support/scratch_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace bouncer::test {

inline std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream out; // not byte by byte: under a checker that takes a second a MiB
    if (file.peek() != std::ifstream::traits_type::eof()) out << file.rdbuf();
    return std::move(out).str();
}

} // namespace bouncer::test
