// slice_plan and slice_buffers: every hash comes to its slice, whole and in order, whatever the input.
#include <bouncer/detail/slices.h>

#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace bouncer::test {
namespace {

using detail::slice_buffers;
using detail::slice_plan;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

TEST(slice_plan, is_worth_it_beyond_the_caches_or_for_several_threads) {
    constexpr std::uint64_t blocks = 64 * mebi / 64;
    EXPECT_TRUE(slice_plan(blocks, 64, 2 * blocks, 1).worth_it());
    EXPECT_FALSE(slice_plan(blocks - 1, 64, 2 * blocks, 1).worth_it()) << "in the caches";
    EXPECT_FALSE(slice_plan(blocks, 64, 2 * blocks - 1, 1).worth_it()) << "few hashes for the lines";
    EXPECT_TRUE(slice_plan(2, 64, 65'536, 2).worth_it());
    EXPECT_FALSE(slice_plan(2, 64, 65'535, 2).worth_it()) << "few hashes";
    EXPECT_FALSE(slice_plan(2, 64, 65'536, 3).worth_it()) << "fewer blocks than threads";
    EXPECT_FALSE(slice_plan(1, 64, 65'536, 1).worth_it());
}

TEST(slice_plan, cuts_the_whole_filter_and_has_work_for_every_thread) {
    for (const std::uint64_t block_bytes : {8u, 32u, 64u, 128u}) {
        for (const std::uint64_t blocks :
             {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1'000},
              std::uint64_t{4'097}, mebi - 1, mebi, mebi + 1, 1'000 * mebi, (std::uint64_t{1} << 44) / 8}) {
            for (const unsigned threads : {1u, 2u, 3u, 7u, 256u}) {
                if (blocks < threads) continue;
                const slice_plan plan(blocks, block_bytes, 10'000'000, threads);
                SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(threads) + " threads");
                EXPECT_EQ(plan.slices(), ((blocks - 1) >> plan.shift()) + 1);
                EXPECT_GE(plan.slices(), threads);
                EXPECT_LE(plan.slices(), 2'049u) << "what waits for them would leave the cache";
                EXPECT_EQ(plan.capacity() % 32, 0u);
                EXPECT_GE(plan.capacity(), 32u);
                if (blocks * block_bytes <= 1'024 * mebi && threads == 1) {
                    EXPECT_LE(block_bytes << plan.shift(), 2 * mebi) << "a slice would leave the cache";
                }
                // Half of what the filter is for fits at a time; and the buffers of all stay within 256 MiB and a bit.
                EXPECT_GE(plan.capacity() * plan.slices() * threads,
                          std::min<std::uint64_t>(10'000'000, blocks * block_bytes / 8) / 2);
                EXPECT_LE(plan.capacity() * 8 * plan.slices(),
                          (std::uint64_t{256} << 20) / threads * 5 / 4 + 4 * mebi);
            }
        }
    }
}

// fill() again and again until all is taken; the hashes of each slice in the order in which they came.
std::map<std::uint64_t, std::vector<std::uint64_t>>
sorted_by(const slice_plan& plan, std::span<const std::uint64_t> hashes, auto slice_of) {
    auto buffers = slice_buffers::make(plan).value();
    std::map<std::uint64_t, std::vector<std::uint64_t>> out;
    while (!hashes.empty()) {
        const std::size_t taken = buffers.fill(hashes, slice_of);
        EXPECT_GT(taken, 0u);
        EXPECT_LE(taken, hashes.size());
        std::size_t held = 0;
        for (std::uint64_t slice = 0; slice < plan.slices(); ++slice) {
            const auto part = buffers.slice(slice);
            EXPECT_LE(part.size(), plan.capacity());
            out[slice].insert(out[slice].end(), part.begin(), part.end());
            held += part.size();
        }
        EXPECT_EQ(held, taken);
        if (taken == 0) break;
        hashes = hashes.subspan(taken);
    }
    return out;
}

void expect_sorted(const slice_plan& plan, const std::vector<std::uint64_t>& hashes, auto slice_of) {
    std::map<std::uint64_t, std::vector<std::uint64_t>> expected;
    for (const std::uint64_t hash : hashes) expected[slice_of(hash)].push_back(hash);
    auto got = sorted_by(plan, hashes, slice_of);
    std::erase_if(got, [](const auto& each) { return each.second.empty(); });
    EXPECT_EQ(got, expected);
}

TEST(slice_buffers, sort_every_hash_to_its_slice) {
    const slice_plan plan(1'000, 64, 100'000, 4);
    const auto slice_of = [&](std::uint64_t hash) { return detail::fast_range(hash, 1'000) >> plan.shift(); };
    for (std::size_t count = 0; count < 100; ++count) expect_sorted(plan, random_hashes(count, 1), slice_of);
    for (const std::size_t count : {1'000u, 30'000u, 300'000u})
        expect_sorted(plan, random_hashes(count, 2), slice_of);
}

TEST(slice_buffers, take_what_fits_when_one_slice_is_nearly_full) {
    const slice_plan plan(1'000, 64, 100'000, 4);
    ASSERT_GT(plan.slices(), 2u);
    auto buffers = slice_buffers::make(plan).value();
    const std::vector<std::uint64_t> equal(plan.capacity() + 5, 7);
    const auto last = [&](std::uint64_t) { return plan.slices() - 1; };
    const std::uint64_t fits = plan.capacity() - detail::run_hashes; // a run is to spare
    EXPECT_EQ(buffers.fill(equal, last), fits);
    EXPECT_EQ(buffers.slice(plan.slices() - 1).size(), fits);
    EXPECT_EQ(buffers.slice(0).size(), 0u);
    EXPECT_EQ(buffers.fill(std::span(equal).first(3), last), 3u) << "it forgets what it held";
    EXPECT_EQ(buffers.slice(plan.slices() - 1).size(), 3u);
    EXPECT_EQ(buffers.fill({}, last), 0u);
    EXPECT_EQ(buffers.slice(plan.slices() - 1).size(), 0u);
    expect_sorted(plan, std::vector<std::uint64_t>(5 * plan.capacity() + 3, 9), last);
    // Two slices in turn: the one that is full ends the round, the other keeps its run that is not full.
    expect_sorted(plan, random_hashes(10 * plan.capacity(), 3),
                  [](std::uint64_t hash) { return hash % 16 == 0 ? std::uint64_t{1} : 0; });
}

} // namespace
} // namespace bouncer::test
