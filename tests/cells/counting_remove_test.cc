// What remove and try_remove do with keys that are there, that are not, and that were never added.
#include "cells/counting_forms.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <random>

namespace bouncer::test {
namespace {

TEST(counting_remove, takes_its_key_and_no_other) {
    for_each_form(2'000, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto hashes = random_hashes(2'000, 1);
        auto f = plain_counting_bloom::create(chosen).value();
        f.add_batch(hashes);
        auto half = plain_counting_bloom::create(chosen).value();
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            if (i % 2 == 0) f.remove(hashes[i]);
            if (i % 2 == 1) half.add(hashes[i]);
        }
        EXPECT_TRUE(f == half);
        // The keys that went are absent ones now: they are found as often as any.
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < hashes.size(); i += 2) found += f.may_contain(hashes[i]);
        EXPECT_TRUE(within_sigma(static_cast<double>(found), 1'000, f.expected_fpr()));
    });
}

TEST(counting_remove, is_refused_for_a_key_that_is_surely_absent) {
    for_each_form(2'000, 0.01, [](const counting_bloom_parameters& chosen) {
        auto f = atomic_counting_bloom::create(chosen).value();
        EXPECT_FALSE(f.try_remove(random_hash(2, 0))) << "of an empty filter";
        const auto hashes = random_hashes(2'000, 1);
        f.add_batch(hashes);
        const auto before = f.clone().value();
        std::uint64_t refused = 0;
        for (const std::uint64_t hash : random_hashes(scaled(20'000), 2)) {
            if (f.may_contain(hash)) continue;
            ASSERT_FALSE(f.try_remove(hash));
            ++refused;
        }
        EXPECT_TRUE(f == before);
        EXPECT_GT(refused, scaled(20'000) * 9 / 10);
        for (const std::uint64_t hash : hashes) ASSERT_TRUE(f.try_remove(hash));
        EXPECT_EQ(f.fill_ratio(), 0);
        for (const std::uint64_t hash : hashes) ASSERT_FALSE(f.try_remove(hash));
    });
}

// A key with fewer distinct counters than k is counted once in each: it comes and goes as any other.
TEST(counting_remove, of_keys_whose_counters_coincide) {
    for (const counting_form& which : counting_forms) {
        const counting_bloom_parameters chosen{which.form == cell_form::flat ? 128u : 1u, 16, which.bits,
                                               which.form};
        SCOPED_TRACE(plain_counting_bloom::describe(chosen));
        const exact_counters counters(chosen);
        std::uint64_t coincide = 0;
        for (std::uint64_t i = 0; i < 500; ++i) {
            const std::uint64_t hash = random_hash(3, i);
            coincide += counters.places(hash).size() < 16;
            auto f = plain_counting_bloom::create(chosen).value();
            f.add(hash);
            EXPECT_EQ(f.count(hash), 1u);
            f.add(hash);
            EXPECT_EQ(f.count(hash), 2u);
            f.remove(hash);
            EXPECT_TRUE(f.may_contain(hash));
            f.remove(hash);
            EXPECT_EQ(f.fill_ratio(), 0);
        }
        EXPECT_GT(coincide, 50u) << "a test of nothing";
    }
}

// Removes without adds: keys may be lost, and nothing else. Words stay those of a sequential run.
TEST(counting_remove, without_an_add_is_memory_safe) {
    for_each_form(300, 0.05, [](const counting_bloom_parameters& chosen) {
        auto f = plain_counting_bloom::create(chosen).value();
        auto atomic = atomic_counting_bloom::create(chosen).value();
        exact_counters counters(chosen);
        std::mt19937_64 random(5);
        for (std::uint64_t i = 0; i < scaled(100'000); ++i) {
            const std::uint64_t hash = random();
            if (random() % 3 == 0) {
                f.add(hash);
                atomic.add(hash);
                counters.add(hash);
            } else {
                f.remove(hash);
                atomic.remove(hash);
                counters.remove(hash);
            }
        }
        EXPECT_EQ(counters.wrong_words(f), 0u);
        EXPECT_EQ(counters.wrong_words(atomic), 0u);
    });
}

// What the documentation says it costs: keys that share counters with the one removed, and only those.
TEST(counting_remove, without_an_add_costs_keys_that_share_its_counters) {
    for_each_form(1'000, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto hashes = random_hashes(1'000, 6);
        auto f = plain_counting_bloom::create(chosen).value();
        f.add_batch(hashes);
        const std::uint64_t never_added = random_hash(7, 0);
        const exact_counters counters(chosen);
        const auto taken = counters.places(never_added);
        f.remove(never_added);
        std::uint64_t lost = 0;
        for (const std::uint64_t hash : hashes) {
            if (f.may_contain(hash)) continue;
            ++lost;
            const auto own = counters.places(hash);
            EXPECT_NE(std::find_first_of(own.begin(), own.end(), taken.begin(), taken.end()), own.end());
        }
        EXPECT_GT(lost, 0u);
        EXPECT_LE(lost, taken.size()) << "a counter of 1 has one key only";
    });
}

} // namespace
} // namespace bouncer::test
