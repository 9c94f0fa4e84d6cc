// bouncer remove: keys out of a counting_bloom in a file, which is replaced as a whole.
#include "commands.h"
#include "filter_file.h"
#include "keyless_filter.h"
#include "pipeline.h"
#include "progress.h"
#include "secret.h"
#include "signals.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace bouncer::tool {

namespace {

struct remove_options {
    std::string path;
    input_options input;
    form_flags form;
    std::string key_file;
    bool skip_absent = false;
    bool trust = false;
    bool json = false;
    bool quiet = false;
};

struct remove_run {
    stored_filter& from;
    const remove_options& chosen;
    const record_reader& reader;
    progress shown;
    std::uint64_t records = 0;
    std::uint64_t absent = 0;
    std::string first_absent = {}; // "FILE:LINE"
};

// Keys are hashed by all threads. They are asked for and removed by one at a time: of two removes that race, both may see a
// counter of 1. Without a question there is no such race, and all threads remove.
class remove_job {
  public:
    explicit remove_job(remove_run& run) : run_(run), keys_(run.chosen.input, run.from.form) {}
    void work(const chunk& records) {
        keys_.hash(records, run_.from.hasher, hashes_);
        if (!run_.chosen.trust) return;
        for (const std::uint64_t hash : hashes_) ok_or_throw(run_.from.filter.remove(hash), run_.chosen.path);
    }
    void deliver(const chunk& records, std::uint64_t before) {
        if (!run_.chosen.trust)
            for (std::size_t i = 0; i < hashes_.size(); ++i)
                if (!value_or_throw(run_.from.filter.try_remove(hashes_[i]), run_.chosen.path) &&
                    run_.absent++ == 0)
                    run_.first_absent =
                        run_.reader.name(records.input) + ":" + std::to_string(before + i + 1);
        run_.records += hashes_.size();
        run_.shown.at(run_.records);
    }

  private:
    remove_run& run_;
    key_maker keys_;
    std::vector<std::uint64_t> hashes_;
};

int remove(const remove_options& chosen) {
    const auto key = chosen.key_file.empty() ? std::nullopt : std::optional(read_key_file(chosen.key_file));
    refuse_swapped(chosen.path, chosen.input.files);
    change_lock lock = lock_to_change(chosen.path);
    stored_filter from = open_stored(chosen.path, access::load, key, chosen.form);
    refuse_useless_key(key, {&from, 1});
    const bool can = from.filter.visit([]<class F>(const F&) { return deletable<F>; });
    if (!can) throw tool_error(chosen.path + ": " + from.filter.try_remove(0).error().message);
    // Of absent keys, so many seem to be there.
    const double slips = value_or_throw(from.filter.expected_fpr());
    record_reader reader(chosen.input.files, chosen.input.frame);
    remove_run run{from, chosen, reader, progress(reader, {.doing = "remove", .quiet = chosen.quiet})};
    pipeline<remove_job> line(reader, chosen.input.frame, [&] { return remove_job(run); });
    line.run(pipeline_threads(reader));
    run.shown.clear();
    stop_if_interrupted(); // nothing was written
    if (run.absent > 0 && !chosen.skip_absent)
        throw tool_error(
            chosen.path + ": " + count_text(run.absent) + " of " + count_text(run.records) +
            " keys are surely not in it, or come more often than they were added, the first at " +
            line_text(run.first_absent) + "; nothing was removed. --skip-absent removes the rest: up to " +
            rate_text(slips) + " of absent keys slip through then, and each can make others vanish");
    const std::uint64_t removed = run.records - run.absent;
    if (removed > 0) {
        from.info.keys_added -= std::min(from.info.keys_added, removed);
        save_back(from, lock);
    }
    if (chosen.json) {
        nlohmann::ordered_json report{{"file", json_text(chosen.path)},
                                      {"keys", run.records},
                                      {"removed", removed},
                                      {"absent", nullptr},
                                      {"absent_unnoticed", nullptr}};
        if (!chosen.trust) {
            report["absent"] = run.absent;
            report["absent_unnoticed"] = slips;
        }
        std::cout << report.dump(2) << '\n';
    } else if (!chosen.quiet) {
        std::cerr << line_text(chosen.path) << ": " << count_text(removed) << " keys removed";
        if (chosen.trust)
            std::cerr << "; none was asked for first\n";
        else
            std::cerr << ", " << count_text(run.absent)
                      << " were surely absent; of keys that are not there, at most " << rate_text(slips)
                      << " slip through\n";
    }
    return exit_done;
}

} // namespace

run_function add_remove(CLI::App& command) {
    auto chosen = std::make_shared<remove_options>();
    command
        .add_option("FILTER", chosen->path,
                    "A counting_bloom, replaced when all keys are out: bouncer remove users.bnc gone.txt")
        ->type_name("FILE.bnc")
        ->required();
    auto* const skip = command.add_flag(
        "--skip-absent", chosen->skip_absent,
        "Leave out keys that are surely absent, where without it one is an error and nothing is "
        "removed: remove --skip-absent users.bnc gone.txt");
    command
        .add_flag("--trust", chosen->trust,
                  "Ask for no key before it is removed: faster, and a key that is not there damages others: "
                  "remove --trust users.bnc gone.txt")
        ->excludes(skip);
    command.add_flag("--json", chosen->json, "The counts as JSON: remove --json users.bnc gone.txt");
    command.add_flag("-q,--quiet", chosen->quiet,
                     "No line about what was removed: remove -q users.bnc gone.txt");
    add_form_flags(command, chosen->form);
    add_key_file_flag(command, chosen->key_file);
    add_input_flags(command, chosen->input);
    command.footer("A key that is removed must have been added, and once for each time. So each is asked for "
                   "first: if any is\n"
                   "surely not there, they are counted, nothing is removed, and the exit status is 2. Of "
                   "keys that were never\n"
                   "there, at most the false-positive rate slips through (1 % at --fpr 1%); removing such a "
                   "key takes counts from\n"
                   "others, which can vanish. Example:\n"
                   "  bouncer remove users.bnc gone.txt");
    return [chosen] { return remove(*chosen); };
}

} // namespace bouncer::tool
