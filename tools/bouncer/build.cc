// bouncer build: a filter of the keys in files or a pipe.
#include "commands.h"
#include "filling.h"
#include "keyless_filter.h"
#include "keys.h"
#include "numbers.h"
#include "progress.h"
#include "secret.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"
#include "window.h"

#include "signals.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

namespace bouncer::tool {

namespace {

struct build_choice {
    std::string path;
    std::optional<double> rate;
    std::optional<std::uint64_t> expect;
    std::string kind = "blocked_bloom";
    std::string prefer = "reads";
    std::optional<std::uint64_t> memory;
    std::optional<std::chrono::nanoseconds> window;
    std::string label;
    bool compress = false;
    bool force = false;
    bool json = false;
    bool quiet = false;
    hash_flags hash;
    form_flags form;
    input_options input;
};

// What must be known of a kind before there is a filter of it.
struct kind_facts {
    bool is_static = false;
    bool grows = false;
    bool rotates = false;
    bool fill_tells_keys = false; // their number, if there is room for all
    std::uint32_t steps = 1;      // of the window
    hash_spec default_hash;
    result<std::uint64_t> bytes = std::uint64_t{0};
};

// A filter while only this process knows it: plain words, a third of the work that atomic ones take.
struct new_filter {
    add_function add;
    std::function<result<void>(std::uint64_t)> rotate_to; // empty: it has no window
    std::function<any_filter()> view;                     // valid while this lives
    std::function<std::uint64_t()> size_bytes;
};

new_filter make_new(const std::string& kind, const goal& wanted, const hash_spec& hash) {
    new_filter out;
    for_each_kind<plain_words>([&]<class F>() {
        if constexpr (incremental<F>) {
            if (F::kind_name != kind) return;
            auto made = F::create(wanted, {.hash = hash});
            if (!made) throw tool_error(made.error().message);
            const auto filter = std::make_shared<F>(std::move(*made));
            out.add = [filter](std::span<const std::uint64_t> hashes) { return filter->add_batch(hashes); };
            if constexpr (rotating<F>)
                out.rotate_to = [filter](std::uint64_t epoch) { return filter->rotate_to(epoch); };
            out.size_bytes = [filter] { return filter->size_bytes(); };
            out.view = [filter] { return any_filter(filter->view()); };
        }
    });
    return out;
}

kind_facts facts_of(const std::string& kind, const goal& wanted) {
    kind_facts out;
    for_each_kind<atomic_words>([&]<class F>() {
        if (F::kind_name != kind) return;
        out.is_static = !incremental<F>;
        out.grows = F::kind_id == atomic_scalable_bloom::kind_id;
        // Not of kinds that forget, or where the bits of a key hang together: DCSO's estimates are 3 to 9 times less exact.
        out.fill_tells_keys = F::no_false_negatives && !out.grows && F::kind_id != atomic_dcso_bloom::kind_id;
        // All keys come in one step of such a filter, which is made for a part of the window each.
        if constexpr (rotating<F>) {
            out.rotates = true;
            out.steps = F::solve({.keys = 1000, .false_positive_rate = 0.01}).value().live - 1;
        }
        out.default_hash = spec_of(typename F::default_hasher{});
        if constexpr (requires { F::solve(wanted); }) {
            const auto chosen = F::solve(wanted);
            if (chosen)
                out.bytes = F::size_bytes_of(*chosen);
            else
                out.bytes = chosen.error();
        } else {
            out.bytes = failure{error_code::unsupported,
                                "a " + kind + " is built from two lists, which only the library does"};
        }
    });
    return out;
}

enum prefer prefer_of(const std::string& name) {
    if (name == "reads") return prefer::reads;
    if (name == "adds") return prefer::adds;
    if (name == "space") return prefer::space;
    throw tool_error("--prefer: \"" + name + "\" is none of reads, adds and space");
}

// Refuses what cannot fit, before anything is read or allocated.
void check_memory(const build_choice& chosen, const std::string& kind, std::uint64_t bytes,
                  std::uint64_t keys) {
    const std::string what = "a " + kind + " for " + short_count_text(static_cast<double>(keys)) +
                             " keys takes " + bytes_text(bytes);
    if (chosen.memory && bytes > *chosen.memory)
        throw tool_error(what + ", and --memory allows " + bytes_text(*chosen.memory));
    if (const std::uint64_t free = free_memory_bytes(); bytes > free)
        throw tool_error(what + ", and " + bytes_text(free) + " are free");
}

// Hashes leave the memory that the filter is about to take.
void make_room(hash_spool& spool, const std::string& kind, const goal& wanted, std::uint64_t memory) {
    const auto bytes = facts_of(kind, wanted).bytes;
    if (!bytes || *bytes > memory) return; // create() says so
    spool.shrink(memory - *bytes);
    if (*bytes + spool.memory_bytes() > memory)
        throw tool_error("a " + kind + " for " + short_count_text(static_cast<double>(wanted.keys)) +
                         " keys takes " + bytes_text(*bytes) + ", with " + bytes_text(spool.memory_bytes()) +
                         " to read its hashes, and --memory allows " + bytes_text(memory));
}

any_filter build_static(const build_choice& chosen, const std::string& kind, const goal& wanted,
                        const any_hasher& hasher, std::uint64_t& records) {
    record_reader reader(chosen.input.files, chosen.input.frame);
    progress shown(reader, "build");
    key_maker keys(chosen.input, chosen.form.form());
    chunk now(chosen.input.frame);
    std::vector<std::uint64_t> hashes;
    std::size_t taken = 0;
    std::size_t input = 0;
    std::uint64_t line = 0;
    const hash_source source = [&](std::span<std::uint64_t> out) -> result<std::size_t> {
        while (taken == hashes.size()) {
            try {
                const bool more = reader.next(now);
                if (now.input != input) {
                    input = now.input;
                    line = 0;
                }
                if (!more) return std::size_t{0};
                now.split(chosen.input.frame);
                keys.hash(now, hasher, hashes);
            } catch (const bad_record& bad) {
                throw tool_error(reader.name(input) + ":" + std::to_string(line + bad.index + 1) + ": " +
                                 bad.what());
            }
            line += now.records();
            records += now.records();
            taken = 0;
            shown.at(records);
        }
        const std::size_t some = std::min(out.size(), hashes.size() - taken);
        std::copy_n(hashes.begin() + static_cast<std::ptrdiff_t>(taken), some, out.begin());
        taken += some;
        return some;
    };
    build_options options{.hash = hasher.spec()};
    if (chosen.memory) options.memory_cap_bytes = *chosen.memory;
    options.progress = [](const build_progress&) { return !interrupted(); };
    auto made = any_filter::build(source, wanted, options, kind);
    stop_if_interrupted();
    if (!made) throw tool_error(made.error().message);
    return std::move(*made);
}

int build(const build_choice& chosen) {
    const std::string kind = kind_of(chosen.kind);
    check_output(chosen.path, chosen.force);
    goal wanted{.keys = chosen.expect.value_or(1), .prefer = prefer_of(chosen.prefer)};
    wanted.false_positive_rate = chosen.rate.value_or(0.01);
    if (chosen.expect && *chosen.expect == 0) throw tool_error("--expect must be at least 1");
    const kind_facts facts = facts_of(kind, wanted);
    if (!facts.bytes) throw tool_error(facts.bytes.error().message);
    std::optional<window_schedule> schedule;
    if (chosen.window) {
        if (!facts.rotates)
            throw tool_error("--window: a " + kind +
                             " has no window: only a windowed_bloom forgets by the clock");
        schedule = schedule_of(*chosen.window, facts.steps);
    }
    any_hasher hasher = chosen.hash.hasher();
    if (chosen.hash.name.empty() && chosen.hash.key_file.empty())
        hasher = value_or_throw(any_hasher::make(facts.default_hash));

    filled sum;
    // Many keys in a filter with room for all are counted by its fill: with 400,000 the standard error is 0.04 to 0.12 % (seven
    // kinds, rates from 1e-6 to 0.5). A sketch has 0.29 %, and would take a tenth of the build's time.
    const auto fill_tells = [&](std::uint64_t records) {
        return facts.fill_tells_keys && !chosen.expect && records >= 400'000 &&
               wanted.false_positive_rate <= 0.5;
    };
    bool complete = !chosen.expect; // room for what was counted
    new_filter fresh;               // before the view of it
    std::optional<any_filter> made;
    const auto check_size = [&] {
        const kind_facts sized = facts_of(kind, wanted);
        if (!sized.bytes) throw tool_error(sized.bytes.error().message);
        check_memory(chosen, kind, *sized.bytes, wanted.keys);
        if (!chosen.quiet && ::isatty(STDERR_FILENO) == 1)
            std::cerr << kind << " for " << short_count_text(static_cast<double>(wanted.keys))
                      << " keys: " << bytes_text(*sized.bytes) << '\n';
    };
    const auto create = [&] {
        check_size();
        fresh = make_new(kind, wanted, hasher.spec());
        if (schedule) ok_or_throw(fresh.rotate_to(schedule->epoch_now()));
    };
    if (facts.is_static) {
        const auto keys = chosen.expect ? chosen.expect : counted_records(chosen.input);
        if (keys) {
            wanted.keys = std::max<std::uint64_t>(1, *keys);
            check_size();
        }
        made.emplace(build_static(chosen, kind, wanted, hasher, sum.records));
        sum.distinct = static_cast<std::uint64_t>(value_or_throw(made->approximate_size())); // exactly
        wanted.keys = sum.distinct;
        complete = true;
    } else {
        std::optional<std::uint64_t> keys = chosen.expect;
        if (facts.grows) {
            if (!keys) keys = 100'000; // the first layer; the others follow
            complete = false;
        }
        if (!keys) keys = counted_records(chosen.input);
        if (keys) {
            wanted.keys = std::max<std::uint64_t>(1, *keys) * facts.steps;
            create();
            record_reader reader(chosen.input.files, chosen.input.frame);
            // One that grows is watched: what it will take is not known beforehand.
            const add_function within = [&](std::span<const std::uint64_t> hashes) {
                const std::size_t changed = fresh.add(hashes);
                if (chosen.memory && fresh.size_bytes() > *chosen.memory)
                    throw tool_error("the " + kind + " takes " + bytes_text(fresh.size_bytes()) +
                                     " by now, and --memory allows " + bytes_text(*chosen.memory));
                return changed;
            };
            const bool told = fill_tells(*keys);
            sum = add_records(facts.grows ? within : fresh.add, adding::one_by_one, reader, chosen.input,
                              chosen.form.form(), hasher, "build", told ? counting::no : counting::by_sketch);
            if (told) sum.distinct = distinct_in(fresh.view(), sum.records);
        } else {
            hash_spool spool(chosen.memory ? *chosen.memory / 2 : free_memory_bytes() / 4);
            record_reader reader(chosen.input.files, chosen.input.frame);
            spool_records(spool, reader, chosen.input, chosen.form.form(), hasher);
            stop_if_interrupted();
            sum.records = spool.size();
            wanted.keys = std::max<std::uint64_t>(1, sum.records) * facts.steps;
            if (chosen.memory) make_room(spool, kind, wanted, *chosen.memory);
            create();
            spool.each([&](std::span<const std::uint64_t> hashes) { fresh.add(hashes); });
            sum.distinct =
                fill_tells(sum.records) ? distinct_in(fresh.view(), sum.records) : distinct_in(spool);
        }
        stop_if_interrupted();
        made.emplace(fresh.view());
    }
    const double promised = *wanted.false_positive_rate;
    change_lock lock = lock_output(chosen.path); // an add to the old one ends first
    ok_or_throw(save(*made, chosen.path,
                     {.label = chosen.label,
                      .keys_designed = wanted.keys,
                      .keys_added = sum.distinct,
                      .fpr_promised = promised,
                      .compress = chosen.compress,
                      .durable = false, // it can be built again, and a damaged file is refused
                      .replace = chosen.force,
                      .lock = &lock,
                      .keys = chosen.form.form(),
                      .window = chosen.window.value_or(std::chrono::nanoseconds(0)),
                      .complete = complete}));
    warn_if_overfull(*made, wanted.keys, promised, line_text(chosen.path));
    const std::uint64_t bytes = made->size_bytes();
    if (chosen.json) {
        const auto rate = made->expected_fpr();
        nlohmann::ordered_json report{
            {"file", json_text(chosen.path)}, {"kind", kind},        {"keys", sum.records},
            {"distinct", sum.distinct},       {"size_bytes", bytes}, {"keys_design", wanted.keys},
            {"fpr_promised", promised}};
        if (rate) report["fpr_expected"] = *rate;
        std::cout << report.dump(2) << '\n';
    } else if (!chosen.quiet) {
        std::cerr << line_text(chosen.path) << ": " << kind << " of " << count_text(sum.records) << " keys, "
                  << (facts.is_static ? count_text(sum.distinct) + " distinct"
                                      : distinct_text(sum.distinct, sum.records))
                  << ", " << bytes_text(bytes);
        if (sum.records > 0)
            std::cerr << ", "
                      << number_text(static_cast<double>(bytes) * 8 / static_cast<double>(sum.distinct), 3)
                      << " bits per distinct key";
        std::cerr << '\n';
    }
    return exit_done;
}

} // namespace

run_function add_build(CLI::App& command) {
    auto chosen = std::make_shared<build_choice>();
    command.add_option("-o,--output", chosen->path, "The file to write: -o words.bnc")
        ->type_name("FILE.bnc")
        ->required();
    add_rate(command, "--fpr", chosen->rate, "False-positive rate (default 0.01): --fpr 0.1%, --fpr 1in1000");
    add_count(command, "--expect", chosen->expect,
              "Distinct keys to make room for; without it they are counted first: --expect 10M");
    std::string kinds;
    for (const kind_info& kind : all_kinds) kinds += (kinds.empty() ? "" : ", ") + std::string(kind.name);
    command
        .add_option("--kind", chosen->kind,
                    "Kind of filter (default blocked_bloom): " + kinds + ". --kind ribbon")
        ->type_name("KIND");
    command
        .add_option("--prefer", chosen->prefer,
                    "reads (default), adds or space, where a kind can choose: --prefer space")
        ->type_name("WHAT");
    add_bytes(command, "--memory", chosen->memory,
              "The most memory for filter and hashes; more hashes go to a temporary file: --memory 2GiB");
    add_window(
        command, chosen->window,
        "How long a windowed_bloom remembers a key; the file keeps it for rotate --now: --kind windowed "
        "--window 24h");
    command.add_option("--label", chosen->label, "Free text kept in the file: --label 'bad urls, 2026-11'")
        ->type_name("TEXT");
    command.add_flag("--compress", chosen->compress,
                     "Compress the file: for filters far from full: --expect 1G --compress");
    command.add_flag("--force", chosen->force,
                     "Replace a file that exists: build --force -o words.bnc words.txt");
    command.add_flag("-q,--quiet", chosen->quiet,
                     "No line about what was built: build -q -o words.bnc words.txt");
    command.add_flag("--json", chosen->json,
                     "What was built, as JSON on standard output: build --json -o w.bnc w.txt > report.json");
    add_form_flags(command, chosen->form);
    add_hash_flags(command, chosen->hash);
    add_input_flags(command, chosen->input);
    command.footer(
        "A key is the bytes before the line end: a carriage return counts, and so does the empty line.\n"
        "--hex and --fold-case are kept in the file, and done by check and add. Example:\n"
        "  bouncer build -o words.bnc --fpr 0.001 /usr/share/dict/words");
    return [chosen] { return build(*chosen); };
}

} // namespace bouncer::tool
