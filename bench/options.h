// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

// Whatever the user asked for wrongly, or the machine refuses: one line, exit code 2.
struct bad_request : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct options {
    std::optional<std::regex> rows; // searched in a row's name and in "name build pages"
    std::vector<std::uint64_t> keys = {1'000'000, 10'000'000};
    double fpr = 0.01;
    unsigned threads = 1;                             // the most; by default one per core
    unsigned repeat = 0;                              // rounds; read_options makes 0 15, or 31 for a verdict
    std::uint64_t max_bytes = std::uint64_t{1} << 30; // of one filter
    bool huge = false;
    std::string json;
    std::string markdown;
    bool verdict = false;
    bool full = false;
    bool list = false;
    std::string goals; // empty: goals.json beside the program
};

// Nothing when --help was asked for and printed. Throws bad_request.
std::optional<options> read_options(int argc, const char* const* argv);

// "20K", "1M", "1.5G", "800000": powers of ten. Throws bad_request.
std::uint64_t number_of(const std::string& text);

} // namespace bench
