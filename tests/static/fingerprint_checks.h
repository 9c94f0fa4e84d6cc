// What holds for every filter of fingerprints, whatever its shape and width.
#pragma once

#include "filters/fingerprint_build.h"
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/built_filter.h>
#include <bouncer/detail/fingerprint_table.h>
#include <bouncer/detail/sorted_hashes.h>
#include <bouncer/snapshot.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace bouncer::test {

// The filter of a set by Layout::build_with(set, how..., options), without a goal.
template <class Filter, class... How>
Filter built_with(std::span<const std::uint64_t> hashes, const build_options& options, How... how) {
    auto set = detail::sorted_hashes::gather(hashes, options);
    auto made = Filter::layout_type::build_with(set.value(), how..., options);
    return Filter::over(std::move(made.value().words), made.value().params, {}).value();
}

template <class Filter>
void expect_all_found(const Filter& filter, std::span<const std::uint64_t> hashes) {
    std::size_t missed = 0;
    for (const std::uint64_t hash : hashes) missed += !filter.may_contain(hash);
    EXPECT_EQ(missed, 0u) << filter.describe();
    answers found(hashes.size());
    EXPECT_EQ(filter.may_contain(hashes, found.span()), hashes.size()) << filter.describe();
}

// Strangers at the rate 2^-bits, on both sides; asked in batches, which must agree with single queries.
template <class Filter>
void expect_rate(const Filter& filter, std::uint64_t strangers, std::uint64_t stream) {
    constexpr std::size_t chunk = 5000; // no multiple of a pipeline
    std::uint64_t hits = 0;
    std::uint64_t differ = 0;
    answers found(chunk);
    for (std::uint64_t first = 0; first < strangers; first += chunk) {
        const auto hashes = random_hashes(std::min<std::uint64_t>(chunk, strangers - first), stream, first);
        hits += filter.may_contain(hashes, found.span());
        for (std::size_t i = 0; i < hashes.size(); ++i) differ += found[i] != filter.may_contain(hashes[i]);
    }
    EXPECT_EQ(differ, 0u) << filter.describe();
    EXPECT_TRUE(within_sigma(static_cast<double>(hits), static_cast<double>(strangers),
                             std::ldexp(1.0, -static_cast<int>(filter.params().fingerprint_bits))))
        << filter.describe();
}

// Sets that break what is built without care: nearly nothing, one key many times, counters, tight clusters, 32 bits.
inline std::vector<std::vector<std::uint64_t>> difficult_sets() {
    std::vector<std::vector<std::uint64_t>> out{{},
                                                {0},
                                                {7, 7},
                                                {1, 2},
                                                {1, 2, 3},
                                                {~std::uint64_t{0}, 0},
                                                std::vector<std::uint64_t>(1000, 42),
                                                extreme_hashes()};
    for (const std::size_t count : {4u, 5u, 8u, 10u, 17u, 33u, 64u, 100u, 129u, 300u, 1000u, 5000u})
        out.push_back(random_hashes(count, 20 + count));
    std::vector<std::uint64_t> counter(20'000);
    std::vector<std::uint64_t> high(20'000);
    std::vector<std::uint64_t> clusters(20'000);
    for (std::size_t i = 0; i < counter.size(); ++i) {
        counter[i] = i;
        high[i] = std::uint64_t{i} << 49;
        clusters[i] = random_hash(9, i / 100) + i % 100;
    }
    out.push_back(counter);
    out.push_back(high);
    out.push_back(clusters);
    return out;
}

template <class Filter, class... How>
void check_difficult_sets(How... how) {
    for (const auto& hashes : difficult_sets()) {
        const auto filter = built_with<Filter>(hashes, {}, how...);
        expect_all_found(filter, hashes);
        auto distinct = hashes;
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        EXPECT_EQ(filter.keys(), distinct.size());
    }
}

// The same words whatever the threads, the order and the repetition; others for another seed.
template <class Filter, class... How>
void check_deterministic(std::size_t keys, How... how) {
    auto hashes = random_hashes(keys, 30);
    const auto one = built_with<Filter>(hashes, {.threads = 1, .seed = 5}, how...);
    std::reverse(hashes.begin(), hashes.end());
    hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(keys / 3));
    for (const unsigned threads : {2u, 5u})
        EXPECT_TRUE(one == built_with<Filter>(hashes, {.threads = threads, .seed = 5}, how...)) << threads;
    const auto other = built_with<Filter>(hashes, {.threads = 2, .seed = 6}, how...);
    EXPECT_FALSE(one == other);
    expect_all_found(other, hashes);
    // Other false positives, too: of those of one filter the other has only its rate.
    if (one.params().fingerprint_bits != 8) return;
    std::uint64_t of_one = 0;
    std::uint64_t of_both = 0;
    for (std::uint64_t i = 0; i < scaled(2'000'000); ++i) {
        const std::uint64_t hash = random_hash(31, i);
        if (!one.may_contain(hash)) continue;
        ++of_one;
        of_both += other.may_contain(hash);
    }
    EXPECT_TRUE(within_sigma(static_cast<double>(of_both), static_cast<double>(of_one), 1.0 / 256));
}

// The batch loop of filters that are larger than a cache, on one that is not.
template <class Filter, class Table>
void check_far_batches(const Filter& filter, const Table& table, std::span<const std::uint64_t> keys) {
    auto hashes = random_hashes(3000, 40);
    hashes.insert(hashes.end(), keys.begin(), keys.end());
    std::shuffle(hashes.begin(), hashes.end(), std::mt19937_64(1));
    const auto ask = [&](const std::uint64_t* first, std::size_t count, bool* out) {
        const std::uint64_t* const words = filter.data();
        const auto far = Table::far_words;
        switch (filter.params().fingerprint_bits) {
        case 8: return table.template contains_each<std::uint8_t>(words, far, first, count, out);
        case 16: return table.template contains_each<std::uint16_t>(words, far, first, count, out);
        default: return table.template contains_each<std::uint32_t>(words, far, first, count, out);
        }
    };
    for (const std::size_t count : {0ul, 1ul, 31ul, 32ul, 33ul, 64ul, 65ul, hashes.size()}) {
        answers out(count + 1, true);
        std::size_t expected = 0;
        const std::size_t found = ask(hashes.data(), count, out.span().data());
        for (std::size_t i = 0; i < count; ++i) {
            const bool single = filter.may_contain(hashes[i]);
            expected += single;
            EXPECT_EQ(out[i], single) << i;
        }
        EXPECT_EQ(found, expected);
        EXPECT_TRUE(out[count]) << "written beyond the end";
    }
}

// One shard, built by hand: of no keys, and of keys that lie so near to each other that no attempt can part them.
template <class Shape>
void check_builder(const Shape& shape) {
    const auto builder = detail::make_fingerprint_builder(shape, 16, 1);
    std::vector<std::uint64_t> entry(3);
    detail::shard_words out{.entry = entry, .words = {}};
    ASSERT_TRUE(builder->build({}, 0, out));
    EXPECT_TRUE(shape.starts_ok(entry[1]));
    EXPECT_GE(out.words.size() * 4, shape.cell_count(entry[1]));

    std::vector<std::uint64_t> crowd(20'000);
    for (std::size_t i = 0; i < crowd.size(); ++i) crowd[i] = i;
    EXPECT_TRUE(fails_with(builder->build(crowd, 3, out), error_code::invalid_argument, "shard 3",
                           "20000 keys", "not random", "seed"));

    // It can still be used afterwards.
    auto hashes = random_hashes(1000, 80);
    std::sort(hashes.begin(), hashes.end());
    std::fill(entry.begin(), entry.end(), 0);
    ASSERT_TRUE(builder->build(hashes, 0, out));
    for (const std::uint64_t g : hashes) {
        std::uint16_t rest = static_cast<std::uint16_t>(detail::fingerprint_of(g));
        shape.cells(g, detail::offsets_of(g, entry[2]), entry[1]).each([&](unsigned, std::uint64_t cell) {
            rest = static_cast<std::uint16_t>(rest ^ (out.words[cell / 4] >> (cell % 4 * 16)));
        });
        EXPECT_EQ(rest, 0u);
    }
}

// Words that lie are refused, and parameters that do; and what is let through reads nothing outside (for the address
// checker to see: the words are a heap block of exactly their size).
template <class Filter>
void check_hostile_words(const Filter& filter) {
    using view = typename Filter::template with_words<const_words>;
    const auto words = filter.params().words;
    const region copy = region::allocate(words * 8).value();
    auto* const at = static_cast<std::uint64_t*>(const_cast<void*>(copy.data()));
    const auto reset = [&] { std::copy_n(filter.data(), words, at); };
    const auto open = [&] { return view::over(region::borrow(copy.data(), words * 8), filter.params(), {}); };
    const auto ask = [&](const view& opened) {
        std::size_t found = 0;
        for (const std::uint64_t hash : extreme_hashes()) found += opened.may_contain(hash);
        const auto hashes = random_hashes(1000, 50);
        answers out(hashes.size());
        return found + opened.may_contain(hashes, out.span());
    };
    reset();
    ASSERT_TRUE(open());
    const std::uint64_t nasty[] = {0,
                                   1,
                                   7,
                                   words - 8,
                                   words,
                                   words + 8,
                                   at[1] + 1,
                                   2 * at[1],
                                   std::uint64_t{1} << 30,
                                   std::uint64_t{1} << 31,
                                   std::uint64_t{1} << 32,
                                   std::uint64_t{1} << 48,
                                   std::uint64_t{1} << 61,
                                   ~std::uint64_t{0},
                                   ~std::uint64_t{7}};
    for (std::uint64_t word = 0; word < 3 * filter.params().shards; ++word) {
        for (const std::uint64_t value : nasty) {
            reset();
            at[word] = value;
            const auto opened = open();
            if (opened)
                ask(*opened);
            else
                EXPECT_EQ(opened.error().code, error_code::corrupt);
            if (word % 3 == 2) {
                EXPECT_TRUE(opened) << "any multiplier is harmless";
            }
        }
    }
    for (const std::uint64_t value : {std::uint64_t{0}, words, ~std::uint64_t{7}}) {
        reset();
        at[0] = value;
        EXPECT_TRUE(fails_with(open(), error_code::corrupt, "shard 0"));
        reset();
        at[1] = value == words ? std::uint64_t{1} << 40 : value;
        EXPECT_TRUE(fails_with(open(), error_code::corrupt, "shard 0"));
    }
    for (std::uint64_t i = 0; i < scaled(2000); ++i) {
        reset();
        for (std::uint64_t word = 0; word < 3; ++word)
            at[word] = random_hash(51, 3 * i + word) >> (random_hash(52, 3 * i + word) % 64);
        if (const auto opened = open(); opened) ask(*opened);
    }
}

template <class Filter, class Change>
void expect_refused(const Filter& filter, error_code code, Change change) {
    auto params = filter.params();
    change(params);
    EXPECT_TRUE(fails_with(Filter::check(params), code)) << Filter::describe(params);
    EXPECT_FALSE(detail::storage_access::words<Filter>(Filter::layout_type::fields_of(params)));
}
template <class Filter>
void check_hostile_parameters(const Filter& filter) {
    constexpr auto invalid = error_code::invalid_argument;
    for (const std::uint32_t bits : {0u, 1u, 7u, 9u, 64u, 4294967295u})
        expect_refused(filter, invalid, [&](auto& p) { p.fingerprint_bits = bits; });
    for (const std::uint64_t words : {0ul, 1ul, 12ul})
        expect_refused(filter, invalid, [&](auto& p) { p.words = words; });
    expect_refused(filter, error_code::too_large, [](auto& p) { p.words = ~std::uint64_t{7}; });
    expect_refused(filter, error_code::too_large, [](auto& p) { p.words = (std::uint64_t{1} << 44) + 8; });
    expect_refused(filter, error_code::too_large, [](auto& p) { p.keys = ~std::uint64_t{0}; });
    for (const std::uint64_t shards :
         {std::uint64_t{0}, filter.params().words, std::uint64_t{1} << 63, ~std::uint64_t{0} / 3})
        expect_refused(filter, invalid, [&](auto& p) { p.shards = shards; });
    auto fields = Filter::layout_type::fields_of(filter.params());
    fields.pop_back();
    EXPECT_FALSE(detail::storage_access::words<Filter>(fields));
}

template <class Filter>
void check_round_trip(const Filter& filter, std::span<const std::uint64_t> hashes) {
    const scratch_folder folder;
    const std::string path = folder / "filter.bnc";
    ASSERT_TRUE(save(filter, path));
    auto loaded = load<Filter>(path);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(*loaded == filter);
    EXPECT_EQ(loaded->keys(), filter.keys());
    auto mapped = map<typename Filter::template with_words<const_words>>(path, verification::eager);
    ASSERT_TRUE(mapped) << mapped.error().message;
    EXPECT_TRUE(*mapped == filter);
    expect_all_found(*mapped, hashes);
    expect_all_found(*loaded, hashes);
}

// What solve() says of a goal is what a build with as many keys does.
template <class Filter>
void check_goal_kept(const goal& wanted, std::uint32_t bits) {
    const auto solved = Filter::solve(wanted);
    ASSERT_TRUE(solved) << solved.error().message;
    const auto filter = Filter::build(random_hashes(wanted.keys, 60), wanted).value();
    EXPECT_EQ(filter.params().fingerprint_bits, bits);
    EXPECT_EQ(solved->fingerprint_bits, bits);
    EXPECT_EQ(solved->keys, filter.keys());
    EXPECT_EQ(solved->shards, filter.params().shards);
    EXPECT_NEAR(static_cast<double>(Filter::size_bytes_of(*solved)), static_cast<double>(filter.size_bytes()),
                0.01 * static_cast<double>(filter.size_bytes()));
    if (wanted.size_bytes) {
        EXPECT_LE(filter.size_bytes(), *wanted.size_bytes);
    }
    if (wanted.false_positive_rate) {
        EXPECT_LE(filter.expected_fpr(), *wanted.false_positive_rate);
    }
}

template <class Filter>
void check_goals() {
    check_goal_kept<Filter>({.keys = 10'000, .false_positive_rate = 0.01}, 8);
    check_goal_kept<Filter>({.keys = 10'000, .false_positive_rate = 0.003}, 16);
    check_goal_kept<Filter>({.keys = 10'000, .false_positive_rate = 1e-9}, 32);
    check_goal_kept<Filter>({.keys = 10'000, .size_bytes = 13'000}, 8);
    check_goal_kept<Filter>({.keys = 10'000, .size_bytes = 39'000}, 16);
    check_goal_kept<Filter>({.keys = 10'000, .size_bytes = 1 << 20}, 32);
    check_goal_kept<Filter>({.keys = 10'000, .false_positive_rate = 0.01, .size_bytes = 14'000}, 8);

    const auto hashes = random_hashes(10'000, 61);
    EXPECT_TRUE(fails_with(Filter::build(hashes, {.false_positive_rate = 1e-12}),
                           error_code::invalid_argument, "1e-12", "2.33e-10", "ribbon"));
    EXPECT_TRUE(fails_with(Filter::solve({.keys = 10'000, .false_positive_rate = 1e-12}),
                           error_code::invalid_argument, "1e-12", "2.33e-10"));
    EXPECT_TRUE(fails_with(Filter::build(hashes, {.size_bytes = 5000}), error_code::too_large, "5000"));
    EXPECT_TRUE(fails_with(Filter::build(hashes, {.false_positive_rate = 0.003, .size_bytes = 14'000}),
                           error_code::too_large, "14000", "16-bit"));
    EXPECT_TRUE(fails_with(Filter::build(hashes, {.false_positive_rate = 0.01, .prefer = prefer::adds}),
                           error_code::invalid_argument, "adds"));
    EXPECT_TRUE(fails_with(Filter::build(hashes, {}), error_code::invalid_argument));
    EXPECT_TRUE(
        fails_with(Filter::solve({.keys = 0, .false_positive_rate = 0.01}), error_code::invalid_argument));
    EXPECT_TRUE(fails_with(Filter::solve({.keys = std::uint64_t{1} << 60, .false_positive_rate = 0.01}),
                           error_code::too_large));

    const auto empty = Filter::build(std::span<const std::uint64_t>{}, {.false_positive_rate = 0.01}).value();
    EXPECT_EQ(empty.size_bytes(), 64u);
    EXPECT_EQ(empty.expected_fpr(), 0);
    for (const std::uint64_t hash : extreme_hashes()) EXPECT_FALSE(empty.may_contain(hash));
    answers none(hashes.size(), true);
    EXPECT_EQ(empty.may_contain(hashes, none.span()), 0u);
    EXPECT_FALSE(none[0]);
}

// Numbers beyond 32 bits, without the memory: a directory alone, of a filter of 2^32 + 1 keys.
template <class Filter, class Table>
void check_wide_arithmetic(const Filter&, const typename Filter::parameters& solved, const Table& table) {
    ASSERT_EQ(solved.keys, (std::uint64_t{1} << 32) + 1);
    ASSERT_TRUE(Filter::check(solved));
    const std::uint64_t entries = 3 * solved.shards;
    const std::uint64_t after = (entries + 7) / 8 * 8;
    const std::uint64_t each = (solved.words - after) / solved.shards / 8 * 8;
    const std::uint64_t starts = table.shape.arity == 3 && sizeof table.shape == 1
                                     ? each * 64 / solved.fingerprint_bits / 3
                                     : std::uint64_t{1} << 20;
    std::vector<std::uint64_t> directory(after);
    for (std::uint64_t shard = 0; shard < solved.shards; ++shard) {
        directory[3 * shard] = after + shard * each;
        directory[3 * shard + 1] = starts;
        directory[3 * shard + 2] = detail::multiplier_of(shard % 256);
    }
    std::uint64_t furthest = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const std::uint64_t hash = random_hash(70, i);
        const auto at = table.find(directory.data(), hash);
        const std::uint64_t g = detail::seeded(hash, detail::seed_word_of(solved.seed));
        const auto shard = static_cast<std::uint64_t>(static_cast<detail::uint128>(g) * solved.shards >> 64);
        EXPECT_EQ(at.first_word, after + shard * each);
        at.cells.each([&](unsigned, std::uint64_t cell) {
            EXPECT_LT(cell, table.shape.cell_count(starts));
            furthest = std::max(furthest, at.first_word + cell * solved.fingerprint_bits / 64);
        });
    }
    EXPECT_GT(furthest, solved.words / 10 * 9);
    EXPECT_GT(furthest * 8, std::uint64_t{1} << 32);
    EXPECT_LE(furthest, solved.words);
}

} // namespace bouncer::test
