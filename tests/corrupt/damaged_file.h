// Files of a scratch folder that are read whole, and damaged in place.
#pragma once

#include "support/scratch_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace bouncer::test {

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
