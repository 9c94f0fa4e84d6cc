// bouncer doctor: what is wrong with a filter in a file, on this machine, and what to do.
#include "commands.h"
#include "doctor_findings.h"
#include "keyless_filter.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace bouncer::tool {

namespace {

struct doctor_options {
    std::string path;
    bool json = false;
};

const char* name_of(finding_level level) {
    switch (level) {
    case finding_level::ok: return "ok";
    case finding_level::note: return "note";
    case finding_level::warning: return "warning";
    case finding_level::problem: return "problem";
    }
    return "";
}

int doctor(const doctor_options& chosen) {
    const std::vector<finding> findings = examine(chosen.path);
    auto worst = finding_level::ok;
    for (const finding& each : findings) worst = std::max(worst, each.level);
    if (chosen.json) {
        nlohmann::ordered_json report{{"file", json_text(chosen.path)}, {"worst", name_of(worst)}};
        report["findings"] = nlohmann::ordered_json::array();
        for (const finding& each : findings)
            report["findings"].push_back({{"level", name_of(each.level)},
                                          {"subject", each.subject},
                                          {"finding", json_text(each.what)},
                                          {"advice", each.advice}});
        std::cout << report.dump(2) << '\n';
    } else {
        for (const finding& each : findings) {
            const std::string level = name_of(each.level);
            std::cout << level << std::string(9 - level.size(), ' ') << each.subject << ": "
                      << line_text(each.what) << '\n';
            if (!each.advice.empty()) std::cout << "         -> " << each.advice << '\n';
        }
    }
    if (worst == finding_level::problem) return exit_none;
    return worst == finding_level::warning ? exit_warned : exit_done;
}

} // namespace

run_function add_doctor(CLI::App& command) {
    auto chosen = std::make_shared<doctor_options>();
    command.add_option("FILTER", chosen->path, "The filter: bouncer doctor words.bnc")
        ->type_name("FILE.bnc")
        ->required();
    command.add_flag("--json", chosen->json, "The findings as JSON: doctor --json words.bnc");
    command.footer(
        "Levels: ok, note (good to know), warning (it works, worse than promised), problem "
        "(damaged: do not use\n"
        "it). Exit status: 0 neither; 3 a warning; 1 a problem; 2 it cannot be examined. Example:\n"
        "  bouncer doctor words.bnc");
    return [chosen] { return doctor(*chosen); };
}

} // namespace bouncer::tool
