// The rate of a full window is the promised one, and its sizes are the known ones.
#include "cells/windowed_forms.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

namespace bouncer::test {
namespace {

TEST(windowed_rate, of_a_full_window_is_within_five_sigma) {
    constexpr std::uint64_t keys = 30'000;
    for (const auto& chosen : windowed_forms(keys, 0.01)) {
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto f = plain_windowed_bloom::create(chosen).value();
        EXPECT_LE(f.fpr_at(keys), 0.01);
        EXPECT_GE(f.fpr_at(keys), 0.0097); // no larger than it must be
        sample measured;
        sample known;
        sample sizes;
        constexpr std::size_t queries = 20'000;
        answers out(queries);
        const std::uint64_t each = (keys + f.window_steps() - 1) / f.window_steps();
        const std::uint64_t rounds = std::max<std::uint64_t>(8, scaled(24));
        for (std::uint64_t round = 0; round < rounds; ++round) {
            f.clear();
            for (std::uint64_t step = 0; step < chosen.live; ++step) {
                ASSERT_TRUE(f.rotate_to(f.epoch() + 1).has_value());
                f.add_batch(random_hashes(each, 10 + round, step * each));
            }
            const auto hits = f.may_contain(random_hashes(queries, 1'000 + round), out.span());
            measured.add(static_cast<double>(hits) / queries);
            known.add(f.expected_fpr());
            sizes.add(f.approximate_size());
        }
        const double promised = f.fpr_at(each * f.window_steps());
        const double trials = measured.count() * queries;
        const double binomial = std::sqrt(promised * (1 - promised) / trials);
        EXPECT_TRUE(near_by_sigma(measured.mean(), promised, std::max(binomial, measured.standard_error())));
        EXPECT_TRUE(
            near_by_sigma(measured.mean(), known.mean(), std::max(binomial, measured.standard_error())));
        EXPECT_NEAR(sizes.mean(), static_cast<double>(each * chosen.live), 0.02 * static_cast<double>(keys));
    }
}

TEST(windowed_rate, keys_are_known_by_generation) {
    auto f = plain_windowed_bloom::create(windowed_forms(60'000, 0.01)[5]).value();
    for (std::uint64_t step = 0; step < 12; ++step) {
        ASSERT_TRUE(f.rotate_to(step).has_value());
        f.add_batch(random_hashes(1'000 * (step + 1), 3, step * 100'000));
    }
    const auto keys = f.keys_by_generation();
    ASSERT_EQ(keys.size(), 7u);
    for (std::size_t age = 0; age < keys.size(); ++age)
        EXPECT_NEAR(keys[age], 1'000.0 * static_cast<double>(12 - age), 400) << age;
}

TEST(windowed_rate, bits_per_window_key_at_one_percent) {
    const auto bits = [](std::uint32_t live, cell_form form) {
        const goal wanted{.keys = 10'000'000, .false_positive_rate = 0.01};
        const auto chosen = plain_windowed_bloom::solve(wanted, live, form).value();
        return 8.0 * static_cast<double>(plain_windowed_bloom::size_bytes_of(chosen)) / 10'000'000;
    };
    EXPECT_NEAR(bits(7, cell_form::two_lines), 23.45, 0.02);
    EXPECT_NEAR(bits(7, cell_form::flat), 18.18, 0.02);
    EXPECT_NEAR(bits(3, cell_form::two_lines), 26.33, 0.02);
    EXPECT_NEAR(bits(2, cell_form::two_lines), 48.4, 0.1);
}

TEST(windowed_rate, capacity_and_fpr_at_agree) {
    for (const auto& chosen : windowed_forms(5'000, 0.01)) {
        const auto f = plain_windowed_bloom::create(chosen).value();
        const std::uint64_t keys = f.capacity(0.01);
        EXPECT_LE(f.fpr_at(keys), 0.01);
        EXPECT_GE(keys, 5'000u);
    }
}

} // namespace
} // namespace bouncer::test
