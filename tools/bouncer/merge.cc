// bouncer merge: the union of filters in files, as a new file.
#include "commands.h"
#include "file_signature.h"
#include "filling.h"
#include "filter_file.h"
#include "keyless_filter.h"
#include "output_file.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"
#include "window.h"

#include "format/kinds.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <iostream>
#include <memory>
#include <set>
#include <utility>

namespace bouncer::tool {

namespace {

struct merge_options {
    std::string output;
    std::vector<std::string> inputs;
    bool in_place = false; // the first input is the output
    bool force = false;
    bool json = false;
    bool quiet = false;
};

struct input_list {
    std::vector<std::string> paths;
    std::vector<std::string> repeated;
};

// Apart those that are one and the same file: its keys would be counted twice.
input_list different(const std::vector<std::string>& paths) {
    input_list out;
    std::set<std::pair<dev_t, ino_t>> seen;
    for (const std::string& path : paths) {
        struct stat about {};
        const bool again =
            ::stat(path.c_str(), &about) == 0 && !seen.emplace(about.st_dev, about.st_ino).second;
        (again ? out.repeated : out.paths).push_back(path);
    }
    return out;
}

// Kinds whose union is more than an OR of their words: two of them are in memory at a time.
void merge_loaded(const std::vector<std::string>& paths, const std::string& output, save_options options) {
    keyless_filter first = open_keyless(paths.front(), access::load);
    for (std::size_t i = 1; i < paths.size(); ++i) {
        const keyless_filter next = open_keyless(paths[i], access::map);
        const std::string both = paths.front() + " and " + paths[i];
        if (first.info.keys != next.info.keys)
            throw tool_error(both + " differ in their keys, which are taken " + describe(first.info.keys) +
                             " and " + describe(next.info.keys));
        if (first.info.window != next.info.window)
            throw tool_error(both + " differ in their windows, which are " + window_text(first.info.window) +
                             " and " + window_text(next.info.window));
        if (const auto rate = first.filter.merge(next.filter); !rate)
            throw tool_error(both + ": " + rate.error().message);
    }
    options.keys = first.info.keys;
    options.window = first.info.window;
    ok_or_throw(save(first.filter, output, options));
}

// Two builds for other numbers of keys differ in their parameters, which nobody gave: what differs is what was asked for.
void check_design(const std::string& first_path, const snapshot_info& first, const std::string& path,
                  const snapshot_info& other) {
    const detail::kind_entry& kind = *detail::find_kind(first.kind);
    const bool told = first.keys_designed != 0 && other.keys_designed != 0 && first.fpr_promised > 0 &&
                      other.fpr_promised > 0;
    if (first.kind != other.kind || kind.is_static || first.kind == atomic_scalable_bloom::kind_id ||
        first.fields == other.fields || !told)
        return;
    const bool keys = first.keys_designed != other.keys_designed;
    const bool rates = first.fpr_promised != other.fpr_promised;
    if (!keys && !rates) return;
    throw tool_error(
        first_path + " and " + path + " were made for " +
        (keys ? count_text(first.keys_designed) + " and " + count_text(other.keys_designed) + " keys" : "") +
        (keys && rates ? ", " : "") +
        (rates ? "rates of " + rate_text(first.fpr_promised) + " and " + rate_text(other.fpr_promised) : "") +
        ": build both with the same " +
        (keys && rates ? "--expect and --fpr"
         : keys        ? "--expect"
                       : "--fpr") +
        ", or one of them with --like " + (other.keys_designed > first.keys_designed ? path : first_path));
}

int merge(const merge_options& chosen) {
    if (chosen.in_place != chosen.output.empty())
        throw tool_error("give either -o,--output FILE or --in-place");
    if (!chosen.in_place) check_output(chosen.output, chosen.force, chosen.inputs, is_filter_file);
    const std::string& output = chosen.in_place ? chosen.inputs.front() : chosen.output;
    // Before it is read: no add is lost.
    change_lock lock = chosen.in_place ? lock_to_change(output) : lock_output(output, is_filter_file);
    const auto [paths, repeated] = different(chosen.inputs);
    save_options options{.replace = (chosen.force || chosen.in_place) && lock, .lock = &lock};
    bool by_or = true;
    snapshot_info first;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const snapshot_info info = value_or_throw(inspect_filter(paths[i]));
        options.keys_added += info.keys_added;
        if (i != 0) {
            check_design(paths.front(), first, paths[i], info);
            continue;
        }
        first = info;
        options.label = info.label;
        options.keys_designed = info.keys_designed;
        options.fpr_promised = info.fpr_promised;
        options.compress = info.compressed;
        const detail::kind_entry& kind = *detail::find_kind(info.kind);
        by_or = kind.union_is_or || kind.is_static; // of static ones merge_files says why not
    }
    if (by_or) {
        if (const auto merged = merge_files(paths, output, options); !merged)
            throw tool_error(merged.error().message);
    } else {
        merge_loaded(paths, output, options);
    }
    for (const std::string& path : repeated)
        std::cerr << "warning: " << line_text(path) << " is given twice, and was taken once\n";
    const keyless_filter made = open_keyless(output, access::map);
    warn_if_overfull(made.filter, options.keys_designed, options.fpr_promised, line_text(output));
    const auto keys = made.filter.approximate_size();
    const auto rate = made.filter.expected_fpr();
    if (chosen.json) {
        nlohmann::ordered_json report{{"file", json_text(output)}, {"kind", made.filter.kind_name()},
                                      {"files", paths.size()},     {"keys_added", options.keys_added},
                                      {"keys_estimated", nullptr}, {"fpr_promised", nullptr},
                                      {"fpr_expected", nullptr},   {"size_bytes", made.filter.size_bytes()}};
        if (keys) report["keys_estimated"] = *keys;
        if (options.fpr_promised > 0) report["fpr_promised"] = options.fpr_promised;
        if (rate) report["fpr_expected"] = *rate;
        std::cout << report.dump(2) << '\n';
    } else if (!chosen.quiet) {
        std::cerr << line_text(output) << ": " << made.filter.kind_name() << " of " << paths.size()
                  << (paths.size() == 1 ? " file, " : " files, ") << bytes_text(made.filter.size_bytes());
        if (keys) std::cerr << ", about " << short_count_text(*keys) << " keys";
        if (rate) std::cerr << ", false-positive rate " << rate_text(*rate);
        std::cerr << '\n';
    }
    return exit_done;
}

} // namespace

run_function add_merge(CLI::App& command) {
    auto chosen = std::make_shared<merge_options>();
    auto* const output =
        command
            .add_option("-o,--output", chosen->output, "The file to write, none of the filters: -o all.bnc")
            ->type_name("FILE.bnc");
    command
        .add_flag("--in-place", chosen->in_place,
                  "Replace the first of the filters by the union: merge --in-place all.bnc tuesday.bnc")
        ->excludes(output);
    command
        .add_option("FILTERS", chosen->inputs,
                    "Filters of one kind, size and hash: bouncer merge -o all.bnc monday.bnc tuesday.bnc")
        ->type_name("FILE.bnc")
        ->required();
    command.add_flag("--force", chosen->force,
                     "Replace a filter that exists, and nothing else: merge --force -o all.bnc a.bnc b.bnc");
    command.add_flag("-q,--quiet", chosen->quiet, "No line about what was made: merge -q -o all.bnc *.bnc");
    command.add_flag("--json", chosen->json, "What was made, as JSON: merge --json -o all.bnc *.bnc");
    command.footer("The union is as if all keys had been added to one filter. Label, design and promised "
                   "rate are those\n"
                   "of the first. Filters that differ are refused, and the message says in what. Filters of "
                   "bits are read\n"
                   "in pieces: 8 MiB of memory, however large they are. Example:\n"
                   "  bouncer merge -o week.bnc monday.bnc tuesday.bnc wednesday.bnc");
    return [chosen] { return merge(*chosen); };
}

} // namespace bouncer::tool
