// Numbers of README.md, docs/choosing.md and docs/planning.md, and those of ribbons on their pages, against what the library
// computes, so that they cannot drift. The commands of the pages are run, and what they print compared, by run_console.sh; here
// are the tables and the sentences.
#include "docs/page.h"
#include "planner/cost.h"

#include <bouncer/math.h>
#include <bouncer/planner.h>
#include <bouncer/scalable.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace bouncer::test {
namespace {

constexpr std::uint64_t ten_million = 10'000'000;

planner::candidate designed(std::string_view kind, double rate, std::uint64_t keys = ten_million,
                            enum prefer wanted = prefer::reads) {
    auto made = planner::design(kind, {.keys = keys, .false_positive_rate = rate, .prefer = wanted});
    if (made) return *made;
    ADD_FAILURE() << kind << ": " << made.error().message;
    return {};
}
double bits(std::string_view kind, double rate, enum prefer wanted = prefer::reads) {
    return designed(kind, rate, ten_million, wanted).bits_per_key;
}
// Of a ribbon that is built, as the pages have it: the planner reckons with a table that is a little larger.
double built_ribbon(double rate) {
    static std::map<double, double> known;
    if (const auto found = known.find(rate); found != known.end()) return found->second;
    const auto made = planner::measure("ribbon", {.keys = ten_million, .false_positive_rate = rate}, 0);
    if (!made) ADD_FAILURE() << made.error().message;
    return known[rate] = made ? made->bits_per_key : 0;
}
double mebibytes(const planner::candidate& one) {
    return static_cast<double>(one.size_bytes) / (1 << 20);
}

void expect_none(const page& checked, const std::vector<page::complaint>& complaints) {
    for (const page::complaint& each : complaints)
        ADD_FAILURE_AT(checked.name().c_str(), static_cast<int>(each.line)) << each.text;
}
void expect_no_complaints(page& checked) {
    expect_none(checked, checked.complaints());
}

// "1 %", "10^-6": a rate; "0.5 M": so many.
double number_in(const std::string& header) {
    char* rest = nullptr;
    const double value = std::strtod(header.c_str(), &rest);
    const std::string unit = rest;
    if (unit == " %") return value / 100;
    if (unit == " M") return value * 1e6;
    if (unit.starts_with("^")) return std::pow(value, std::strtod(unit.c_str() + 1, nullptr));
    ADD_FAILURE() << "not a number: " << header;
    return 0;
}

// A chain for 10,000 keys that has grown to 100 million: bits per key when its newest layer is full, and the most just after a
// growth beyond a million keys.
struct grown_bits {
    double full = 0;
    double most = 0;
};
grown_bits grown_chain() {
    using chain = atomic_scalable_bloom;
    const auto chosen = chain::solve({.keys = 10'000, .false_positive_rate = 0.01});
    const auto layers = chain::plan(chosen.value(), 100'000'000);
    grown_bits out;
    double room = 0, size_bits = 0;
    for (const auto& each : layers.value()) {
        size_bits += 8 * static_cast<double>(each.size_bytes);
        if (room > 1e6) out.most = std::max(out.most, size_bits / room);
        room += static_cast<double>(each.capacity);
    }
    out.full = size_bits / room;
    return out;
}

TEST(documented_numbers, readme) {
    page readme = page::read("README.md");
    readme.says("{} of {} absent keys refused {} bits per key", {99, 100, bits("blocked_bloom", 0.01)});
    readme.says("999 of 1000 {} one", {bits("blocked_bloom", 1e-3)});
    readme.says("999,999 of 1,000,000 {} two adjacent", {bits("blocked_bloom", 1e-6)});

    const std::string column = "bits/key at 1 %";
    const auto has = [&](std::string_view kind, std::string_view pattern,
                         std::initializer_list<double> values) {
        readme.cell(kind, column, pattern, values);
    };
    for (const char* const kind : {"blocked_bloom", "bloom", "partitioned_bloom", "register_bloom",
                                   "split_block_bloom", "dcso_bloom", "counting_bloom"})
        has(kind, "{}", {bits(kind, 0.01)});
    const grown_bits chain = grown_chain();
    has("scalable_bloom", "{} full, up to {}", {chain.full, chain.most});
    has("windowed_bloom", "{} ({} flat)",
        {bits("windowed_bloom", 0.01), bits("windowed_bloom", 0.01, prefer::space)});
    has("ribbon", "{} (least: {})", {built_ribbon(0.01), math::lower_bound_bits_per_key(0.01)});
    for (const char* const kind : {"binary_fuse", "xor_filter"}) {
        const auto one = designed(kind, 0.01);
        has(kind, "{}, and keeps {} %", {one.bits_per_key, 100 * one.rate});
    }
    has("fingerprint_set", "{}, and keeps n / 2^{}",
        {bits("fingerprint_set", 0.01),
         std::log2(static_cast<double>(ten_million) / designed("fingerprint_set", 0.01).rate)});

    const std::string lines = "cache lines per query";
    for (const char* const kind : {"register_bloom", "split_block_bloom", "binary_fuse", "xor_filter"})
        readme.cell(kind, lines, "{}", {designed(kind, 0.01).lines_present});
    readme.cell("blocked_bloom", lines, "{} ({} below 0.05 %)",
                {designed("blocked_bloom", 0.000501).lines_present,
                 designed("blocked_bloom", 0.000499).lines_present});
    readme.cell(
        "scalable_bloom", lines, "{} or {} a layer",
        {designed("scalable_bloom", 0.01).lines_present, designed("scalable_bloom", 0.001).lines_present});
    readme.cell("counting_bloom", lines, "{} adjacent", {designed("counting_bloom", 0.01).lines_present});
    readme.cell("windowed_bloom", lines, "{} adjacent (up to k)",
                {designed("windowed_bloom", 0.01).lines_present});
    readme.cell("ribbon", lines, "{} adjacent", {std::ceil(designed("ribbon", 0.01).lines_present)});
    readme.quotes("| 2 to 4 |");             // fingerprint_set: by its keys; the planner has the middle
    readme.quotes("| 2 adjacent a level |"); // cascade: not in a plan
    expect_no_complaints(readme);
}

TEST(documented_numbers, choosing) {
    page choosing = page::read("docs/choosing.md");
    for (const std::string& header : choosing.headers("0.01 %")) {
        if (header == "kind" || header == "lines") continue;
        const double rate = number_in(header);
        for (const char* const kind : {"bloom", "partitioned_bloom", "dcso_bloom", "blocked_bloom",
                                       "split_block_bloom", "register_bloom"})
            choosing.cell(kind, header, "{}", {bits(kind, rate)});
        for (const char* const kind : {"binary_fuse", "xor_filter", "fingerprint_set"})
            choosing.cell(std::string(kind) + ", static", header, "{}", {bits(kind, rate)});
        choosing.cell("ribbon, static", header, "{}", {built_ribbon(rate)});
        choosing.cell("least that any filter needs", header, "{}", {math::lower_bound_bits_per_key(rate)});
    }
    for (const char* const kind : {"bloom", "partitioned_bloom", "dcso_bloom"})
        choosing.cell(kind, "lines", "up to k; a \"no\" about {}", {designed(kind, 0.01).lines_absent});
    choosing.cell("blocked_bloom", "lines", "{}; below 0.05 % {} adjacent",
                  {designed("blocked_bloom", 0.000501).lines_present,
                   designed("blocked_bloom", 0.000499).lines_present});
    for (const char* const kind : {"split_block_bloom", "register_bloom"})
        choosing.cell(kind, "lines", "{}", {designed(kind, 0.01).lines_present});
    choosing.cell("xor_filter, static", "lines", "{}", {designed("xor_filter", 0.01).lines_present});
    choosing.cell("binary_fuse, static", "lines", "{} (4-wise 4, and {} % less)",
                  {designed("binary_fuse", 0.01).lines_present,
                   100 * (1 - bits("binary_fuse", 0.01, prefer::space) / bits("binary_fuse", 0.01))});
    choosing.quotes("2 adjacent at 8 bits, about b / 4 at b"); // rounded up for short ones
    choosing.quotes("| 2 to 4 |");

    const std::string of_blocked = "blocked_bloom at 1 %";
    const auto preferred = [](enum prefer wanted) {
        return designed("blocked_bloom", 0.01, ten_million, wanted);
    };
    choosing.cell("reads, the default", of_blocked, "{} bits; batches are tested by SIMD",
                  {preferred(prefer::reads).bits_per_key});
    choosing.cell("adds", of_blocked, "{} bits; for many threads that add new keys",
                  {preferred(prefer::adds).bits_per_key});
    choosing.cell("space", of_blocked, "{} bits; at other rates up to 1.5 % less than `reads`",
                  {preferred(prefer::space).bits_per_key});
    const std::string words = "words an add writes";
    choosing.cell("reads, the default", words, "{}", {preferred(prefer::reads).words_written});
    choosing.cell("adds", words, "{}", {preferred(prefer::adds).words_written});
    choosing.cell("space", words, "{}", {preferred(prefer::space).words_written});
    choosing.quotes("(up to 0.1 % more, so that it can be folded)"); // a bound

    const auto million = designed("blocked_bloom", 0.01, 1'000'000);
    for (const std::string& header : choosing.headers("1.25 M"))
        if (header != "keys")
            choosing.cell("rate", header, "{} %",
                          {100 * million.rate_at(static_cast<std::uint64_t>(number_in(header)))});

    const double least = 16384;
    choosing.cell("how many different keys were there?", "take",
                  "HyperLogLog: {} KiB for a standard error of {} %",
                  {least * 6 / 8 / 1024, 104 / std::sqrt(least)}); // as published
    const double bytes = million.bits_per_key / 8;
    choosing.says("a filter at 1 % takes {}.", {bytes});
    choosing.says("1,048,576 / {} = {} keys of a filter", {bytes, 1048576 / bytes});
    choosing.says("it is 42 MB against {} MB, at 100 million 4.2 GB against {} MB",
                  {bytes, bits("blocked_bloom", 0.01) / 8 * 100});
    choosing.says("costs {} bits per key", {bits("blocked_bloom", 1e-3) - bits("blocked_bloom", 0.01)});
    const auto mean_us = [](double rate) {
        return 1000 *
               planner::latency_at({.slo_ms = 1, .hit_ms = 0.1, .miss_ms = 0.1, .absent = 0.5}, rate).mean_ms;
    };
    choosing.says("{} us at 1 % and {} at 0.1 %", {mean_us(0.01), mean_us(0.001)});
    choosing.says("saves another {} us", {mean_us(0.01) - mean_us(0.001)});
    planner::lsm_split files{.levels = std::vector<planner::lsm_level>(20)};
    for (planner::lsm_level& each : files.levels) files.reads += each.rate = designed("bloom", 0.01).rate;
    const auto flow = planner::plan_traffic(1, 1, files).value();
    choosing.says("with 20 files at 1 %, an absent key costs {} lookups in vain, and {} % of such keys",
                  {flow.wasted_per_s, 100 * (1 - flow.avoided_per_s)});
    expect_no_complaints(choosing);
}

TEST(documented_numbers, planning) {
    page planning = page::read("docs/planning.md");
    const auto one_percent = designed("blocked_bloom", 0.01, 200'000'000);
    const auto better = designed("blocked_bloom", 0.001, 200'000'000);
    const auto flow = planner::plan_traffic(50'000, 0.8, 0.01).value();
    const auto better_flow = planner::plan_traffic(50'000, 0.8, 0.001).value();
    planning.says("{} MiB take {} lookups per second off the database",
                  {mebibytes(one_percent), flow.avoided_per_s});
    planning.says("At 0.1 % the filter needs {} MiB, and spares {} lookups more of the {} that are left",
                  {mebibytes(better), better_flow.avoided_per_s - flow.avoided_per_s, flow.remaining_per_s});
    planning.says("`2%/month` is 1.02^12, {} % a year",
                  {100 * planner::growth_per_year(0.02, 365.2425 / 12)});
    const auto tree =
        planner::plan_lsm({.levels = 5, .ratio = 10, .keys = 2'000'000'000, .reads = 0.01 / 0.7}).value();
    double above = 0;        // rates of the levels above one
    double vain_present = 0; // reads in vain before a key is found that is there
    for (const planner::lsm_level& level : tree.levels) {
        vain_present += above * static_cast<double>(level.keys) / static_cast<double>(tree.keys);
        above += level.rate;
    }
    planning.says("A single flat filter over all keys would take {} instead of {} bits per key",
                  {designed("bloom", 0.01 / 0.7, 2'000'000'000).bits_per_key, tree.uniform_bits_per_key});
    planning.says("lower by at most half of `s`, {} % of it here", {100 * tree.reads / 2});
    planning.says("{} % of all requests here read a level in vain before", {100 * 0.3 * vain_present});
    planning.quotes("| 1 - a |"); // a formula
    planning.quotes("| a (1 - p) |");

    const auto split =
        planner::plan_lsm({.levels = 5, .ratio = 10, .keys = 100'000'000, .bits_per_key = 10}).value();
    planning.says("The same memory, {} times fewer reads", {split.uniform_reads / split.reads});
    planning.says("The ns are {} (a ribbon: {}, for its parities)", {planner::query_ns, planner::parity_ns});
    planning.says("A line beside another counts {}.", {planner::neighbour_share});
    planning.says("with {} ns for every word that an add writes", {planner::word_written_ns});
    planning.says("{} ns in 1 MB, {} in 12, {} in 126 MB and {} in 1 GB",
                  {planner::line_ns(1.26e6), planner::line_ns(12.6e6), planner::line_ns(126e6),
                   planner::line_ns(1.01e9)});
    planning.says(
        "a hash table of 64-bit hashes ({} bytes per key, half full) fits into a core's cache, {} MiB",
        {static_cast<double>(planner::exact_set_for(1000, 0).table_bytes) / 1000,
         planner::exact_set_cache_bytes / 1048576.0});
    planning.says("the filter saves less than {} KiB", {planner::exact_set_saving_bytes / 1024.0});
    expect_no_complaints(planning);
}

TEST(documented_numbers, ribbons) {
    page kinds = page::read("docs/static.md");
    for (const std::string& header : kinds.headers("0.39 %"))
        if (header.ends_with(" %") || header.starts_with("10^"))
            kinds.cell("ribbon", header, "{}", {built_ribbon(number_in(header))});
    expect_none(kinds, kinds.mismatches());
    page ribbon = page::read("docs/filters/ribbon.md");
    for (const std::string& header : ribbon.headers("0.7 %")) {
        if (!header.ends_with(" %") && !header.starts_with("10^")) continue;
        ribbon.cell("bits per key", header, "{}", {built_ribbon(number_in(header))});
        ribbon.cell("least", header, "{}", {math::lower_bound_bits_per_key(number_in(header))});
    }
    ribbon.says("`bouncer plan` says {} at 1 % and {} at 10^-6",
                {bits("ribbon", 0.01), bits("ribbon", 1e-6)});
    expect_none(ribbon, ribbon.mismatches());
}

// The check itself: a number that differs, words that are gone or stand twice, and numbers that nobody compares are told with
// their lines.
TEST(documented_numbers, a_wrong_page_is_noticed) {
    page checked("PAGE.md",
                 "| kind | bits |\n|---|---|\n| [`a`](a.md) | 9.59 (7) |\n| b | 12.13 |\n| c9 | 3 of `4` |\n"
                 "\nIt takes 1,200\nkeys, and 7 more. Just once, and once.\n\n    5 keys\n");
    checked.cell("a", "bits", "{} ({})", {9.593, 7});
    checked.cell("b", "bits", "{}", {12.1389});
    checked.cell("d", "bits", "{}", {1});
    checked.cell("a", "bytes", "{}", {1});
    checked.says("takes {} keys, and {} more", {1249, 7.6});
    checked.says("takes {} bytes", {1});
    checked.says("once", {});
    std::string all;
    for (const auto& each : checked.complaints()) all += std::to_string(each.line) + ": " + each.text + "\n";
    EXPECT_EQ(all, "4: it says 12.13, and the library computes 12.1389\n"
                   "1: the table has no row \"d\" with a column \"bits\"\n"
                   "1: no table has a column \"bytes\"\n"
                   "8: it says 7, and the library computes 7.6\n"
                   "1: these words are gone, and the test looks for them: takes {} bytes\n"
                   "1: these words stand here twice: once\n"
                   "5: nothing computes the number 3: compare it in tests/docs/numbers_test.cc\n"
                   "10: nothing computes the number 5: compare it in tests/docs/numbers_test.cc\n");
}

} // namespace
} // namespace bouncer::test
