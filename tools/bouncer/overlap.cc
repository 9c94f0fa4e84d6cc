// bouncer overlap: how many keys two filters share, estimated from their bits.
#include "commands.h"
#include "keyless_filter.h"
#include "keys.h"
#include "overlap_estimate.h"
#include "text.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace bouncer::tool {

namespace {

struct overlap_options {
    std::string first;
    std::string second;
    bool json = false;
};

nlohmann::ordered_json json_of(const measured_number& of) {
    nlohmann::ordered_json out{{"value", of.value}, {"standard_error", nullptr}};
    if (of.error) out["standard_error"] = *of.error;
    return out;
}

std::string text_of(const measured_number& of, bool share) {
    const auto number = [&](double x) {
        return share ? number_text(x) : count_text(static_cast<std::uint64_t>(x + 0.5));
    };
    return number(of.value) +
           (of.error ? " ± " + (share ? number_text(*of.error, 2) : number(*of.error)) : "");
}

int overlap(const overlap_options& chosen) {
    keyless_filter a = open_keyless(chosen.first, access::load);
    const keyless_filter b = open_keyless(chosen.second, access::map);
    const std::string both = chosen.first + " and " + chosen.second;
    if (a.info.keys != b.info.keys)
        throw tool_error(both + " differ in their keys, which are taken " + describe(a.info.keys) + " and " +
                         describe(b.info.keys));
    const overlap_estimate found = value_or_throw(estimate_overlap(a.filter, b.filter), both);
    if (chosen.json) {
        std::cout << nlohmann::ordered_json{{"a", json_text(chosen.first)},
                                            {"b", json_text(chosen.second)},
                                            {"keys_a", json_of(found.a)},
                                            {"keys_b", json_of(found.b)},
                                            {"keys_union", json_of(found.either)},
                                            {"keys_intersection", json_of(found.both)},
                                            {"jaccard", json_of(found.jaccard)},
                                            {"share_of_a", json_of(found.share_of_a)},
                                            {"share_of_b", json_of(found.share_of_b)},
                                            {"significant", found.significant}}
                         .dump(2)
                  << '\n';
        return exit_done;
    }
    const auto line = [](const char* name, const std::string& value) { std::cout << name << value << '\n'; };
    line("A                 ", line_text(chosen.first) + ": " + text_of(found.a, false) + " keys");
    line("B                 ", line_text(chosen.second) + ": " + text_of(found.b, false) + " keys");
    line("in A or B         ", text_of(found.either, false));
    line("in A and B        ", text_of(found.both, false));
    line("Jaccard           ", text_of(found.jaccard, true));
    line("share of A in B   ", text_of(found.share_of_a, true));
    line("share of B in A   ", text_of(found.share_of_b, true));
    line("note              ", found.note);
    return exit_done;
}

} // namespace

run_function add_overlap(CLI::App& command) {
    auto chosen = std::make_shared<overlap_options>();
    command.add_option("A", chosen->first, "A filter: bouncer overlap monday.bnc tuesday.bnc")
        ->type_name("FILE.bnc")
        ->required();
    command.add_option("B", chosen->second, "Another of the same kind, parameters, hash and key form")
        ->type_name("FILE.bnc")
        ->required();
    command.add_flag("--json", chosen->json, "As JSON: overlap --json monday.bnc tuesday.bnc");
    command.footer(
        "Estimates: keys are counted by the bits they set, so every number has an error, which is told. "
        "That\n"
        "of the intersection is the sum of three; below a few times it, the intersection may be nothing.\n"
        "Example: bouncer overlap monday.bnc tuesday.bnc");
    return [chosen] { return overlap(*chosen); };
}

} // namespace bouncer::tool
