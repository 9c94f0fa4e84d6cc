// A folder that goes away, files in it that are damaged in place, and what is left in it.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bouncer::test {

class scratch_folder {
  public:
    scratch_folder() : path_(::testing::TempDir() + "bouncer_corrupt_XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no scratch folder");
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

    std::string write(const std::string& name, std::span<const std::byte> bytes) const {
        const std::string path = *this / name;
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!file.flush()) throw std::runtime_error("cannot write " + path);
        return path;
    }

    // Temporary files too.
    std::set<std::string> names() const {
        std::set<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            out.insert(entry.path().filename().string());
        return out;
    }

  private:
    std::string path_;
};

inline std::vector<std::byte> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// One byte of a file, there and back.
class damaged_file {
  public:
    explicit damaged_file(const std::string& path) : number_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
        if (number_ < 0) throw std::runtime_error("cannot open " + path);
    }
    damaged_file(const damaged_file&) = delete;
    damaged_file& operator=(const damaged_file&) = delete;
    ~damaged_file() { ::close(number_); }

    void flip(std::size_t bit) {
        std::byte byte{};
        const auto at = static_cast<off_t>(bit / 8);
        if (::pread(number_, &byte, 1, at) != 1) throw std::runtime_error("cannot read");
        byte ^= std::byte{1} << (bit % 8);
        if (::pwrite(number_, &byte, 1, at) != 1) throw std::runtime_error("cannot write");
    }
    void truncate(std::size_t bytes) {
        if (::ftruncate(number_, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("cannot truncate");
    }

  private:
    int number_;
};

} // namespace bouncer::test
