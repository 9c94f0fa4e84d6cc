// bouncer info: what a filter in a file is, holds and promises.
#include "commands.h"
#include "file_report.h"
#include "info_text.h"
#include "keyless_filter.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <set>

namespace bouncer::tool {

namespace {

struct info_options {
    std::vector<std::string> paths;
    bool json = false;
    bool prometheus = false;
};

int info(const info_options& chosen) {
    int code = exit_done;
    std::vector<file_report> reports;
    std::set<std::string> seen;
    for (const std::string& path : chosen.paths) {
        // A page with a series twice is refused as a whole by whoever reads it.
        if (chosen.prometheus && !seen.insert(path).second) continue;
        try {
            const keyless_filter stored = open_keyless(path, access::map);
            reports.push_back(report_of(path, stored.info, stored.filter));
        } catch (const tool_error& error) { // the others are told all the same
            code = complain("info", error.what());
        }
    }
    if (reports.empty()) return code;
    if (chosen.prometheus)
        std::cout << info_prometheus(reports);
    else if (chosen.json)
        std::cout << info_json(reports, chosen.paths.size() > 1);
    else
        std::cout << info_lines(reports);
    return code;
}

} // namespace

run_function add_info(CLI::App& command) {
    auto chosen = std::make_shared<info_options>();
    command.add_option("FILTER", chosen->paths, "The filters: bouncer info words.bnc")
        ->type_name("FILE.bnc")
        ->required();
    auto* const json = command.add_flag("--json", chosen->json,
                                        "As JSON, an object, or a list for several: info --json words.bnc");
    command
        .add_flag("--prometheus", chosen->prometheus,
                  "As metrics, for node_exporter's textfile collector: info --prometheus *.bnc")
        ->excludes(json);
    command.footer("Every byte is checked on the way. Of several files, those that can be read are told; for "
                   "the others the\n"
                   "exit status is 2. Keys are estimated from the bits, the rate is that of "
                   "the bits as\n"
                   "they are now. No secret key is needed. Examples:\n"
                   "  bouncer info words.bnc\n"
                   "  bouncer info --json words.bnc | jq .fpr_expected");
    return [chosen] { return info(*chosen); };
}

} // namespace bouncer::tool
