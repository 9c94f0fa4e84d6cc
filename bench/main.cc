// bouncer_bench. Exit codes: 0 all ok; 1 a goal short; 3 a measured rate out of bounds; 4 a goal unmeasured; 2 anything
// else. Where several apply: 3, then 1, then 4.
#include "all_rows.h"
#include "figures.h"
#include "goals.h"
#include "machine.h"
#include "measure.h"
#include "options.h"
#include "plugin.h"
#include "report.h"
#include "tutorial.h"
#include "verdict.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bench {
namespace {

// What a group may hold at once: a third of the machine's memory.
std::uint64_t group_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) / 3 *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// A generous guess: 2.6 times the bits of the lower bound, which register_bloom needs at 0.1 %.
std::uint64_t bytes_of(const variant& what) {
    return static_cast<std::uint64_t>(static_cast<double>(what.keys) * 2.6 * -std::log2(what.fpr) / 8);
}

// Rows of one number of keys, in groups that fit into memory. A subject's rows stay together.
std::vector<std::vector<variant>> split(const std::vector<variant>& rows) {
    std::vector<std::vector<variant>> groups;
    std::uint64_t bytes = 0;
    std::string last;
    for (const variant& what : rows) {
        const std::string filter = what.name + what.build + std::to_string(static_cast<int>(what.pages));
        if (filter != last) {
            bytes += bytes_of(what);
            if (groups.empty() || bytes > group_bytes()) {
                groups.emplace_back();
                bytes = bytes_of(what);
            }
            last = filter;
        }
        groups.back().push_back(what);
    }
    return groups;
}

bool wanted_row(const options& chosen, std::string_view name) {
    return !chosen.rows || std::regex_search(name.begin(), name.end(), *chosen.rows);
}

void measure_rows(const std::vector<plugin>& plugins, const options& chosen, report& out, bool& fpr_wrong) {
    instances filters(plugins, chosen.max_bytes);
    hash_pools pools;
    print_header(stdout);
    const auto keep = [&](const row& made) {
        print_row(stdout, made);
        out.rows.push_back(made);
    };
    for (const std::uint64_t keys : chosen.keys) {
        for (const auto& rows : split(all_rows(plugins, chosen, keys))) {
            group together(plugins, filters, pools);
            for (const variant& what : rows) together.add(what);
            together.run(chosen.repeat);
            for (const measured& one : together.results()) {
                keep(one.result);
                fpr_wrong = fpr_wrong || one.fpr_wrong;
            }
            for (const row& made : together.limit_rows()) keep(made);
            filters.forget();
        }
        pools.forget();
    }
    const auto figures =
        measure_figures(chosen, [&](std::string_view name) { return wanted_row(chosen, name); });
    for (const row& made : figures.rows) keep(made);
    tutorial_options tutorial;
    tutorial.threads = chosen.threads;
    tutorial.repeat = std::min(chosen.repeat, tutorial.repeat);
    tutorial.keys = std::min(tutorial.keys, *std::max_element(chosen.keys.begin(), chosen.keys.end()));
    tutorial.max_bytes = chosen.huge ? std::uint64_t{10} << 30 : chosen.max_bytes;
    tutorial.wanted = [&](std::string_view name) { return wanted_row(chosen, name); };
    for (const row& made : tutorial_rows(tutorial)) keep(made);
}

int run(const options& chosen) {
    const auto plugins = load_plugins();
    if (chosen.list) {
        for (const std::uint64_t keys : chosen.keys)
            for (const variant& what : all_rows(plugins, chosen, keys))
                std::printf("%s %s\n", label_of(what).c_str(), short_number(keys).c_str());
        return 0;
    }
    check_writable(chosen.json);
    check_writable(chosen.markdown);
    report out;
    out.machine = describe_machine();
    nlohmann::json verdict;
    bool fpr_wrong = false;
    int code = 0;
    if (chosen.verdict) {
        const auto goals = read_goals(chosen.goals.empty() ? program_folder() + "/goals.json" : chosen.goals);
        const verdict_result found = judge(plugins, goals, chosen, verdict);
        out.rows = found.rows;
        out.verdict = found.lines;
        fpr_wrong = found.fpr_wrong;
        code = found.short_of > 0 ? 1 : found.unmeasured > 0 ? 4 : 0;
    } else {
        measure_rows(plugins, chosen, out, fpr_wrong);
        if (out.rows.empty()) throw bad_request("no row has such a name; see --list");
    }
    if (!chosen.json.empty()) write_json(chosen.json, out, verdict);
    if (!chosen.markdown.empty()) write_markdown(chosen.markdown, out);
    if (fpr_wrong) std::fprintf(stderr, "bouncer_bench: a measured false-positive rate is out of bounds\n");
    return fpr_wrong ? 3 : code;
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    try {
        const auto chosen = bench::read_options(argc, argv);
        return chosen ? bench::run(*chosen) : 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bouncer_bench: %s\n", error.what());
        return 2;
    }
}
