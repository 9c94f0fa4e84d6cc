// bouncer check: the lines that may be present in a filter.
#include "commands.h"
#include "filter_file.h"
#include "keyless_filter.h"
#include "keys.h"
#include "output.h"
#include "pipeline.h"
#include "progress.h"
#include "secret.h"
#include "stored_filter.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

namespace bouncer::tool {

namespace {

struct check_options {
    std::string first;
    std::vector<std::string> more;
    input_options input;
    form_flags form;
    std::string key_file;
    bool all = false;
    bool absent = false;
    bool count = false;
    bool tag = false;
    bool json = false;
};

// What the jobs share. Written in deliver() only, which is one thread at a time.
struct check_run {
    const check_options& chosen;
    std::vector<stored_filter> filters;
    output out;
    progress shown;
    std::uint64_t asked = 0;
    std::uint64_t found = 0;
    std::vector<std::uint64_t> found_in; // of each filter
};

class check_job {
  public:
    explicit check_job(check_run& run) : run_(run), counts_(run.filters.size()) {
        for (const stored_filter& one : run.filters) keys_.emplace_back(run.chosen.input, one.form);
    }

    void work(const chunk& records) {
        const std::size_t count = records.records();
        const std::size_t filters = run_.filters.size();
        if (room_ < count) {
            room_ = count;
            for (auto* const answers : {&answers_, &any_}) *answers = std::make_unique<bool[]>(count);
            first_ = std::make_unique<std::uint32_t[]>(count);
        }
        found_ = 0;
        std::fill(counts_.begin(), counts_.end(), 0);
        for (std::size_t f = 0; f < filters; ++f) {
            const stored_filter& one = run_.filters[f];
            if (f == 0 || one.hasher.spec() != run_.filters[f - 1].hasher.spec() ||
                one.form != run_.filters[f - 1].form)
                keys_[f].hash(records, one.hasher, hashes_);
            counts_[f] = one.filter.may_contain(hashes_, {answers_.get(), count});
            if (f == 0) {
                std::copy_n(answers_.get(), count, any_.get());
                std::fill_n(first_.get(), run_.chosen.tag ? count : 0, 0);
                continue;
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (run_.chosen.tag && answers_[i] && !any_[i]) first_[i] = static_cast<std::uint32_t>(f);
                any_[i] = run_.chosen.all ? any_[i] && answers_[i] : any_[i] || answers_[i];
            }
        }
        text_.clear();
        for (std::size_t i = 0; i < count;) {
            if (any_[i] == run_.chosen.absent) {
                ++i;
                continue;
            }
            std::size_t end = i + 1; // a run of lines that are printed is copied at once
            if (!run_.chosen.tag)
                while (end < count && any_[end] != run_.chosen.absent) ++end;
            found_ += end - i;
            if (!run_.chosen.count) {
                if (run_.chosen.tag && !run_.chosen.absent) {
                    text_ += run_.chosen.all ? "all" : line_text(run_.filters[first_[i]].path);
                    text_ += '\t';
                }
                text_ += records.framed(i, end);
            }
            i = end;
        }
    }

    void deliver(const chunk& records, std::uint64_t) {
        run_.asked += records.records();
        run_.found += found_;
        for (std::size_t f = 0; f < counts_.size(); ++f) run_.found_in[f] += counts_[f];
        run_.out.append(text_);
        if (text_.capacity() > chunk::room_kept_bytes) std::string().swap(text_);
        run_.out
            .flush(); // an answer is there as soon as its line: a chunk of a file is large, of a terminal a line
        run_.shown.at(run_.asked);
    }

  private:
    check_run& run_;
    std::vector<key_maker> keys_;
    std::vector<std::uint64_t> hashes_;
    std::size_t room_ = 0;
    std::unique_ptr<bool[]> answers_;
    std::unique_ptr<bool[]> any_;
    std::unique_ptr<std::uint32_t[]> first_; // the first filter that has it
    std::vector<std::uint64_t> counts_;
    std::uint64_t found_ = 0;
    std::string text_;
};

int check(const check_options& chosen) {
    if (chosen.tag && chosen.input.frame == framing::length_prefixed)
        throw tool_error("--tag puts text before a line, and --length-prefixed records are no lines");
    if (chosen.json && !chosen.count) throw tool_error("--json belongs to -c: lines are printed as they are");
    const auto key = chosen.key_file.empty() ? std::nullopt : std::optional(read_key_file(chosen.key_file));
    std::vector<stored_filter> filters;
    refuse_swapped(chosen.first, chosen.input.files);
    std::vector<std::string> paths{chosen.first};
    paths.insert(paths.end(), chosen.more.begin(), chosen.more.end());
    for (const std::string& path : paths)
        filters.push_back(open_stored(path, access::load, key, chosen.form));
    refuse_useless_key(key, filters);
    record_reader reader(chosen.input.files, chosen.input.frame);
    check_run run{chosen,
                  std::move(filters),
                  output(STDOUT_FILENO, "standard output", chosen.input.frame),
                  progress(reader, {.doing = "check", .beside_lines = true}),
                  0,
                  0,
                  std::vector<std::uint64_t>(paths.size())};
    pipeline<check_job> line(reader, chosen.input.frame, [&] { return check_job(run); });
    line.run(pipeline_threads(reader));
    run.shown.clear();
    run.out.flush();
    stop_if_interrupted();
    if (chosen.count) {
        if (chosen.json) {
            nlohmann::ordered_json report{{"keys", run.asked},
                                          {chosen.absent ? "absent" : "present", run.found}};
            for (std::size_t f = 0; f < paths.size(); ++f)
                report["filters"].push_back({{"file", json_text(paths[f])}, {"present", run.found_in[f]}});
            run.out.append(report.dump(2) + "\n");
        } else {
            run.out.append(std::to_string(run.found) + "\n");
        }
        run.out.flush();
    }
    return run.found > 0 ? exit_done : exit_none;
}

} // namespace

run_function add_check(CLI::App& command) {
    auto chosen = std::make_shared<check_options>();
    command.add_option("FILTER", chosen->first, "The filter: bouncer check words.bnc lines.txt")
        ->type_name("FILE.bnc")
        ->required();
    command
        .add_option("-f,--filter", chosen->more,
                    "One more filter; a line may be in any: -f more.bnc -f others.bnc")
        ->type_name("FILE.bnc")
        ->allow_extra_args(false);
    command.add_flag("--all", chosen->all,
                     "Only lines that may be in every filter: check --all -f b.bnc a.bnc lines.txt");
    command.add_flag("-v,--invert-match", chosen->absent,
                     "The lines that are surely absent instead: check -v known.bnc new.txt");
    command.add_flag("-c,--count", chosen->count, "Only how many lines: check -c known.bnc lines.txt");
    command.add_flag(
        "--tag", chosen->tag,
        "Before each line the first filter that may have it, and a tab: check --tag -f b.bnc a.bnc");
    command.add_flag("--json", chosen->json,
                     "With -c: the counts, of each filter too: check -c --json a.bnc lines.txt");
    add_form_flags(command, chosen->form);
    add_key_file_flag(command, chosen->key_file);
    add_input_flags(command, chosen->input);
    command.footer("Lines keep their order. Exit status: 0 some lines were found, 1 none, 2 an error.\n"
                   "Example: zcat access.log.gz | bouncer check --field 7 --delimiter ' ' bad-urls.bnc");
    return [chosen] { return check(*chosen); };
}

} // namespace bouncer::tool
