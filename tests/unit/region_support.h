// What the tests of the memory layer share.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "bouncer/region.h"

namespace bouncer::test {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

inline bool is_line_aligned(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % 64 == 0;
}

inline bool all_bytes_are(const region& memory, unsigned char value) {
    const auto* const first = static_cast<const unsigned char*>(memory.data());
    return std::all_of(first, first + memory.size_bytes(), [=](unsigned char byte) { return byte == value; });
}

inline void expect_failure(const result<region>& got, error_code code, const std::string& in_message) {
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, code) << got.error().message;
    EXPECT_NE(got.error().message.find(in_message), std::string::npos) << got.error().message;
}

inline std::string first_line_of(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

class scratch_directory {
  public:
    scratch_directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "bouncer_region_XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~scratch_directory() { std::filesystem::remove_all(path_); }

    std::string write(const std::string& name, const std::string& content) const {
        const auto file = path_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << content;
        return file.string();
    }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

} // namespace bouncer::test
