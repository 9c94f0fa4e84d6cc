// bouncer bench: how fast this filter is on this machine, and how often it errs.
#include "bench_run.h"
#include "commands.h"
#include "keyless_filter.h"
#include "numbers.h"
#include "signals.h"
#include "text.h"
#include "tool_error.h"

#include <bouncer/planner.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <thread>

namespace bouncer::tool {

namespace {

struct bench_options {
    std::string path;
    std::optional<std::uint64_t> keys;
    std::optional<double> seconds;
    std::optional<std::uint64_t> threads;
    bool json = false;
};

// How many lines a query of such a filter reads: the planner knows, for a design of as many keys.
void set_lines(bench_plan& plan, const keyless_filter& stored) {
    const auto keys = stored.filter.approximate_size();
    goal wanted{.keys = stored.info.keys_designed};
    if (wanted.keys == 0 && keys && std::isfinite(*keys)) wanted.keys = static_cast<std::uint64_t>(*keys);
    if (wanted.keys == 0) return;
    wanted.false_positive_rate = stored.info.fpr_promised > 0 ? stored.info.fpr_promised : 0.01;
    const auto like = planner::design(stored.filter.kind_name(), wanted);
    if (!like || !(like->lines_absent >= 1)) return;
    plan.lines = std::min(like->lines_absent, 64.0);
    plan.lines_adjacent = like->lines_adjacent;
}

std::string aligned(const char* form, double value) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), form, value);
    return text.data();
}

void print_text(const keyless_filter& stored, const bench_plan& plan, const bench_result& found,
                const std::optional<double>& expected) {
    std::cout << line_text(stored.path) << ": " << stored.filter.kind_name() << ", "
              << bytes_text(stored.filter.size_bytes()) << ", " << number_text(plan.lines)
              << (plan.lines == 1 ? " cache line" : " cache lines") << " per absent key; " << found.rounds
              << " rounds of " << short_count_text(static_cast<double>(plan.keys)) << " random hashes\n\n";
    std::cout << "query             threads   ns/query   M queries/s   memory alone, ns   spread\n";
    for (const bench_row& row : found.rows) {
        std::string what = row.what;
        what.resize(18, ' ');
        std::cout << what << aligned("%7.0f", row.threads) << aligned("%11.2f", row.ns)
                  << aligned("%14.1f", 1000 / row.ns)
                  << (row.memory_ns ? aligned("%19.2f", *row.memory_ns) : "                  -")
                  << aligned("%7.0f %%", row.spread * 100) << '\n';
    }
    const auto [low, high] = interval_of(found.absent_found, found.absent_asked);
    std::cout << "\nfalse-positive rate "
              << rate_text(static_cast<double>(found.absent_found) / static_cast<double>(found.absent_asked))
              << " of " << count_text(found.absent_asked) << " absent hashes, 95 % interval "
              << rate_text(low) << " to " << rate_text(high);
    if (expected) std::cout << "; expected from the bits: " << rate_text(*expected);
    std::cout << '\n';
    if (found.present_hashes > 0)
        std::cout
            << "present: " << count_text(found.present_hashes)
            << " hashes that the filter answers \"maybe\", found by asking it, asked again in random order\n";
    else
        std::cout << "present: not measured; hashes that the filter answers \"maybe\" are too rare to find\n";
    if (!found.memory_measured)
        std::cout << "memory alone: not measured; a second buffer of that size does not fit\n";
}

void print_json(const keyless_filter& stored, const bench_plan& plan, const bench_result& found,
                const std::optional<double>& expected) {
    const auto interval = interval_of(found.absent_found, found.absent_asked);
    nlohmann::ordered_json report{
        {"file", json_text(stored.path)},
        {"kind", stored.filter.kind_name()},
        {"size_bytes", stored.filter.size_bytes()},
        {"lines_per_query", plan.lines},
        {"keys_per_round", plan.keys},
        {"rounds", found.rounds},
        {"present_hashes", found.present_hashes},
        {"fpr_expected", nullptr},
        {"fpr_measured", static_cast<double>(found.absent_found) / static_cast<double>(found.absent_asked)},
        {"fpr_low", interval.low},
        {"fpr_high", interval.high},
        {"absent_asked", found.absent_asked}};
    if (expected) report["fpr_expected"] = *expected;
    report["rows"] = nlohmann::ordered_json::array();
    for (const bench_row& row : found.rows) {
        nlohmann::ordered_json one{{"query", row.what},      {"threads", row.threads},
                                   {"ns_per_query", row.ns}, {"queries_per_second", 1e9 / row.ns},
                                   {"memory_ns", nullptr},   {"spread", row.spread}};
        if (row.memory_ns) one["memory_ns"] = *row.memory_ns;
        report["rows"].push_back(std::move(one));
    }
    std::cout << report.dump(2) << '\n';
}

int bench(const bench_options& chosen) {
    const keyless_filter stored = open_keyless(chosen.path, access::load);
    bench_plan plan;
    constexpr std::uint64_t most_keys = 1'000'000'000; // 8 GB of hashes
    constexpr std::uint64_t most_threads = 1024;
    if (chosen.keys && (*chosen.keys == 0 || *chosen.keys > most_keys))
        throw tool_error("--keys: " + count_text(*chosen.keys) + " is not between 1 and 1G");
    if (chosen.threads && (*chosen.threads == 0 || *chosen.threads > most_threads))
        throw tool_error("--threads: " + count_text(*chosen.threads) + " is not between 1 and 1024");
    if (chosen.keys) plan.keys = *chosen.keys;
    if (chosen.seconds) plan.seconds = *chosen.seconds;
    plan.threads = chosen.threads ? static_cast<unsigned>(*chosen.threads)
                                  : std::max(1u, std::thread::hardware_concurrency());
    set_lines(plan, stored);
    const bench_result found = run_bench(stored.filter, plan);
    stop_if_interrupted();
    std::optional<double> expected;
    if (const auto rate = stored.filter.expected_fpr(); rate) expected = *rate;
    (chosen.json ? print_json : print_text)(stored, plan, found, expected);
    return exit_done;
}

} // namespace

run_function add_bench(CLI::App& command) {
    auto chosen = std::make_shared<bench_options>();
    command.add_option("FILTER", chosen->path, "The filter: bouncer bench words.bnc")
        ->type_name("FILE.bnc")
        ->required();
    add_count(command, "--keys", chosen->keys,
              "Hashes asked in each measurement (default 1048576, at most 1G): --keys 10M");
    command
        .add_option_function<std::string>(
            "--seconds",
            [chosen](const std::string& text) {
                auto seconds = parse_number(text);
                if (!seconds) throw CLI::ValidationError("--seconds", seconds.error().message);
                if (!(*seconds > 0) || *seconds > 86400)
                    throw CLI::ValidationError("--seconds", "\"" + text + "\" is not between 0 and 86400");
                chosen->seconds = *seconds;
            },
            "How long to measure, at least three rounds (default 2): --seconds 10")
        ->type_name("S");
    add_count(command, "--threads", chosen->threads, "The most threads (default: all cores): --threads 4");
    command.add_flag("--json", chosen->json, "As JSON: bench --json words.bnc");
    command.footer(
        "Measures the filter in memory, with random 64-bit hashes instead of keys, and beside it random "
        "reads of\n"
        "as many cache lines in as much memory: what no filter of that size can beat. Medians of rounds in\n"
        "which everything is measured once. ns are of all threads together. Example:\n"
        "  bouncer bench words.bnc --seconds 5");
    return [chosen] { return bench(*chosen); };
}

} // namespace bouncer::tool
