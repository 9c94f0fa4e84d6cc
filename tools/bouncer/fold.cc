// bouncer fold: a smaller filter of the same keys, without them.
#include "commands.h"
#include "file_signature.h"
#include "filling.h"
#include "filter_file.h"
#include "folds.h"
#include "keyless_filter.h"
#include "numbers.h"
#include "output_file.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include <bouncer/math.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <optional>

namespace bouncer::tool {

namespace {

struct fold_options {
    std::string input;
    std::string output;
    std::optional<std::uint64_t> factor;
    std::optional<double> fit;
    bool in_place = false; // the input is the output
    bool force = false;
    bool json = false;
    bool quiet = false;
};

constexpr std::uint64_t factor_most = std::uint64_t{1} << 20;

// The largest factor that divides, and whose filter is within `rate`. The exact math says which are worth a try; the bits,
// once folded, say whether it holds: two or three folds in all.
std::uint64_t best_factor(const keyless_filter& from, const detail::kind_entry& kind, double rate) {
    const double now = value_or_throw(from.filter.expected_fpr(), from.path);
    if (now > rate)
        throw tool_error(from.path + ": its rate is " + rate_text(now) + " already, above --fit " +
                         rate_text(rate) + ": there is nothing to fold");
    const double keys = value_or_throw(from.filter.approximate_size(), from.path);
    std::vector<possible_fold> folds = possible_folds(kind, from.info, keys, rate * 1.1, factor_most);
    if (folds.empty())
        throw tool_error(from.path + ": no factor divides it (" + from.filter.parameters() + ")");
    if (folds.front().rate > rate * 1.1)
        throw tool_error(from.path + ": folded by " + std::to_string(folds.front().factor) +
                         ", the least that divides it, its rate would be " + rate_text(folds.front().rate) +
                         ", above --fit " + rate_text(rate));
    if (folds.back().rate > rate * 1.1) folds.pop_back();
    double least = 0;
    for (; !folds.empty(); folds.pop_back()) {
        const auto folded = from.filter.fold(folds.back().factor);
        if (!folded) throw tool_error(from.path + ": " + folded.error().message);
        least = value_or_throw(folded->expected_fpr());
        if (least <= rate) return folds.back().factor;
    }
    throw tool_error(from.path + ": folded by the least that divides it, its rate would be " +
                     number_text(least * 100, 5) + " %, above --fit " + rate_text(rate));
}

int fold(const fold_options& chosen) {
    if (chosen.factor.has_value() == chosen.fit.has_value())
        throw tool_error("give either --factor N or --fit RATE");
    if (chosen.in_place != chosen.output.empty())
        throw tool_error("give either -o,--output FILE or --in-place");
    if (!chosen.in_place) check_output(chosen.output, chosen.force, {&chosen.input, 1}, is_filter_file);
    const std::string& output = chosen.in_place ? chosen.input : chosen.output;
    // Before it is read: no add is lost.
    change_lock lock = chosen.in_place ? lock_to_change(output) : lock_output(output, is_filter_file);
    const snapshot_info info = value_or_throw(inspect_filter(chosen.input));
    const detail::kind_entry& kind = *detail::find_kind(info.kind);
    if (kind.folded == nullptr)
        throw tool_error(chosen.input + ": a " + std::string(kind.name) + " cannot be folded");
    const std::uint64_t factor =
        chosen.factor ? *chosen.factor
                      : best_factor(open_keyless(chosen.input, access::map), kind, *chosen.fit);
    save_options options{.label = info.label,
                         .keys_added = info.keys_added,
                         .fpr_promised = chosen.fit.value_or(info.fpr_promised),
                         .compress = info.compressed,
                         .replace = (chosen.force || chosen.in_place) && lock,
                         .lock = &lock};
    if (const auto fields = kind.folded(info.fields, factor); fields && options.fpr_promised > 0)
        options.keys_designed = math::capacity(kind.shape(*fields), options.fpr_promised);
    const auto folded = fold_file(chosen.input, output, factor, options);
    if (!folded) throw tool_error(detail::in_file(folded.error(), chosen.input).message);
    const keyless_filter made = open_keyless(output, access::map);
    const double rate = value_or_throw(made.filter.expected_fpr());
    warn_if_overfull(made.filter, options.keys_designed, options.fpr_promised, line_text(output));
    if (chosen.json) {
        nlohmann::ordered_json report{{"file", json_text(output)},
                                      {"kind", kind.name},
                                      {"factor", factor},
                                      {"size_bytes_before", info.payload_bytes},
                                      {"size_bytes", folded->payload_bytes},
                                      {"keys_design", nullptr},
                                      {"fpr_promised", nullptr},
                                      {"fpr_expected", rate}};
        if (options.keys_designed > 0) report["keys_design"] = options.keys_designed;
        if (options.fpr_promised > 0) report["fpr_promised"] = options.fpr_promised;
        std::cout << report.dump(2) << '\n';
    } else if (!chosen.quiet) {
        std::cerr << line_text(output) << ": folded by " << factor << ", from "
                  << bytes_text(info.payload_bytes) << " to " << bytes_text(folded->payload_bytes)
                  << "; false-positive rate " << rate_text(rate) << " now\n";
    }
    return exit_done;
}

} // namespace

run_function add_fold(CLI::App& command) {
    auto chosen = std::make_shared<fold_options>();
    command.add_option("FILTER", chosen->input, "The filter: bouncer fold big.bnc -o small.bnc --fit 1%")
        ->type_name("FILE.bnc")
        ->required();
    auto* const output = command
                             .add_option("-o,--output", chosen->output,
                                         "The file to write, not the filter itself: -o small.bnc")
                             ->type_name("FILE.bnc");
    command
        .add_flag("--in-place", chosen->in_place,
                  "Replace the filter by the smaller one: fold --in-place big.bnc --factor 2")
        ->excludes(output);
    auto* const factor = add_count(command, "--factor", chosen->factor,
                                   "So many times smaller; must divide the filter's blocks: --factor 4");
    add_rate(command, "--fit", chosen->fit,
             "As small as it gets with a false-positive rate of at most this: --fit 1%, --fit 1in1000")
        ->excludes(factor);
    command.add_flag(
        "--force", chosen->force,
        "Replace a filter that exists, and nothing else: fold --force a.bnc -o b.bnc --factor 2");
    command.add_flag("-q,--quiet", chosen->quiet,
                     "No line about what was made: fold -q a.bnc -o b.bnc --factor 2");
    command.add_flag("--json", chosen->json, "What was made, as JSON: fold --json a.bnc -o b.bnc --factor 2");
    command.footer("For a filter with fewer keys than it was made for: the result is as if the same keys had "
                   "been added\n"
                   "to a small one. Its design becomes what it can hold at the promised rate. Example:\n"
                   "  bouncer fold half-empty.bnc -o small.bnc --fit 1%");
    return [chosen] { return fold(*chosen); };
}

} // namespace bouncer::tool
