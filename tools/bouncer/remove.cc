// bouncer remove: keys out of a counting_bloom in a file, which is replaced as a whole.
#include "commands.h"
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

#include <iostream>
#include <memory>

namespace bouncer::tool {

namespace {

struct remove_options {
    std::string path;
    input_options input;
    form_flags form;
    std::string key_file;
    bool strict = false;
    bool json = false;
    bool quiet = false;
};

struct remove_run {
    stored_filter& from;
    const remove_options& chosen;
    progress shown;
    std::uint64_t records = 0;
    std::uint64_t absent = 0;
};

// Keys are hashed by all threads and removed by one at a time: of two removes that race, both may see a counter of 1.
class remove_job {
  public:
    explicit remove_job(remove_run& run) : run_(run), keys_(run.chosen.input, run.from.form) {}
    void work(const chunk& records) { keys_.hash(records, run_.from.hasher, hashes_); }
    void deliver(const chunk&, std::uint64_t) {
        for (std::size_t i = 0; i < hashes_.size(); ++i) {
            const auto removed = run_.from.filter.try_remove(hashes_[i]);
            if (!removed) throw tool_error(run_.chosen.path + ": " + removed.error().message);
            if (*removed) continue;
            ++run_.absent;
            if (run_.chosen.strict)
                throw bad_record(i, "the key is surely not in " + run_.chosen.path + "; nothing was removed");
        }
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
    change_lock lock = lock_to_change(chosen.path);
    stored_filter from = open_stored(chosen.path, access::load, key, chosen.form);
    const bool can = from.filter.visit([]<class F>(const F&) { return deletable<F>; });
    if (!can) throw tool_error(chosen.path + ": " + from.filter.try_remove(0).error().message);
    record_reader reader(chosen.input.files, chosen.input.frame);
    remove_run run{from, chosen, progress(reader, "remove")};
    pipeline<remove_job> line(reader, chosen.input.frame, [&] { return remove_job(run); });
    line.run(pipeline_threads(reader));
    stop_if_interrupted(); // nothing was written
    const std::uint64_t removed = run.records - run.absent;
    if (removed > 0)
        save_back(from, from.info.keys_added > removed ? from.info.keys_added - removed : 0, lock);
    if (chosen.json)
        std::cout << nlohmann::ordered_json{{"file", json_text(chosen.path)},
                                            {"keys", run.records},
                                            {"removed", removed},
                                            {"absent", run.absent}}
                         .dump(2)
                  << '\n';
    else if (!chosen.quiet)
        std::cerr << line_text(chosen.path) << ": " << count_text(removed) << " keys removed, "
                  << count_text(run.absent) << " were surely absent\n";
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
    command.add_flag(
        "--strict", chosen->strict,
        "A key that is surely absent is an error, and nothing is removed: remove --strict users.bnc");
    command.add_flag("--json", chosen->json, "The counts as JSON: remove --json users.bnc gone.txt");
    command.add_flag("-q,--quiet", chosen->quiet,
                     "No line about what was removed: remove -q users.bnc gone.txt");
    add_form_flags(command, chosen->form);
    add_key_file_flag(command, chosen->key_file);
    add_input_flags(command, chosen->input);
    command.footer(
        "A key that is removed must have been added, and once for each time. One that is surely absent is\n"
        "left alone and counted; of those that never were there, the few that seem present (the false-\n"
        "positive rate) are removed, and that can make other keys vanish. Example:\n"
        "  bouncer remove users.bnc gone.txt");
    return [chosen] { return remove(*chosen); };
}

} // namespace bouncer::tool
