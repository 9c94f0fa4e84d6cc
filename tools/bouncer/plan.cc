// bouncer plan: which kind, how large, for how long.
#include "commands.h"
#include "nearest.h"
#include "numbers.h"
#include "plan_file.h"
#include "plan_report.h"
#include "stored_filter.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace bouncer::tool {

namespace {

struct flags : plan_flags {
    bool json = false;
    bool force = false;
    std::string html;
};

void add_goal(CLI::App& command, flags& to) {
    add_count(command, "--keys", to.keys, "Keys the filter shall hold, e.g. --keys 100M");
    add_rate(command, "--fpr", to.rate,
             "False-positive rate (of a tree: of all its filters together), e.g. --fpr 1%, 0.001 or 1in1000");
    add_bytes(command, "--memory", to.memory, "Memory for the filter, e.g. --memory 2GiB");
    add_number(command, "--bits", to.bits, "Bits per key, e.g. --bits 10");
    add_count(command, "--k", to.k, "Bits set per key, for kinds where it can be chosen, e.g. --k 7");
    command.add_option("--prefer", to.prefer, "What counts: reads, adds or space, e.g. --prefer space")
        ->check(one_of(prefer_names))
        ->capture_default_str();
    command
        .add_option(
            "--need", to.needs,
            "What it must be able to: delete, grow, merge, fold, forget, concurrent, static, e.g. --need "
            "delete,concurrent (static: the set never changes, and static kinds take part)")
        ->delimiter(',')
        ->check(one_of({"delete", "grow", "merge", "fold", "forget", "concurrent", "static"}));
    command.add_option("--kind", to.kind, "Plan with this kind, e.g. --kind ribbon; otherwise the best one");
}

void add_forecasts(CLI::App& command, flags& to) {
    command
        .add_option("--growth", to.growth,
                    "Compound growth of --keys, e.g. --growth 30%/year, 2%/month, 1%/week")
        ->group("Growth");
    add_number(command, "--years", to.years, "Plan for so many years (1 unless told), e.g. --years 3")
        ->group("Growth");
    add_number(command, "--headroom", to.headroom,
               "Design for so many times the keys at the end, e.g. --headroom 2")
        ->group("Growth");
    command
        .add_option("--today", to.today, "Count from this day, e.g. --today 2026-11-16; otherwise from now")
        ->group("Growth");
    add_number(command, "--slo-ms", to.slo_ms, "A request shall not take longer, e.g. --slo-ms 5")
        ->group("Latency budget, instead of --fpr");
    add_number(command, "--hit-ms", to.hit_ms, "A request for a present key takes, e.g. --hit-ms 0.1")
        ->group("Latency budget, instead of --fpr");
    add_number(
        command, "--miss-ms", to.miss_ms,
        "An absent key takes, when it is searched in vain (in a tree: for each level), e.g. --miss-ms 8")
        ->group("Latency budget, instead of --fpr");
    add_share(command, "--absent", to.absent, "Share of requests for absent keys, e.g. --absent 0.7")
        ->group("Latency budget, instead of --fpr");
    add_share(command, "--tolerate", to.tolerate, "Share of requests that may be late, e.g. --tolerate 1%")
        ->group("Latency budget, instead of --fpr");
    add_number(command, "--qps", to.qps,
               "Requests per second: lookups avoided and wasted, e.g. --qps 20K --absent 0.9")
        ->group("Forecasts");
    add_count(command, "--inserted", to.inserted, "The rate when it holds so many keys, e.g. --inserted 2M")
        ->group("Forecasts");
    add_count(command, "--lsm-levels", to.lsm_levels,
              "A filter for each level of an LSM tree, e.g. --lsm-levels 5")
        ->group("LSM tree, instead of one filter");
    add_number(command, "--ratio", to.ratio,
               "Each level has so many times the keys of the one above, e.g. --ratio 10")
        ->group("LSM tree, instead of one filter");
}

void add_output(CLI::App& command, flags& to) {
    command.add_flag("--json", to.json, "The plan as JSON, e.g. bouncer plan --keys 1M --fpr 1% --json")
        ->group("Output");
    command
        .add_option("--html", to.html,
                    "Write a page with plots, one file without network, e.g. --html report.html")
        ->group("Output");
    command.add_flag("--force", to.force, "Overwrite the page if it exists, e.g. --html report.html --force")
        ->group("Output");
    command
        .add_flag("!--no-measure", to.measure,
                  "Do not measure the build cost, e.g. for scripts: half a second less")
        ->group("Output");
}

int run(const flags& given) {
    if (!given.html.empty()) check_page(given.html, given.force);
    const plan_report report = make_report(given);
    if (!given.html.empty() && report.filter_needed) write_page(given.html, plan_html(report), given.force);
    std::cout << (given.json ? plan_json(report) : plan_text(report));
    if (!given.html.empty() && report.filter_needed && !given.json)
        std::cout << "\nThe page with plots: " << given.html << '\n';
    return exit_done;
}

} // namespace

run_function add_plan(CLI::App& command) {
    const auto to = std::make_shared<flags>();
    add_goal(command, *to);
    add_forecasts(command, *to);
    add_output(command, *to);
    command.footer(
        "Give two of keys, rate and memory (or bits per key); the rest follows.\n"
        "Example: bouncer plan --keys 100M --fpr 0.1% --growth 30%/year --years 3 --html plan.html");
    return [to] { return run(*to); };
}

} // namespace bouncer::tool
