// test_and_add when several threads add one new key at once: who is told "new".
//   register_bloom  at most one thread, and exactly one unless other keys' bits already covered the key.
//   other kinds     at least one thread, with the same exception.
#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/detail/bit_ops.h>
#include <bouncer/math.h>
#include <bouncer/register_bloom.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

constexpr std::array racing_threads{2u, 4u, 8u};

std::uint64_t word_of(const atomic_register_bloom& f, std::uint64_t hash) {
    std::uint64_t word = 0;
    bouncer::detail::each_word(f.layout(), hash, [&](std::uint64_t i, std::uint64_t) { word = i; });
    return word;
}

// Fresh keys, each in a word of its own.
std::vector<std::uint64_t> keys_of_distinct_words(const atomic_register_bloom& f, std::size_t count) {
    std::vector<bool> taken(f.params().words);
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; out.size() < count; ++i) {
        const std::uint64_t hash = random_hash(1, i);
        const std::uint64_t word = word_of(f, hash);
        if (!taken[word]) out.push_back(hash);
        taken[word] = true;
    }
    return out;
}

// All threads call test_and_add for all keys, in the same order or each in its own, without waiting for each other;
// how many were told "new", per key.
std::vector<unsigned> race_freely(atomic_register_bloom& f, unsigned threads,
                                  const std::vector<std::uint64_t>& keys, bool shuffled) {
    std::vector<std::atomic<unsigned>> winners(keys.size());
    run_threads(threads, [&](unsigned t) {
        std::vector<std::size_t> order(keys.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        if (shuffled) std::shuffle(order.begin(), order.end(), std::mt19937_64(t));
        for (const std::size_t i : order)
            if (!f.test_and_add(keys[i])) winners[i].fetch_add(1, std::memory_order_relaxed);
    });
    return {winners.begin(), winners.end()};
}

// ---- the first proof: nothing else touches a key's word, so each key has exactly one winner --------------------

TEST(register_winner, a_key_in_a_word_of_its_own_has_exactly_one_in_lockstep) {
    for (const unsigned threads : racing_threads) {
        auto f = atomic_register_bloom::create({.words = 100'003, .k = 5}).value();
        const auto keys = keys_of_distinct_words(f, scaled_for_threads(40'000 / threads));
        const auto winners =
            race_in_lockstep(threads, keys, [&](auto hash) { return !f.test_and_add(hash); });
        EXPECT_EQ(std::ranges::count(winners, 1u), std::ssize(keys)) << threads << " threads";
    }
}

TEST(register_winner, a_key_in_a_word_of_its_own_has_exactly_one_at_full_speed) {
    for (const unsigned threads : racing_threads) {
        for (const bool shuffled : {false, true}) {
            auto f = atomic_register_bloom::create({.words = 2'000'003, .k = 5}).value();
            const auto keys = keys_of_distinct_words(f, scaled_for_threads(400'000));
            const auto winners = race_freely(f, threads, keys, shuffled);
            EXPECT_EQ(std::ranges::count(winners, 1u), std::ssize(keys)) << threads << " threads";
        }
    }
}

// The kernels themselves, of every instruction set.
TEST(register_winner, a_key_in_a_word_of_its_own_has_exactly_one_by_every_kernel) {
    using bouncer::detail::isa;
    constexpr std::uint32_t k = 5;
    constexpr std::size_t row = bouncer::detail::all_forms::index_of<bouncer::detail::registers>();
    const auto f = atomic_register_bloom::create({.words = 20'011, .k = k}).value();
    const auto keys = keys_of_distinct_words(f, scaled_for_threads(2'000));
    for (const isa which : {isa::scalar, isa::avx2, isa::avx512}) {
        const bouncer::detail::bit_ops_table* const table = bouncer::detail::bit_ops_of(which);
        if (table == nullptr) continue;
        const bouncer::detail::bit_ops& kernels = table->of_form[row];
        for (const bool batch : {false, true}) {
            SCOPED_TRACE(std::string(bouncer::detail::name_of(which)) + (batch ? ", batch" : ", one key"));
            std::vector<std::uint64_t> words(f.params().words);
            const bouncer::detail::extent at{words.size(), k};
            const auto is_new = [&](std::uint64_t hash) {
                if (!batch) return !kernels.set_shared(words.data(), at, hash);
                bool known = false;
                const std::size_t added = kernels.set_each_shared(words.data(), at, &hash, 1, &known);
                EXPECT_EQ(added, known ? 0u : 1u);
                return !known;
            };
            const auto winners = race_in_lockstep(4, keys, is_new);
            EXPECT_EQ(std::ranges::count(winners, 1u), std::ssize(keys));
        }
    }
}

// ---- the second proof: at design load no key ever has two ------------------------------------------------------

TEST(register_winner, at_design_load_no_key_has_two) {
    const auto keys = random_hashes(scaled_for_threads(400'000), 1);
    const auto parameters =
        atomic_register_bloom::solve({.keys = keys.size(), .false_positive_rate = 0.01}).value();
    for (const unsigned threads : racing_threads) {
        for (const bool shuffled : {false, true}) {
            SCOPED_TRACE(std::to_string(threads) + " threads");
            auto f = atomic_register_bloom::create(parameters).value();
            const auto winners = race_freely(f, threads, keys, shuffled);
            EXPECT_LE(*std::ranges::max_element(winners), 1u);
            // A key without a winner was covered when its first thread came. Whatever order the keys came in has
            // nothing to do with their hashes, so the i-th to come was covered with the probability fpr_at(i).
            double mean = 0;
            for (int i = 0; i < 1000; ++i)
                mean += math::fpr(f.shape(), (i + 0.5) / 1000 * static_cast<double>(keys.size())) / 1000;
            const auto covered = static_cast<double>(std::ranges::count(winners, 0u));
            EXPECT_TRUE(within_sigma(covered, static_cast<double>(keys.size()), mean));
        }
    }
}

// The same key by key: exactly the keys that are new to a sequential filter have a winner, and one only.
TEST(register_winner, at_design_load_a_key_has_one_unless_it_is_covered) {
    const auto keys = random_hashes(scaled_for_threads(10'000), 1);
    const auto parameters =
        atomic_register_bloom::solve({.keys = keys.size(), .false_positive_rate = 0.01}).value();
    for (const unsigned threads : racing_threads) {
        auto f = atomic_register_bloom::create(parameters).value();
        auto expected = plain_register_bloom::create(parameters).value();
        const auto winners =
            race_in_lockstep(threads, keys, [&](auto hash) { return !f.test_and_add(hash); });
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < keys.size(); ++i)
            wrong += winners[i] != (expected.test_and_add(keys[i]) ? 0u : 1u);
        EXPECT_EQ(wrong, 0u) << threads << " threads";
    }
}

// ---- every kind: at least one ----------------------------------------------------------------------------------

class winners : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, winners, atomic_subjects_that(&facts::bits), subject_names);

TEST_P(winners, are_at_least_one_unless_the_key_is_covered) {
    const auto keys = random_hashes(scaled_for_threads(4000), 1);
    for (const auto& parameters : k.variants(keys.size(), 0.01)) {
        for (const unsigned threads : {2u, 8u}) {
            SCOPED_TRACE(k.describe(parameters) + ", " + std::to_string(threads) + " threads");
            auto f = k.create(parameters).value();
            auto expected = k.in(words_access::plain).create(parameters).value();
            const auto told =
                race_in_lockstep(threads, keys, [&](auto hash) { return !f.test_and_add(hash); });
            std::uint64_t wrong = 0;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                const bool covered = expected.test_and_add(keys[i]);
                wrong += covered ? told[i] != 0 : told[i] < 1;
            }
            EXPECT_EQ(wrong, 0u);
            EXPECT_TRUE(f == expected);
        }
    }
}

} // namespace
} // namespace bouncer::test
