// The static kinds: bits per key against the bound, builds, single and batched queries, the memory limit, and builds with a
// memory cap.
#include "figure_support.h"
#include "line_buffer.h"

#include <bouncer/binary_fuse.h>
#include <bouncer/cascade.h>
#include <bouncer/math.h>
#include <bouncer/ribbon.h>
#include <bouncer/xor_filter.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {
namespace {

constexpr double static_rate = 1.0 / 256;

template <class F>
struct subject_of {
    const char* name;
    bouncer::goal goal = {.false_positive_rate = static_rate};
    unsigned lines;      // a query reads
    bool adjacent_lines; // one after the other, not each at a place of its own
};
const subject_of<bouncer::ribbon> ribbons{"ribbon", {.false_positive_rate = static_rate}, 2, true};
// Of 7 and 10 columns: a key's two blocks begin anywhere in a line, so that they lie in 2.6 and 3.4 lines on average.
const subject_of<bouncer::ribbon> ribbons_1pct{"ribbon_1pct", {.false_positive_rate = 0.01}, 3, true};
const subject_of<bouncer::ribbon> ribbons_01pct{"ribbon_01pct", {.false_positive_rate = 0.001}, 4, true};
const subject_of<bouncer::binary_fuse> fuses{"fuse", {.false_positive_rate = static_rate}, 3, false};
const subject_of<bouncer::binary_fuse> fuses4{
    "fuse4", {.false_positive_rate = static_rate, .prefer = bouncer::prefer::space}, 4, false};
const subject_of<bouncer::xor_filter> xors{"xor", {.false_positive_rate = static_rate}, 3, false};
// Level 0, of 7 to 8 columns, answers most of the keys that are not listed.
const subject_of<bouncer::cascade> cascades{"cascade", {}, 3, true};

template <class F>
F built(const subject_of<F>& kind, std::span<const std::uint64_t> hashes, unsigned threads) {
    return value_of(F::build(hashes, kind.goal, {.threads = threads}));
}

// How far the measured rate is from the promised one, in sigma.
template <class F>
double sigma_of(const F& filter, std::size_t queries) {
    const double expected = filter.expected_fpr();
    const double found = measured_fpr(filter, queries);
    return std::abs(found - expected) / std::sqrt(expected * (1 - expected) / static_cast<double>(queries));
}

// ns per query of a batch that only reads the lines: as little arithmetic as gives places of their own.
double limit_ns(const line_buffer& buffer, std::span<const std::uint64_t> hashes, unsigned lines,
                bool adjacent_lines) {
    constexpr std::size_t depth = 32;
    constexpr unsigned lines_most = 4;
    std::array<const std::uint64_t*, depth * lines_most> ring;
    const std::uint64_t range = buffer.lines() - lines;
    const auto ask = [&](std::size_t i) {
        std::uint64_t hash = hashes[i];
        const std::uint64_t* at = buffer.words() + below(hash, range) * 8;
        for (unsigned which = 0; which < lines; ++which) {
            __builtin_prefetch(at);
            ring[i % depth * lines_most + which] = at;
            hash *= 0x9e3779b97f4a7c15u;
            at = adjacent_lines ? at + 8 : buffer.words() + below(hash, range) * 8;
        }
    };
    std::uint64_t sum = 0;
    const double ns = time_of([&] {
        for (std::size_t i = 0; i < depth; ++i) ask(i);
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            for (unsigned which = 0; which < lines; ++which) sum += *ring[i % depth * lines_most + which];
            if (i + depth < hashes.size()) ask(i + depth);
        }
    });
    asm volatile("" ::"r"(sum));
    return ns / static_cast<double>(hashes.size());
}

class measuring {
  public:
    measuring(const options& chosen, const figure_filter& wanted, figure_set& out)
        : rounds_(std::min(chosen.repeat, 9u)), wanted_(wanted), out_(out) {}

    // Whatever is wanted of one kind with so many keys.
    template <class F>
    void of(const subject_of<F>& kind, std::uint64_t keys, const char* size) {
        const auto name = [&](const char* what) {
            return std::string("static.") + kind.name + "_" + what + "_" + size;
        };
        const auto wants = [&](const char* what) { return wanted_(name(what)); };
        const bool builds = wants("build_ns");
        const bool queries = wants("query_ns") || wants("batch") || wants("limit");
        const bool two = wants("two_threads");
        if (!builds && !queries && !two && !wants("bits") && !wants("sigma")) return;
        const std::vector<std::uint64_t> hashes = some_present(0, static_cast<std::size_t>(keys));
        const F filter = built(kind, hashes, 0);
        out_.values[name("bits")] = {filter.bits_per_key(), 0, 0};
        if (wants("sigma")) out_.values[name("sigma")] = {sigma_of(filter, 20'000'000), 0, 0};
        if (builds || two) build_times(kind, hashes, name("build_ns"), two ? name("two_threads") : "");
        // As the rows of the other kinds: the questions of a filter in the cache must not push it out.
        if (queries)
            query_times(kind, filter, keys, half_hits(keys, keys <= 2 * million ? 1'000'000 : 4'000'000),
                        name);
        for (row& each : out_.rows) {
            if (each.kind != F::kind_name || each.keys != keys || each.bits_per_key != 0) continue;
            each.bits_per_key = filter.bits_per_key();
            each.fpr_promised = *kind.goal.false_positive_rate;
        }
    }

    void spill() {
        if (!wanted_("static.spill_peak")) return;
        constexpr std::uint64_t keys = 100 * million;
        constexpr std::uint64_t cap = std::uint64_t{256} << 20;
        std::uint64_t given = 0;
        const bouncer::hash_source source =
            [&](std::span<std::uint64_t> into) -> bouncer::result<std::size_t> {
            const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), keys - given));
            present_hashes(given, into.first(some));
            given += some;
            return some;
        };
        double ns = 0;
        const auto peak = extra_mib([&] {
            ns = wall_of([&] {
                (void)value_of(bouncer::ribbon::build(source, ribbons.goal, {.memory_cap_bytes = cap}));
            });
        });
        if (peak) out_.values["static.spill_peak"] = {*peak * 1024 * 1024 / static_cast<double>(cap), 0, 0};
        out_.rows.push_back(
            figure_row("static.build_spilled_100m", "ribbon", keys, {ns / static_cast<double>(keys)}));
    }

    void cascade() {
        const auto name = [](const char* what) { return std::string("static.cascade_") + what + "_10m"; };
        const auto wants = [&](const char* what) { return wanted_(name(what)); };
        const bool queries = wants("query_ns") || wants("batch") || wants("limit");
        if (!queries && !wanted_("static.cascade_bits")) return;
        const auto listed = some_present(0, 100'000);
        const auto others = some_present(100'000, 9'900'000);
        const auto f = value_of(bouncer::cascade::build(std::span<const std::uint64_t>(listed), others));
        const double bound = bouncer::math::exact_set_bits(listed.size(), others.size());
        out_.values["static.cascade_bits"] = {8 * static_cast<double>(f.size_bytes()) / bound, 0, 0};
        if (!queries) return;
        // Half of the questions are for listed keys, which pass two levels at least; all are of the universe.
        std::vector<std::uint64_t> asked(million);
        for (std::size_t i = 0; i < asked.size(); ++i)
            asked[i] = i % 2 == 0 ? listed[below(scrambled(i), listed.size())]
                                  : others[below(scrambled(i), others.size())];
        query_times(cascades, f, 10 * million, asked, name);
        for (row& each : out_.rows)
            if (each.kind == bouncer::cascade::kind_name) each.bits_per_key = f.bits_per_key();
    }

  private:
    template <class F>
    void build_times(const subject_of<F>& kind, std::span<const std::uint64_t> hashes,
                     const std::string& name, const std::string& two_threads) {
        const auto keys = static_cast<double>(hashes.size());
        const unsigned rounds = std::min(rounds_, hashes.size() > 20 * million ? 3u : 7u);
        const auto on = [&](unsigned threads) {
            return wall_of([&] { built(kind, hashes, threads); }) / keys;
        };
        std::vector<double> one;
        std::vector<double> cpu;
        std::vector<double> two;
        for (unsigned round = 0; round <= rounds; ++round) {
            const double ns = time_of([&] { built(kind, hashes, 1); }) / keys;
            if (round != 0) cpu.push_back(ns);
            if (two_threads.empty()) continue;
            const double alone = on(1);
            const double both = on(2);
            if (round != 0) one.push_back(alone), two.push_back(both);
        }
        out_.values[name] = {median_of(cpu), 0, 0};
        out_.rows.push_back(figure_row(name, std::string(F::kind_name), hashes.size(), cpu));
        if (!two_threads.empty()) out_.values[two_threads] = paired_ratio(one, two);
    }

    template <class F, class Name>
    void query_times(const subject_of<F>& kind, const F& filter, std::uint64_t keys,
                     const std::vector<std::uint64_t>& queries, Name name) {
        const answer_space answers(queries.size());
        const auto count = static_cast<double>(queries.size());
        std::size_t found = 0;
        const auto single = [&] {
            return time_of([&] {
                       for (const std::uint64_t hash : queries) found += filter.may_contain(hash);
                   }) /
                   count;
        };
        const auto batch = [&] {
            return time_of([&] { found += filter.may_contain(queries, answers.span()); }) / count;
        };
        const line_buffer buffer(filter.size_bytes(), page_size::huge);
        const auto limit = [&] { return limit_ns(buffer, queries, kind.lines, kind.adjacent_lines); };
        std::vector<double> of_single, of_batch, of_limit;
        for (unsigned round = 0; round <= rounds_; ++round) {
            const double a = single(), b = batch(), c = limit();
            if (round != 0) of_single.push_back(a), of_batch.push_back(b), of_limit.push_back(c);
        }
        asm volatile("" ::"r"(found));
        const std::string kind_name(F::kind_name);
        out_.values[name("query_ns")] = {median_of(of_single), 0, 0};
        out_.values[name("batch")] = paired_ratio(of_single, of_batch);
        out_.values[name("limit")] = paired_ratio(of_limit, of_batch);
        out_.rows.push_back(figure_row(name("query"), kind_name, keys, of_single));
        out_.rows.push_back(figure_row(name("query_batch"), kind_name, keys, of_batch));
        out_.rows.push_back(figure_row(name("lines"), kind_name, keys, of_limit));
    }

    unsigned rounds_;
    const figure_filter& wanted_;
    figure_set& out_;
};

} // namespace

figure_set static_figures(const options& chosen, const figure_filter& wanted) {
    figure_set out;
    measuring all(chosen, wanted, out);
    all.of(ribbons, 100'000, "100k");
    const auto every_kind = [&](std::uint64_t keys, const char* size) {
        all.of(ribbons, keys, size);
        all.of(fuses, keys, size);
        all.of(fuses4, keys, size);
        all.of(xors, keys, size);
    };
    every_kind(million, "1m");
    every_kind(10 * million, "10m");
    all.of(ribbons_1pct, 10 * million, "10m");
    all.of(ribbons_01pct, 10 * million, "10m");
    every_kind(100 * million, "100m");
    all.spill();
    all.cascade();
    return out;
}

} // namespace bench
