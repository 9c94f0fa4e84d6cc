// bouncer dedup: the first occurrence of each line, in order, streaming.
#include "commands.h"
#include "dedup_memory.h"
#include "file_signature.h"
#include "filter_file.h"
#include "keys.h"
#include "line_guess.h"
#include "numbers.h"
#include "output.h"
#include "output_file.h"
#include "pipeline.h"
#include "progress.h"
#include "secret.h"
#include "signals.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace bouncer::tool {

namespace {

struct dedup_options {
    input_options input;
    form_flags form;
    hash_flags hash;
    bool exact = false;
    bool filter = false;
    std::optional<double> rate;
    std::string window;
    std::optional<std::uint64_t> expect;
    std::string state;
    std::optional<double> commit_seconds;
    bool count = false;
    bool stats = false;
    bool json = false;
};

using steady = std::chrono::steady_clock;

// What the jobs share. Written in deliver() only, which is one thread at a time.
struct dedup_run {
    const dedup_options& chosen;
    key_form form;
    any_hasher hasher;
    change_lock lock; // of the state
    std::unique_ptr<dedup_memory> memory;
    output out;
    progress shown;
    std::uint64_t lines = 0;
    std::uint64_t distinct = 0;
    std::uint64_t bytes = 0;
    std::uint64_t distinct_bytes = 0;
    steady::time_point begin = steady::now();
    steady::time_point committed = steady::now();
    double commit_cost = 0; // seconds, of the last one
    std::uint64_t committed_lines = 0;
    std::mutex mutex = {}; // of all above: who delivers, and who commits while nothing comes
    // Of a chunk, or of a commit that nobody waited for: nothing is committed after it.
    std::exception_ptr failed = {};

    // Only after the lines are out: whoever starts anew from the state has them.
    void commit() {
        if (chosen.state.empty()) return;
        out.flush();
        struct stat about {};
        if (::fstat(STDOUT_FILENO, &about) == 0 && S_ISREG(about.st_mode) && ::fdatasync(STDOUT_FILENO) != 0)
            throw tool_error("standard output: " + std::string(std::strerror(errno)) +
                             "; nothing was committed");
        const auto before = steady::now();
        memory->commit(chosen.state, form, lock);
        committed = steady::now();
        committed_lines = lines;
        commit_cost = std::chrono::duration<double>(committed - before).count();
    }
    // At most a tenth of the time goes into commits.
    void commit_if_due() {
        const double since = std::chrono::duration<double>(steady::now() - committed).count();
        if (lines > committed_lines && since > chosen.commit_seconds.value_or(60) && since > 10 * commit_cost)
            commit();
    }
};

// Commits while no line comes: a stream that pauses is safe a minute later. Ends with its scope.
class commit_timer {
  public:
    explicit commit_timer(dedup_run& run) {
        if (run.chosen.state.empty()) return;
        const signals_for_main_only held;
        thread_ = std::jthread([&run](const std::stop_token& stop) {
            std::mutex own;
            std::condition_variable_any wake;
            const auto period =
                std::chrono::duration<double>(std::clamp(run.chosen.commit_seconds.value_or(60), 0.01, 1.0));
            std::unique_lock wait(own);
            while (!wake.wait_for(wait, stop, period, [] { return false; }) && !stop.stop_requested()) {
                const std::lock_guard guard(run.mutex);
                try {
                    if (!run.failed) run.commit_if_due();
                } catch (...) {
                    run.failed = std::current_exception(); // told with the next line, or at the end
                }
            }
        });
    }

  private:
    std::jthread thread_;
};

class dedup_job {
  public:
    explicit dedup_job(dedup_run& run) : run_(run), keys_(run.chosen.input, run.form) {}

    void work(const chunk& records) {
        keys_.hash(records, run_.hasher, hashes_);
        if (room_ < records.records()) {
            room_ = records.records();
            seen_ = std::make_unique<bool[]>(room_);
        }
    }

    void deliver(const chunk& records, std::uint64_t) {
        const std::lock_guard guard(run_.mutex);
        if (run_.failed) std::rethrow_exception(run_.failed);
        try {
            remember_and_print(records);
        } catch (...) {
            run_.failed = std::current_exception(); // what is remembered may not be printed: commit no more
            throw;
        }
    }

  private:
    void remember_and_print(const chunk& records) {
        const std::size_t count = records.records();
        run_.memory->test_and_add(records, hashes_, {seen_.get(), count});
        for (std::size_t i = 0; i < count;) {
            if (seen_[i]) {
                ++i;
                continue;
            }
            std::size_t end = i + 1;
            while (end < count && !seen_[end]) ++end;
            const std::string_view lines = records.framed(i, end);
            run_.distinct += end - i;
            run_.distinct_bytes += lines.size();
            if (!run_.chosen.count) run_.out.append(lines);
            i = end;
        }
        run_.lines += count;
        run_.bytes += records.bytes().size();
        if (records.bytes().size() < record_reader::chunk_bytes / 2)
            run_.out.flush(); // a stream that is not in haste
        run_.shown.at(run_.lines);
        if (!run_.chosen.state.empty()) run_.commit_if_due();
    }

    dedup_run& run_;
    key_maker keys_;
    std::vector<std::uint64_t> hashes_;
    std::size_t room_ = 0;
    std::unique_ptr<bool[]> seen_;
};

// What it held when it was loaded, and more, replaces it: until then nobody else may change it. A run may last for days, so
// that another does not wait. Holds nothing where there is no state yet.
change_lock lock_state(const std::string& path) {
    if (path.empty() || ::access(path.c_str(), F_OK) != 0) return {};
    return value_or_throw(change_lock::try_take(path));
}

std::unique_ptr<dedup_memory> make_memory(const dedup_options& chosen, const record_reader& reader,
                                          const any_hasher& hasher, const key_form& form) {
    std::optional<std::string> state;
    if (!chosen.state.empty() && ::access(chosen.state.c_str(), F_OK) == 0) {
        const auto info = inspect_filter(chosen.state);
        if (!info) throw tool_error(info.error().message);
        if (info->keys != form)
            throw tool_error(chosen.state + ": its keys are taken " + describe(info->keys) + ", and these " +
                             describe(form));
        if (chosen.rate && info->fpr_promised != 0 && *chosen.rate != info->fpr_promised)
            throw tool_error(chosen.state + ": it has a rate of " + rate_text(info->fpr_promised) +
                             ", and --fpr says " + rate_text(*chosen.rate));
        state = chosen.state;
    }
    if (!chosen.state.empty() && !state) check_output(chosen.state, true, {}, is_filter_file);
    if (chosen.exact) return make_exact_memory(chosen.input, form);
    if (!chosen.window.empty()) {
        window_choice how;
        if (const auto seconds = parse_seconds(chosen.window)) {
            if (*seconds < 0.01 || *seconds > 3e9)
                throw tool_error("--window: a span of time is 10 ms to 95 years, and not " + chosen.window);
            how.seconds = *seconds;
        } else if (const auto lines = parse_count(chosen.window); lines && *lines > 0) {
            how.lines = *lines;
        } else {
            throw tool_error("--window: \"" + chosen.window +
                             "\" is neither a span of time such as 24h nor a number of lines such as 10M");
        }
        return make_window_memory(hasher, how, state);
    }
    if (chosen.filter) {
        filter_choice how{.rate = chosen.rate.value_or(1e-6)};
        if (chosen.expect) {
            how.first_keys = *chosen.expect;
            how.counted = true;
        } else if (const auto guess = guess_distinct_lines(reader, chosen.input.frame)) {
            how.guessed_keys = *guess;
        }
        return make_filter_memory(hasher, how, state);
    }
    return make_fingerprint_memory(hasher, guess_distinct_lines(reader, chosen.input.frame).value_or(0),
                                   state);
}

void print_stats(const dedup_run& run) {
    const lost_lines lost = run.memory->lost();
    const double seconds = std::chrono::duration<double>(steady::now() - run.begin).count();
    if (run.chosen.json) {
        nlohmann::ordered_json report{{"lines", run.lines},
                                      {"distinct", run.distinct},
                                      {"duplicates", run.lines - run.distinct},
                                      {"bytes", run.bytes},
                                      {"distinct_bytes", run.distinct_bytes},
                                      {"expected_lost", lost.expected},
                                      {"memory", run.memory->description()},
                                      {"memory_bytes", run.memory->size_bytes()},
                                      {"seconds", seconds}};
        if (lost.bound) report["bound_lost"] = *lost.bound;
        std::cerr << report.dump(2) << '\n';
        return;
    }
    const auto share =
        run.lines == 0 ? 0.0 : static_cast<double>(run.lines - run.distinct) / static_cast<double>(run.lines);
    std::cerr << count_text(run.lines) << " lines, " << count_text(run.distinct) << " distinct, "
              << count_text(run.lines - run.distinct) << " duplicates (" << rate_text(share) << ")\n"
              << "remembered by " << run.memory->description() << ", " << bytes_text(run.memory->size_bytes())
              << '\n'
              << "distinct lines lost: ";
    if (run.chosen.exact)
        std::cerr << "none\n";
    else {
        std::cerr << number_text(lost.expected, 2) << " expected";
        if (lost.bound)
            std::cerr << ", at most " << number_text(*lost.bound, 2) << " in the mean by the promised rate";
        std::cerr << '\n';
    }
    std::cerr << seconds_text(seconds) << ", "
              << short_count_text(static_cast<double>(run.lines) / std::max(seconds, 1e-9)) << " lines/s\n";
}

int dedup(const dedup_options& chosen) {
    if (chosen.exact + chosen.filter + !chosen.window.empty() > 1)
        throw tool_error("--exact, --filter and --window are three ways: one of them");
    if (chosen.exact && !chosen.state.empty())
        throw tool_error(
            "--exact keeps the lines themselves, which no --state file holds: leave out one of the two");
    if (chosen.exact && !chosen.hash.key_file.empty())
        throw tool_error("--exact compares the lines themselves: --key-file has no use");
    if (chosen.rate && !chosen.filter) throw tool_error("--fpr belongs to --filter");
    if (chosen.expect && !chosen.filter) throw tool_error("--expect belongs to --filter");
    if (chosen.commit_seconds && chosen.state.empty()) throw tool_error("--commit-every belongs to --state");
    if (chosen.json && !chosen.stats && !chosen.count) throw tool_error("--json belongs to --stats or -c");
    const key_form form = chosen.form.form();
    const any_hasher hasher = chosen.hash.hasher();
    record_reader reader(chosen.input.files, chosen.input.frame);
    dedup_run run{.chosen = chosen,
                  .form = form,
                  .hasher = hasher,
                  .lock = lock_state(chosen.state),
                  .memory = make_memory(chosen, reader, hasher, form),
                  .out = output(STDOUT_FILENO, "standard output", chosen.input.frame),
                  .shown = progress(reader, {.doing = "dedup", .beside_lines = true})};
    // The state may not know that half a line, which then comes again.
    if (!chosen.state.empty() && !chosen.count) run.out.end_half_record();
    pipeline<dedup_job> line(reader, chosen.input.frame, [&] { return dedup_job(run); });
    try {
        const commit_timer timer(run);
        line.run(pipeline_threads(reader));
    } catch (const quiet_exit&) {
        throw;
    } catch (...) {
        if (!run.out.failed()) run.out.flush(); // the lines before what is wrong
        throw;
    }
    run.shown.clear();
    if (run.failed) std::rethrow_exception(run.failed);
    run.out.flush();
    run.commit();
    stop_if_interrupted();
    if (chosen.count) {
        run.out.append(
            chosen.json && !chosen.stats
                ? nlohmann::ordered_json{{"lines", run.lines}, {"distinct", run.distinct}}.dump(2) + "\n"
                : std::to_string(run.distinct) + "\n");
        run.out.flush();
    }
    if (chosen.stats) print_stats(run);
    return exit_done;
}

} // namespace

run_function add_dedup(CLI::App& command) {
    auto chosen = std::make_shared<dedup_options>();
    command.add_flag("--exact", chosen->exact,
                     "Remember the keys themselves, so that no line is ever lost: dedup --exact small.txt");
    command.add_flag(
        "--filter", chosen->filter,
        "Bounded memory: a growing filter, which loses a few new lines: dedup --filter --fpr 1e-5 huge.txt");
    add_rate(command, "--fpr", chosen->rate,
             "With --filter: the share of new lines that may be lost (default 1e-6): --fpr 1e-5");
    command
        .add_option("--window", chosen->window,
                    "Forget: a line counts as seen if it came in the last 24h, or among the last 10M lines: "
                    "--window 24h")
        ->type_name("SPAN");
    add_count(command, "--expect", chosen->expect,
              "With --filter: lines to make room for at once: --expect 10M");
    command
        .add_option("--state", chosen->state,
                    "Remember between runs in this file, made if missing: --state seen.bnc. Written after "
                    "the lines were")
        ->type_name("FILE.bnc");
    command
        .add_option_function<std::string>(
            "--commit-every",
            [chosen](const std::string& text) {
                auto seconds = parse_seconds(text);
                if (!seconds) throw CLI::ValidationError("--commit-every", seconds.error().message);
                chosen->commit_seconds = *seconds;
            },
            "How often the state is written, besides at the end (default 60s): --commit-every 5min")
        ->type_name("SPAN");
    command.add_flag("-c,--count", chosen->count, "Only the number of distinct lines: dedup -c visitors.txt");
    command.add_flag(
        "--stats", chosen->stats,
        "A summary on stderr at the end, lost lines among it: dedup --stats all.txt > unique.txt");
    command.add_flag("--json", chosen->json,
                     "The summary, or the count, as JSON: dedup --stats --json all.txt > unique.txt");
    add_form_flags(command, chosen->form);
    add_hash_flags(command, chosen->hash);
    add_input_flags(command, chosen->input);
    command.footer("By default 64-bit fingerprints are remembered, 11 to 16 bytes a distinct line: about n^2 "
                   "/ 2^65 of n lines\n"
                   "are lost, 0.00003 of 30 million. Example: bouncer dedup --stats urls.txt > unique.txt");
    return [chosen] { return dedup(*chosen); };
}

} // namespace bouncer::tool
