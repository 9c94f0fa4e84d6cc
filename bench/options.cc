#include "options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <thread>

namespace bench {

std::uint64_t number_of(const std::string& text) {
    double value = 0;
    std::size_t used = 0;
    try {
        value = std::stod(text, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    double unit = 1;
    if (used + 1 == text.size()) {
        switch (text.back()) {
        case 'K': unit = 1e3; break;
        case 'M': unit = 1e6; break;
        case 'G': unit = 1e9; break;
        default: used = 0;
        }
    } else if (used != text.size()) {
        used = 0;
    }
    const double number = value * unit;
    if (used == 0 || !(number >= 1) || number > 1e13 || number != std::floor(number))
        throw bad_request("\"" + text + "\" is not a whole number such as 20K, 1M or 800000");
    return static_cast<std::uint64_t>(number);
}

namespace {

std::vector<std::uint64_t> numbers_of(const std::string& text) {
    std::vector<std::uint64_t> numbers;
    std::size_t first = 0;
    while (first <= text.size()) {
        const std::size_t comma = std::min(text.find(',', first), text.size());
        numbers.push_back(number_of(text.substr(first, comma - first)));
        first = comma + 1;
    }
    return numbers;
}

} // namespace

std::optional<options> read_options(int argc, const char* const* argv) {
    options chosen;
    chosen.threads = std::max(1u, std::thread::hardware_concurrency());
    std::string rows;
    std::string keys;
    std::string max_bytes;

    CLI::App app("Measures filters against peers and against the memory limit.", "bouncer_bench");
    app.add_option("--rows", rows, "only rows whose name matches this regular expression");
    app.add_option("--keys", keys, "keys per filter, e.g. 20K,1M,10M (default 1M,10M)");
    app.add_option("--fpr", chosen.fpr, "false-positive rate of all filters (default 0.01)");
    app.add_option("--threads", chosen.threads, "measure with 1 to N threads (default: one per core)");
    app.add_option("--repeat", chosen.repeat, "rounds (default 15; 31 for a verdict)");
    app.add_option("--json", chosen.json, "write the document to this file");
    app.add_option("--markdown", chosen.markdown, "write the tables to this file");
    app.add_option("--max-bytes", max_bytes, "skip filters above this size (default 1 GiB)");
    app.add_flag("--huge", chosen.huge, "also filters of up to 8 GiB");
    app.add_flag("--verdict", chosen.verdict, "measure the goals, and nothing else");
    app.add_flag("--full", chosen.full, "with --verdict: also the goals at 100M and 800M keys");
    app.add_option("--goals", chosen.goals, "the goals (default: goals.json beside the program)");
    app.add_flag("--list", chosen.list, "print the names of the rows, and measure nothing");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
        app.exit(help);
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw bad_request(error.what());
    }

    if (!keys.empty()) chosen.keys = numbers_of(keys);
    if (chosen.huge) chosen.max_bytes = std::uint64_t{8} << 30;
    if (!max_bytes.empty()) chosen.max_bytes = number_of(max_bytes);
    if (!(chosen.fpr > 0) || !(chosen.fpr < 1))
        throw bad_request("--fpr must lie between 0 and 1, and is " + std::to_string(chosen.fpr));
    if (chosen.threads < 1 || chosen.threads > 1024) throw bad_request("--threads must be from 1 to 1024");
    if (app.count("--repeat") == 0) chosen.repeat = chosen.verdict ? 31 : 15;
    if (chosen.repeat < 1 || chosen.repeat > 10000) throw bad_request("--repeat must be from 1 to 10000");
    if (chosen.full && !chosen.verdict) throw bad_request("--full belongs to --verdict");
    try {
        if (!rows.empty()) chosen.rows.emplace(rows, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error&) {
        throw bad_request("--rows \"" + rows + "\" is not a regular expression");
    }
    return chosen;
}

} // namespace bench
