// bouncer build: a filter of the keys in files or a pipe.
#include "commands.h"
#include "file_signature.h"
#include "filling.h"
#include "filter_file.h"
#include "keyless_filter.h"
#include "keys.h"
#include "nearest.h"
#include "new_filter.h"
#include "numbers.h"
#include "output_file.h"
#include "progress.h"
#include "secret.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"
#include "window.h"

#include "format/kinds.h"

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
    std::string like; // a filter whose parameters, hash and keys' form it gets
    std::string label;
    bool compress = false;
    bool force = false;
    bool json = false;
    bool quiet = false;
    hash_flags hash;
    form_flags form;
    input_options input;
};

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
    progress shown(reader, {.doing = "build", .quiet = chosen.quiet});
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

// --like: what the other file says takes the place of all flags that would differ.
std::optional<snapshot_info> likeness(build_choice& chosen) {
    if (chosen.like.empty()) return std::nullopt;
    snapshot_info info = value_or_throw(inspect_filter(chosen.like));
    const detail::kind_entry& kind = *detail::find_kind(info.kind);
    if (kind.is_static)
        throw tool_error("--like: " + chosen.like + " is a " + std::string(kind.name) +
                         ", whose parameters follow from its keys: build it with --kind " +
                         std::string(kind.name));
    chosen.kind = kind.name;
    chosen.rate = info.fpr_promised > 0 ? std::optional(info.fpr_promised) : std::nullopt;
    chosen.form = {info.keys.hex, info.keys.fold_case};
    if (info.window.count() != 0) chosen.window = info.window;
    return info;
}

std::uint32_t steps_of(const snapshot_info& info) {
    const detail::kind_entry& kind = *detail::find_kind(info.kind);
    return kind.window_steps == nullptr ? 1 : kind.window_steps(info.fields);
}

any_hasher hasher_of(const build_choice& chosen, const std::optional<snapshot_info>& like,
                     const hash_spec& usual) {
    if (like) {
        auto made = any_hasher::make(like->hash, chosen.hash.key());
        if (!made) throw tool_error("--like: " + chosen.like + ": " + made.error().message);
        return *made;
    }
    if (chosen.hash.name.empty() && chosen.hash.key_file.empty())
        return value_or_throw(any_hasher::make(usual));
    return chosen.hash.hasher();
}

std::vector<std::string> inputs_of(const build_choice& chosen) {
    std::vector<std::string> out = chosen.input.files;
    if (out.empty()) out.emplace_back("-");
    for (const std::string& each : {chosen.hash.key_file, chosen.like})
        if (!each.empty()) out.push_back(each);
    return out;
}

// What the file says of itself; 0: not told.
struct promises {
    std::uint64_t keys = 0;
    double rate = 0;
};

void tell(const build_choice& chosen, const any_filter& made, const filled& sum, const promises& promise) {
    const std::uint64_t bytes = made.size_bytes();
    if (chosen.json) {
        const auto rate = made.expected_fpr();
        nlohmann::ordered_json report{
            {"file", json_text(chosen.path)}, {"kind", made.kind_name()}, {"keys", sum.records},
            {"distinct", sum.distinct},       {"size_bytes", bytes},      {"keys_design", promise.keys},
            {"fpr_promised", promise.rate}};
        if (rate) report["fpr_expected"] = *rate;
        std::cout << report.dump(2) << '\n';
    } else if (!chosen.quiet) {
        std::cerr << line_text(chosen.path) << ": " << made.kind_name() << " of " << count_text(sum.records)
                  << " keys, "
                  << (sum.exact ? count_text(sum.distinct) + " distinct"
                                : distinct_text(sum.distinct, sum.records))
                  << ", " << bytes_text(bytes);
        if (sum.records > 0)
            std::cerr << ", "
                      << number_text(static_cast<double>(bytes) * 8 / static_cast<double>(sum.distinct), 3)
                      << " bits per distinct key";
        std::cerr << '\n';
    }
}

int build(build_choice chosen) {
    check_output(chosen.path, chosen.force, inputs_of(chosen), is_filter_file);
    const auto like = likeness(chosen);
    const std::string kind = kind_of(chosen.kind);
    goal wanted{.keys = chosen.expect.value_or(1), .prefer = prefer_of(chosen.prefer)};
    wanted.false_positive_rate = chosen.rate.value_or(0.01);
    if (chosen.expect && *chosen.expect == 0) throw tool_error("--expect must be at least 1");
    kind_facts facts = facts_of(kind, wanted);
    if (like) facts.steps = steps_of(*like);
    if (!facts.bytes) throw tool_error(facts.bytes.error().message);
    std::optional<window_schedule> schedule;
    if (chosen.window) {
        if (!facts.rotates)
            throw tool_error("--window: a " + kind +
                             " has no window: only a windowed_bloom forgets by the clock");
        schedule = schedule_of(*chosen.window, facts.steps);
    }
    const any_hasher hasher = hasher_of(chosen, like, facts.default_hash);
    if (like) chosen.expect = std::max<std::uint64_t>(1, like->keys_designed / facts.steps);

    filled sum;
    // Many keys in a filter with room for all are counted by its fill: with 400,000 the standard error is 0.04 to 0.12 % (seven
    // kinds, rates from 1e-6 to 0.5). A sketch has 0.29 %, and would take a tenth of the build's time.
    const auto fill_tells = [&](std::uint64_t records) {
        return facts.fill_tells_keys && !chosen.expect && records >= 400'000 &&
               wanted.false_positive_rate <= 0.5;
    };
    new_filter fresh; // before the view of it
    std::optional<any_filter> made;
    const auto check_size = [&] {
        // The other may have grown.
        const auto bytes =
            like && !facts.grows ? result<std::uint64_t>(like->payload_bytes) : facts_of(kind, wanted).bytes;
        if (!bytes) throw tool_error(bytes.error().message);
        check_memory(chosen, kind, *bytes, wanted.keys);
        if (!chosen.quiet && ::isatty(STDERR_FILENO) == 1)
            std::cerr << kind << " for " << short_count_text(static_cast<double>(wanted.keys))
                      << " keys: " << bytes_text(*bytes) << '\n';
    };
    const auto create = [&] {
        check_size();
        fresh = like ? make_like(kind, chosen.like, hasher.spec()) : make_new(kind, wanted, hasher.spec());
        if (schedule) ok_or_throw(fresh.rotate_to(schedule->epoch_now()));
    };
    if (facts.is_static) {
        const auto keys = chosen.expect ? chosen.expect : counted_records(chosen.input, chosen.quiet);
        if (keys) {
            wanted.keys = std::max<std::uint64_t>(1, *keys);
            check_size();
        }
        made.emplace(build_static(chosen, kind, wanted, hasher, sum.records));
        sum.distinct = static_cast<std::uint64_t>(value_or_throw(made->approximate_size()));
        sum.exact = true;
        wanted.keys = sum.distinct;
    } else {
        std::optional<std::uint64_t> keys = chosen.expect;
        if (!keys && facts.grows) keys = 100'000; // the first layer; the others follow
        if (!keys) keys = counted_records(chosen.input, chosen.quiet);
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
                              chosen.form.form(), hasher, {.doing = "build", .quiet = chosen.quiet},
                              told ? counting::no : counting::by_sketch);
            if (told) sum.distinct = distinct_in(fresh.view(), sum.records);
        } else {
            hash_spool spool(chosen.memory ? *chosen.memory / 2 : free_memory_bytes() / 4);
            record_reader reader(chosen.input.files, chosen.input.frame);
            spool_records(spool, reader, chosen.input, chosen.form.form(), hasher,
                          {.doing = "reading", .quiet = chosen.quiet});
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
    // Without --expect it was made for the keys that came. Only where many of them repeat there is room for more.
    const bool for_these = !chosen.expect && !facts.grows && !facts.rotates &&
                           static_cast<double>(sum.distinct) >= 0.9 * static_cast<double>(sum.records);
    const promises promise =
        like ? promises{like->keys_designed, like->fpr_promised}
             : promises{for_these ? std::max<std::uint64_t>(1, sum.distinct) : wanted.keys,
                        *wanted.false_positive_rate};
    change_lock lock = lock_output(chosen.path, is_filter_file); // an add to the old one ends first
    ok_or_throw(save(*made, chosen.path,
                     {.label = chosen.label,
                      .keys_designed = promise.keys,
                      .keys_added = sum.distinct,
                      .fpr_promised = promise.rate,
                      .compress = chosen.compress,
                      .durable = false, // it can be built again, and a damaged file is refused
                      .replace = chosen.force && lock,
                      .lock = &lock,
                      .keys = chosen.form.form(),
                      .window = chosen.window.value_or(std::chrono::nanoseconds(0))}));
    warn_if_overfull(*made, promise.keys, promise.rate, line_text(chosen.path), sum.distinct);
    tell(chosen, *made, sum, promise);
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
    auto* const like =
        command
            .add_option("--like", chosen->like,
                        "Kind, parameters, hash and form of keys of this filter, so that both can be "
                        "merged: --like monday.bnc")
            ->type_name("FILE.bnc");
    std::string kinds;
    for (const kind_info& kind : all_kinds) kinds += (kinds.empty() ? "" : ", ") + std::string(kind.name);
    command
        .add_option("--kind", chosen->kind,
                    "Kind of filter (default blocked_bloom): " + kinds + ". --kind ribbon")
        ->type_name("KIND");
    command
        .add_option("--prefer", chosen->prefer,
                    "reads (default), adds or space, where a kind can choose: --prefer space")
        ->check(one_of(prefer_names))
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
                     "Replace a filter that exists, and nothing else: build --force -o words.bnc words.txt");
    command.add_flag("-q,--quiet", chosen->quiet,
                     "No line about what was built: build -q -o words.bnc words.txt");
    command.add_flag("--json", chosen->json,
                     "What was built, as JSON on standard output: build --json -o w.bnc w.txt > report.json");
    add_form_flags(command, chosen->form);
    add_hash_flags(command, chosen->hash);
    add_input_flags(command, chosen->input);
    for (const char* const decided :
         {"--kind", "--fpr", "--expect", "--prefer", "--window", "--hash", "--hex", "--fold-case"})
        like->excludes(command.get_option(decided));
    command.footer(
        "A key is the bytes before the line end: a carriage return counts, and so does the empty line.\n"
        "--hex and --fold-case are kept in the file, and done by check and add. Example:\n"
        "  bouncer build -o words.bnc --fpr 0.001 /usr/share/dict/words");
    return [chosen] { return build(*chosen); };
}

} // namespace bouncer::tool
