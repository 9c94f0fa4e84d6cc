// sorted_hashes: the mixed hashes of a set, each once, ascending, in shards that are cut exactly; whatever the input, the
// number of threads, and whether they are in memory or in a file.
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/detail/sorted_hashes.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

using detail::seed_word_of;
using detail::seeded;
using detail::sorted_hashes;
using hashes = std::vector<std::uint64_t>;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

hashes expected_of(const hashes& given, std::uint64_t seed = 0) {
    hashes out(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) out[i] = seeded(given[i], seed_word_of(seed));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

hashes whole_of(const sorted_hashes& set) {
    hashes room;
    const auto all = set.shard(0, 1, room).value();
    return {all.begin(), all.end()};
}

// Gives them in pieces of sizes that vary.
hash_source source_of(const hashes& given) {
    return [&given, at = std::size_t{0},
            turn = std::size_t{0}](std::span<std::uint64_t> into) mutable -> result<std::size_t> {
        const std::size_t sizes[] = {into.size(), 1, into.size() / 2 + 1, 1000};
        const std::size_t count = std::min({sizes[turn++ % 4], into.size(), given.size() - at});
        std::copy_n(given.begin() + static_cast<std::ptrdiff_t>(at), count, into.begin());
        at += count;
        return count;
    };
}

build_options with(unsigned threads, std::uint64_t cap = 0, std::uint64_t seed = 0) {
    build_options out;
    out.threads = threads;
    out.memory_cap_bytes = cap;
    out.seed = seed;
    return out;
}

// Both ways in, with every number of threads.
void expect_sorted(const hashes& given, const std::string& what, std::uint64_t cap = 0) {
    SCOPED_TRACE(what);
    const hashes expected = expected_of(given);
    for (const unsigned threads : {1u, 2u, 3u, 8u}) {
        const sorted_hashes set = sorted_hashes::gather(given, with(threads, cap)).value();
        EXPECT_EQ(set.size(), expected.size()) << threads << " threads";
        EXPECT_TRUE(whole_of(set) == expected) << threads << " threads";
        if (threads == 3) continue;
        const sorted_hashes streamed = sorted_hashes::gather(source_of(given), with(threads, cap)).value();
        EXPECT_TRUE(whole_of(streamed) == expected) << threads << " threads, from a source";
    }
}

// The inverse of mix64: a multiplication by an odd number is undone by its inverse mod 2^64, x ^= x >> s by doing it again
// with s, 2 s, 4 s...
constexpr std::uint64_t inverse_of_odd(std::uint64_t odd) {
    std::uint64_t inverse = odd; // right in 3 bits, and in twice as many each time
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    return inverse;
}
constexpr std::uint64_t unshifted(std::uint64_t x, unsigned shift) {
    for (; shift < 64; shift *= 2) x ^= x >> shift;
    return x;
}
constexpr std::uint64_t unmixed(std::uint64_t x) {
    x = unshifted(x, 31) * inverse_of_odd(0x94d049bb133111ebu);
    x = unshifted(x, 27) * inverse_of_odd(0xbf58476d1ce4e5b9u);
    return unshifted(x, 30);
}
static_assert(unmixed(detail::mix64(0x0123456789abcdefu)) == 0x0123456789abcdefu);

// Hashes that become these numbers once they are mixed.
hashes becoming(const hashes& wanted, std::uint64_t seed = 0) {
    hashes out(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) out[i] = unmixed(wanted[i]) ^ seed_word_of(seed);
    return out;
}

TEST(sorted_hashes, random_ones_of_all_sizes) {
    for (const std::size_t count : {0u, 1u, 2u, 3u, 24u, 25u, 1'000u, 8'192u, 8'193u, 100'000u})
        expect_sorted(random_hashes(count, 1), std::to_string(count));
    expect_sorted(random_hashes(scaled(3'000'000), 2), "millions");
}

TEST(sorted_hashes, that_repeat) {
    const hashes once = random_hashes(scaled(200'000), 3);
    hashes twice = once;
    twice.insert(twice.end(), once.rbegin(), once.rend());
    expect_sorted(twice, "all twice");
    hashes some = once;
    for (std::size_t i = 0; i < some.size(); i += 7) some[i] = some[i / 2];
    expect_sorted(some, "some");
    hashes few(scaled(500'000));
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = random_hash(4, i % 1'000);
    expect_sorted(few, "a thousand of them, often");
    hashes favourite = once;
    for (std::size_t i = 0; i < favourite.size(); i += 2) favourite[i] = 42;
    expect_sorted(favourite, "half of them the same");
    expect_sorted(hashes(scaled(300'000), 7), "all equal");
    expect_sorted({5, 5}, "two equal");
}

TEST(sorted_hashes, of_numbers_that_are_no_hashes) {
    hashes counted(scaled(300'000));
    for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = i;
    expect_sorted(counted, "counted");
    for (std::uint64_t& each : counted) each <<= 32;
    expect_sorted(counted, "counted above");
    expect_sorted(extreme_hashes(), "extreme");
}

TEST(sorted_hashes, that_are_clustered_when_they_are_mixed) {
    const std::size_t count = scaled(200'000);
    hashes wanted(count);
    const auto expect = [&](const std::string& what) { expect_sorted(becoming(wanted), what); };
    for (std::size_t i = 0; i < count; ++i) wanted[i] = i;
    expect("the smallest");
    for (std::size_t i = 0; i < count; ++i) wanted[i] = ~std::uint64_t{0} - i;
    expect("the largest");
    for (std::size_t i = 0; i < count; ++i)
        wanted[i] = (std::uint64_t{1} << 63) + random_hash(5, i) % 1'000'000;
    expect("in the middle");
    for (std::size_t i = 0; i < count; ++i) wanted[i] = random_hash(6, i) << 44;
    expect("top bits only");
    for (std::size_t i = 0; i < count; ++i)
        wanted[i] = (random_hash(7, i) % 3 << 62) + random_hash(8, i) % 65'536;
    expect("three places, often");
    for (std::size_t i = 0; i < count; ++i)
        wanted[i] = i % 10 == 0 ? random_hash(9, i) : random_hash(9, i) >> 20;
    expect("a tenth elsewhere");
    for (std::size_t i = 0; i < count; ++i) wanted[i] = std::uint64_t{1} << (i % 64);
    expect("single bits");
}

TEST(sorted_hashes, seeds_differ_and_an_order_does_not_matter) {
    hashes given = random_hashes(50'000, 10);
    const hashes first = whole_of(sorted_hashes::gather(given, with(2, 0, 1)).value());
    EXPECT_TRUE(first == expected_of(given, 1));
    EXPECT_FALSE(first == expected_of(given, 2));
    std::reverse(given.begin(), given.end());
    EXPECT_TRUE(whole_of(sorted_hashes::gather(given, with(1, 0, 1)).value()) == first);
}

TEST(sorted_hashes, mostly_repetitions_take_little_memory_afterwards) {
    const auto set = sorted_hashes::gather(hashes(1'000'000, 3), with(1)).value();
    EXPECT_TRUE(set.in_memory());
    EXPECT_LE(set.memory_bytes(), 4'096u);
    const hashes given = random_hashes(100'000, 11);
    EXPECT_EQ(sorted_hashes::gather(given, with(1)).value().memory_bytes(), 800'000u);
}

// ---- shards ----------------------------------------------------------------------------------------------------------

// Shards first..last - 1 are exactly those of the set, one after the other.
void expect_shards(const sorted_hashes& set, const hashes& all, std::uint64_t shards, std::uint64_t first,
                   std::uint64_t last) {
    SCOPED_TRACE(std::to_string(shards) + " shards");
    hashes room;
    auto next = std::partition_point(
        all.begin(), all.end(), [&](std::uint64_t hash) { return detail::fast_range(hash, shards) < first; });
    for (std::uint64_t shard = first; shard < last; ++shard) {
        const auto part = set.shard(shard, shards, room).value();
        const auto end = std::find_if(
            next, all.end(), [&](std::uint64_t hash) { return detail::fast_range(hash, shards) != shard; });
        ASSERT_TRUE(std::equal(next, end, part.begin(), part.end())) << "shard " << shard;
        next = end;
    }
    if (last == shards) {
        EXPECT_TRUE(next == all.end());
    }
}

void expect_all_shards(const sorted_hashes& set, const hashes& all) {
    for (const std::uint64_t shards : {1u, 2u, 3u, 7u, 1'000u}) expect_shards(set, all, shards, 0, shards);
    constexpr std::uint64_t many = whole_sizes ? mebi : mebi / 64; // from a file, each reads at least 32 KiB
    if (set.in_memory()) {
        expect_shards(set, all, many, 0, many);
    } else {
        expect_shards(set, all, many, 0, 300);
        expect_shards(set, all, many, many / 3, many / 3 + 300);
        expect_shards(set, all, many, many - 300, many);
    }
    const std::uint64_t most = ~std::uint64_t{0};
    expect_shards(set, all, most, 0, 3);
    expect_shards(set, all, most, most / 2, most / 2 + 3);
    expect_shards(set, all, most, most - 3, most);
}

TEST(sorted_hashes, shards_in_memory) {
    for (const std::size_t count :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10'000}, scaled(1'000'000)}) {
        const hashes given = random_hashes(count, 12);
        const auto set = sorted_hashes::gather(given, with(2)).value();
        EXPECT_TRUE(set.in_memory());
        expect_all_shards(set, whole_of(set));
    }
    hashes ends = becoming({0, 1, (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63, ~std::uint64_t{0}});
    const auto set = sorted_hashes::gather(ends, with(1)).value();
    expect_all_shards(set, expected_of(ends));
}

TEST(sorted_hashes, shards_from_a_file) {
    const hashes given = random_hashes(whole_sizes ? 2'000'000 : 700'000, 13);
    const hashes expected = expected_of(given);
    for (const unsigned threads : {1u, 3u}) {
        const auto set = sorted_hashes::gather(given, with(threads, 4 * mebi)).value();
        EXPECT_FALSE(set.in_memory());
        EXPECT_EQ(set.size(), expected.size());
        EXPECT_LE(set.memory_bytes(), mebi / 4);
        EXPECT_TRUE(whole_of(set) == expected);
        expect_all_shards(set, expected);
        const auto streamed = sorted_hashes::gather(source_of(given), with(threads, 4 * mebi)).value();
        EXPECT_FALSE(streamed.in_memory());
        expect_all_shards(streamed, expected);
    }
}

TEST(sorted_hashes, from_a_file_of_any_input) {
    const std::size_t count = whole_sizes ? 300'000 : 150'000; // 1.2 MB: 1 MiB holds 41 thousand
    const hashes once = random_hashes(count / 2, 14);
    hashes twice = once;
    twice.insert(twice.end(), once.rbegin(), once.rend());
    expect_sorted(twice, "all twice", mebi);
    expect_sorted(hashes(count, 9), "all equal", mebi);
    hashes favourite = once;
    favourite.resize(count, 42);
    expect_sorted(favourite, "half of them the same", mebi);
    hashes few(count);
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = random_hash(15, i % 100);
    expect_sorted(few, "a hundred of them, often", mebi);
    hashes ends = random_hashes(count, 16);
    for (const std::uint64_t each : becoming({0, 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 1}))
        ends.push_back(each);
    expect_sorted(ends, "with the smallest and the largest", mebi);
}

TEST(sorted_hashes, the_cap_decides_between_memory_and_file) {
    for (const std::uint64_t cap : {mebi, 4 * mebi, 16 * mebi}) {
        const std::uint64_t fitting = cap / 8 / 4 / 2;
        EXPECT_TRUE(sorted_hashes::gather(random_hashes(fitting, 17), with(2, cap)).value().in_memory())
            << cap;
        EXPECT_FALSE(sorted_hashes::gather(random_hashes(cap / 8, 17), with(2, cap)).value().in_memory())
            << cap;
        const hashes few = random_hashes(fitting, 17);
        EXPECT_TRUE(sorted_hashes::gather(source_of(few), with(2, cap)).value().in_memory()) << cap;
    }
}

TEST(sorted_hashes, a_cap_too_small_says_what_would_do) {
    const hashes given = random_hashes(1'000, 18);
    EXPECT_TRUE(fails_with(sorted_hashes::gather(given, with(1, mebi - 1)), error_code::too_large, "1048575",
                           "1048576"));
    // Distinct hashes that all begin with the same bits: a range of 4 MB, which 2 MiB cannot sort.
    hashes clustered(500'000);
    for (std::size_t i = 0; i < clustered.size(); ++i) clustered[i] = (std::uint64_t{3} << 62) + i;
    clustered = becoming(clustered);
    const auto refused = sorted_hashes::gather(clustered, with(1, 2 * mebi));
    ASSERT_TRUE(fails_with(refused, error_code::too_large, "2097152", "500000", "would do"));
    const std::string& said = refused.error().message;
    const std::uint64_t enough = std::stoull(said.substr(said.find("a cap of ", said.find(';')) + 9));
    EXPECT_GT(enough, 4 * mebi - mebi);
    EXPECT_LE(enough, 8 * mebi);
    const auto done = sorted_hashes::gather(clustered, with(1, enough));
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_FALSE(done->in_memory());
    EXPECT_TRUE(whole_of(*done) == expected_of(clustered));
    // An index of a file that would outgrow the cap.
    EXPECT_TRUE(
        fails_with(sorted_hashes::gather(
                       [at = std::uint64_t{0}](std::span<std::uint64_t> into) mutable -> result<std::size_t> {
                           for (std::uint64_t& each : into) each = random_hash(19, at++);
                           return into.size();
                       },
                       with(1, mebi)),
                   error_code::too_large, "1048576", "four times"));
}

} // namespace
} // namespace bouncer::test
