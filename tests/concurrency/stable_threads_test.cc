// stable_bloom under several threads: nothing is lost where nothing can be forgotten, and the statistics are those of
// one thread.
#include <bouncer/stable_bloom.h>

#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace bouncer::test {
namespace {

constexpr unsigned thread_count = 4;

// How often the first so many adds count each cell down: the same whoever makes them, and in whatever order.
std::vector<std::uint32_t> countdowns(const stable_bloom_parameters& of, std::uint64_t adds) {
    std::vector<std::uint32_t> out(of.cells);
    const detail::stable_layout layout(of);
    for (std::uint64_t n = 0; n < adds; ++n)
        layout.every_countdown(n, [&](std::uint64_t word, std::uint64_t lowest) {
            for (std::uint32_t i = 0; i < 64 / of.cell_bits; ++i)
                out[word * (64 / of.cell_bits) + i] += (lowest >> (i * of.cell_bits) & 1u) != 0;
        });
    return out;
}

// Few countdowns, many cells to a word, every word contended: each key must be found, because no cell can have come
// down to zero. A set or a countdown lost in a neighbour's compare-exchange would show. Two threads, so that they truly
// run at once on two cores, and many short rounds, so that most words are still worth losing.
TEST(stable_threads, nothing_is_lost_where_nothing_can_be_forgotten) {
    const std::uint64_t rounds = 20 + scaled_for_threads(4'000);
    const stable_bloom_parameters chosen{1024, 4, 4, 40};
    const std::uint64_t adds = 120;
    const auto down = countdowns(chosen, adds);
    ASSERT_LT(*std::max_element(down.begin(), down.end()), 15u);
    std::vector<atomic_stable_bloom> filters;
    for (std::uint64_t round = 0; round < rounds; ++round)
        filters.push_back(atomic_stable_bloom::create(chosen).value());
    std::atomic<std::uint64_t> own_missing{0};
    spin_barrier together(2);
    run_threads(2, [&](unsigned t) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            auto& f = filters[round];
            together.wait();
            for (std::uint64_t i = t; i < adds; i += 2) {
                const std::uint64_t hash = random_hash(1, round * adds + i);
                f.add(hash);
                own_missing.fetch_add(!f.may_contain(hash), std::memory_order_relaxed);
            }
        }
    });
    EXPECT_EQ(own_missing.load(), 0u);
    const detail::cells where = detail::stable_layout(chosen).where();
    std::uint64_t lost_keys = 0;
    std::uint64_t wrong_cells = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const auto& f = filters[round];
        EXPECT_EQ(f.adds(), adds);
        std::vector<bool> set(chosen.cells);
        for (const std::uint64_t hash : random_hashes(adds, 1, round * adds)) {
            lost_keys += !f.may_contain(hash);
            where.every_cell(hash, [&](std::uint64_t word, std::uint32_t shift) {
                set[word * 16 + shift / 4] = true;
                return true;
            });
        }
        for (std::uint64_t cell = 0; cell < chosen.cells; ++cell) {
            const std::uint64_t value = f.data()[16 + cell / 16] >> (4 * (cell % 16)) & 15u;
            wrong_cells += set[cell] ? value < 15 - down[cell] : value != 0;
        }
    }
    EXPECT_EQ(lost_keys, 0u);
    EXPECT_EQ(wrong_cells, 0u);
}

// One line of full cells, and one key: the cells that are not the key's end exactly where one thread would leave them.
TEST(stable_threads, no_countdown_is_lost) {
    const std::uint64_t rounds = 20 + scaled_for_threads(2'000);
    const stable_bloom_parameters chosen{128, 1, 4, 2};
    const std::uint64_t adds = 400;
    const auto down = countdowns(chosen, adds);
    std::vector<atomic_stable_bloom> filters;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        filters.push_back(atomic_stable_bloom::create(chosen).value());
        const auto words = detail::storage_access::segments(filters.back()).front();
        std::fill(words.begin() + 16, words.end(), ~std::uint64_t{0});
    }
    spin_barrier together(2);
    run_threads(2, [&](unsigned) {
        for (auto& f : filters) {
            together.wait();
            for (std::uint64_t i = 0; i < adds / 2; ++i) f.add(0); // its cell is the first
        }
    });
    std::uint64_t wrong_cells = 0;
    for (const auto& f : filters) {
        EXPECT_EQ(f.adds(), adds);
        for (std::uint64_t cell = 1; cell < chosen.cells; ++cell) {
            const std::uint64_t value = f.data()[16 + cell / 16] >> (4 * (cell % 16)) & 15u;
            wrong_cells += value != 15 - std::min(down[cell], 15u);
        }
    }
    EXPECT_EQ(wrong_cells, 0u);
}

// All threads add the same key at once, key after key. Nothing is forgotten meanwhile, so a key that nobody is told to
// be new must be one that the keys before it cover.
TEST(stable_threads, at_least_one_is_told_new) {
    const stable_bloom_parameters chosen{1 << 16, 3, 4, 1};
    const auto hashes = random_hashes(100 + scaled_for_threads(5'000), 2);
    const auto down = countdowns(chosen, hashes.size() * thread_count);
    ASSERT_LT(*std::max_element(down.begin(), down.end()), 15u);
    auto f = atomic_stable_bloom::create(chosen).value();
    const auto told =
        race_in_lockstep(thread_count, hashes, [&](std::uint64_t hash) { return !f.test_and_add(hash); });
    auto one = plain_stable_bloom::create(chosen).value();
    for (std::size_t i = 0; i < hashes.size(); ++i) EXPECT_EQ(told[i] != 0, one.add(hashes[i])) << i;
    EXPECT_EQ(f.adds(), hashes.size() * thread_count);
}

// The fill after rounds that lie further apart than the filter remembers.
template <class AddAll>
sample zeros_of(atomic_stable_bloom& f, std::uint64_t rounds, std::uint64_t adds, std::uint64_t stream,
                AddAll add_all) {
    sample out;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        add_all(random_hashes(adds, stream, round * adds));
        out.add(1 - f.fill_ratio());
    }
    return out;
}

TEST(stable_threads, zeros_are_those_of_one_thread) {
    for (const stable_bloom_parameters& chosen :
         {stable_bloom_parameters{1024, 6, 4, 142}, stable_bloom_parameters{2048, 4, 2, 30},
          stable_bloom_parameters{4096, 3, 1, 11}}) {
        auto shared = atomic_stable_bloom::create(chosen).value();
        auto alone = atomic_stable_bloom::create(chosen).value();
        SCOPED_TRACE(shared.describe());
        // The standard error is itself estimated: from 25 rounds 5 sigma are left once in 24,000 times, from 60 once in
        // 190,000 (Student's t).
        const std::uint64_t rounds = 60 + scaled_for_threads(60);
        const std::uint64_t adds = 2000;
        std::atomic<bool> done{false};
        std::jthread reader([&] { // queries and scans while others write
            std::size_t found = 0;
            while (!done) {
                for (std::uint64_t i = 0; i < 200; ++i) found += shared.may_contain(random_hash(9, i));
                const double fill = shared.fill_ratio();
                EXPECT_TRUE(fill >= 0 && fill <= 1);
            }
            EXPECT_GE(found, 0u);
        });
        const sample by_many = zeros_of(shared, rounds, adds, 3, [&](std::vector<std::uint64_t> hashes) {
            run_threads(thread_count, [&](unsigned t) {
                const std::size_t part = hashes.size() / thread_count;
                const auto mine = std::span(hashes).subspan(t * part, part);
                if (t % 2 == 0) {
                    shared.add_batch(mine);
                } else {
                    for (const std::uint64_t hash : mine) shared.add(hash);
                }
            });
        });
        done = true;
        const sample by_one = zeros_of(alone, rounds, adds, 4,
                                       [&](std::vector<std::uint64_t> hashes) { alone.add_batch(hashes); });
        EXPECT_EQ(shared.adds(), rounds * adds);
        EXPECT_EQ(alone.adds(), rounds * adds);
        const double expected = shared.stable_point().zero_fraction;
        EXPECT_TRUE(near_by_sigma(by_many.mean(), expected, by_many.standard_error()));
        EXPECT_TRUE(near_by_sigma(by_one.mean(), expected, by_one.standard_error()));
        EXPECT_TRUE(near_by_sigma(by_many.mean(), by_one.mean(),
                                  std::hypot(by_many.standard_error(), by_one.standard_error())));
    }
}

} // namespace
} // namespace bouncer::test
