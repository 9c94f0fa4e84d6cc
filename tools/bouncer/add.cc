// bouncer add: more keys into a filter in a file, which is replaced as a whole.
#include "commands.h"
#include "filling.h"
#include "filter_file.h"
#include "keyless_filter.h"
#include "secret.h"
#include "signals.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"
#include "window.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>

namespace bouncer::tool {

namespace {

struct add_options {
    std::string path;
    input_options input;
    form_flags form;
    std::string key_file;
    bool json = false;
    bool quiet = false;
};

// What a filter says of its keys: infinite if it cannot tell. And its rate.
double keys_in(const any_filter& filter) {
    const auto keys = filter.approximate_size();
    return keys ? *keys : std::numeric_limits<double>::infinity();
}
double rate_of(const any_filter& filter) {
    const auto rate = filter.expected_fpr();
    return rate ? *rate : 0;
}

// How many of the keys were new, about. Those that surely were are too few: a new key that is a false positive seems to be
// there. Of few keys the mean of both rates corrects that. Of many the filter's own count tells more; and where it is too full
// to count, all of them are taken to be new.
std::uint64_t new_keys(const filled& sum, double keys_before, double rate_before, const any_filter& after) {
    constexpr double little = 0.01;
    const double rate = rate_of(after);
    const double fresh = rate - rate_before < little
                             ? static_cast<double>(sum.surely_new) / (1 - (rate_before + rate) / 2)
                             : keys_in(after) - keys_before;
    if (!(fresh < static_cast<double>(sum.distinct))) return sum.distinct; // NaN as well
    return static_cast<std::uint64_t>(std::max(fresh, 0.0) + 0.5);
}

int add(const add_options& chosen) {
    const auto key = chosen.key_file.empty() ? std::nullopt : std::optional(read_key_file(chosen.key_file));
    refuse_swapped(chosen.path, chosen.input.files);
    change_lock lock = lock_to_change(chosen.path);
    stored_filter to = open_stored(chosen.path, access::load, key, chosen.form);
    refuse_useless_key(key, {&to, 1});
    if (!to.filter.writable()) throw tool_error(chosen.path + ": " + to.filter.add(0).error().message);
    rotate_to_now(to.filter, to.info, chosen.path);
    record_reader reader(chosen.input.files, chosen.input.frame);
    const add_function into = [&](std::span<const std::uint64_t> hashes) {
        return value_or_throw(to.filter.add_batch(hashes));
    };
    const double keys_before = keys_in(to.filter);
    const double rate_before = rate_of(to.filter);
    const filled sum = add_records(into, adding::by_all, reader, chosen.input, to.form, to.hasher,
                                   {.doing = "add", .quiet = chosen.quiet}, counting::by_sketch);
    stop_if_interrupted(); // nothing was written
    to.info.keys_added += new_keys(sum, keys_before, rate_before, to.filter);
    save_back(to, lock);
    warn_if_overfull(to.filter, to.info.keys_designed, to.info.fpr_promised, line_text(chosen.path));
    if (chosen.json)
        std::cout << nlohmann::ordered_json{{"file", json_text(chosen.path)},
                                            {"keys", sum.records},
                                            {"distinct", sum.distinct},
                                            {"surely_new", sum.surely_new}}
                         .dump(2)
                  << '\n';
    else if (!chosen.quiet)
        std::cerr << line_text(chosen.path) << ": " << count_text(sum.records) << " keys, "
                  << distinct_text(sum.distinct, sum.records) << "; " << count_text(sum.surely_new)
                  << " were surely not there before\n";
    return exit_done;
}

} // namespace

run_function add_add(CLI::App& command) {
    auto chosen = std::make_shared<add_options>();
    command
        .add_option("FILTER", chosen->path,
                    "The filter, replaced when all keys are in: bouncer add words.bnc more.txt")
        ->type_name("FILE.bnc")
        ->required();
    command.add_flag("--json", chosen->json, "The counts as JSON: add --json words.bnc more.txt");
    command.add_flag("-q,--quiet", chosen->quiet, "No line about what was added: add -q words.bnc more.txt");
    add_form_flags(command, chosen->form);
    add_key_file_flag(command, chosen->key_file);
    add_input_flags(command, chosen->input);
    return [chosen] { return add(*chosen); };
}

} // namespace bouncer::tool
