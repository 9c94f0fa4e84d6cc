// From goals to parameters: the size that a rate needs, and what is refused.
#include "cells/counting_forms.h"
#include "support/failures.h"

#include <bouncer/bloom.h>

namespace bouncer::test {
namespace {

using F = plain_counting_bloom;

std::uint64_t bytes_for(const counting_form& which, std::uint64_t keys, double rate) {
    return F::size_bytes_of(counters_for(which, keys, rate));
}

TEST(counting_sizes, against_a_bloom_filter_of_the_same_rate) {
    const double bloom = static_cast<double>(plain_bloom::size_bytes_of(
        plain_bloom::solve({.keys = 1'000'000, .false_positive_rate = 0.01}).value()));
    const auto ratio = [&](std::uint32_t bits, cell_form form) {
        return static_cast<double>(bytes_for({bits, form}, 1'000'000, 0.01)) / bloom;
    };
    const double narrow = ratio(4, cell_form::two_lines);
    EXPECT_LE(narrow, 4.35);
    EXPECT_GT(narrow, 4.0);
    EXPECT_NEAR(ratio(8, cell_form::two_lines), 9.1,
                0.2); // a line holds half as many: the keys spread less evenly
    EXPECT_NEAR(ratio(8, cell_form::flat), 8, 0.01);
    EXPECT_NEAR(ratio(16, cell_form::flat), 16, 0.02);
    EXPECT_NEAR(ratio(32, cell_form::flat), 32, 0.04);
}

// One unit less breaks the promise.
TEST(counting_sizes, are_the_smallest_that_keep_the_rate) {
    for (const std::uint64_t keys : {100u, 10'000u})
        for (const double rate : {0.2, 0.01, 1e-5})
            for_each_form(keys, rate, [&](const counting_bloom_parameters& chosen) {
                EXPECT_TRUE(F::check(chosen));
                EXPECT_LE(F::create(chosen).value().fpr_at(keys), rate);
                auto less = chosen;
                less.units -= chosen.form == cell_form::flat ? 64 : 1;
                if (less.units == 0) return;
                EXPECT_GT(F::create(less).value().fpr_at(keys), rate);
            });
}

TEST(counting_sizes, within_a_budget_of_bytes) {
    for (const counting_form& which : counting_forms)
        for (const std::uint64_t bytes : {256u, 1'000u, 65'536u, 1'000'000u}) {
            const auto chosen = F::solve({.keys = 1'000, .size_bytes = bytes}, which.bits, which.form);
            ASSERT_TRUE(chosen.has_value()) << chosen.error().message;
            SCOPED_TRACE(F::describe(*chosen));
            EXPECT_TRUE(F::check(*chosen));
            EXPECT_LE(F::size_bytes_of(*chosen), bytes);
            EXPECT_GT(F::size_bytes_of(*chosen) + 256, bytes);
        }
    const goal both{.keys = 1'000, .false_positive_rate = 0.01, .size_bytes = 6'000};
    EXPECT_LE(F::size_bytes_of(F::solve(both).value()), 6'000u);
    EXPECT_TRUE(fails_with(F::solve({.keys = 1'000, .false_positive_rate = 0.01, .size_bytes = 4'000}),
                           error_code::too_large, "1000", "4000"));
}

TEST(counting_sizes, refuses_goals_that_nothing_can_serve) {
    for (const counting_form& which : counting_forms) {
        const auto solve = [&](const goal& wanted) { return F::solve(wanted, which.bits, which.form); };
        EXPECT_TRUE(
            fails_with(solve({.keys = 0, .false_positive_rate = 0.01}), error_code::invalid_argument, "0"));
        EXPECT_TRUE(fails_with(solve({.keys = 10}), error_code::invalid_argument));
        EXPECT_TRUE(
            fails_with(solve({.keys = 10, .false_positive_rate = 1.5}), error_code::invalid_argument, "1.5"));
        // In bytes, whatever the width of a counter.
        EXPECT_TRUE(fails_with(solve({.keys = 10, .size_bytes = 63}), error_code::invalid_argument, "63"));
        EXPECT_TRUE(fails_with(solve({.keys = std::uint64_t{1} << 48, .false_positive_rate = 0.01}),
                               error_code::too_large, "140737488355328"));
    }
    EXPECT_TRUE(fails_with(F::solve({.keys = 10, .size_bytes = 255}, 32, cell_form::flat),
                           error_code::invalid_argument, "255"));
    EXPECT_TRUE(fails_with(F::solve({.keys = 10, .size_bytes = 127}), error_code::invalid_argument, "127"));
}

TEST(counting_sizes, refuses_widths_and_forms_that_there_are_not) {
    const goal wanted{.keys = 100, .false_positive_rate = 0.01};
    constexpr auto lines = cell_form::two_lines;
    constexpr auto flat = cell_form::flat;
    for (const std::uint32_t bits : {0u, 1u, 2u, 3u, 5u, 12u, 64u, 128u, ~0u}) {
        const std::string named = std::to_string(bits);
        for (const cell_form form : {lines, flat}) {
            EXPECT_TRUE(fails_with(F::solve(wanted, bits, form), error_code::invalid_argument, named));
            EXPECT_TRUE(fails_with(F::create({64, 6, bits, form}), error_code::invalid_argument, named));
        }
    }
    EXPECT_TRUE(fails_with(F::solve(wanted, 4, flat), error_code::invalid_argument, "4"));
    EXPECT_TRUE(fails_with(F::solve(wanted, 16, lines), error_code::invalid_argument, "16"));
    EXPECT_TRUE(fails_with(F::solve(wanted, 32, lines), error_code::invalid_argument, "32"));
    EXPECT_TRUE(
        fails_with(F::solve(wanted, 8, static_cast<cell_form>(2)), error_code::invalid_argument, "2"));
    EXPECT_TRUE(fails_with(F::create({1, 5, 4, lines}), error_code::invalid_argument, "5"));
    EXPECT_TRUE(fails_with(F::create({0, 6, 4, lines}), error_code::invalid_argument, "0"));
    EXPECT_TRUE(fails_with(F::create({63, 6, 8, flat}), error_code::invalid_argument, "63"));
    EXPECT_TRUE(fails_with(F::create({std::uint64_t{1} << 41, 6, 4, lines}), error_code::too_large));
}

// More than there is memory for: an error, not a crash.
TEST(counting_sizes, refuses_what_does_not_fit) {
    const auto huge = F::create({std::uint64_t{1} << 40, 6, 4, cell_form::two_lines});
    ASSERT_FALSE(huge.has_value());
    EXPECT_TRUE(huge.error().code == error_code::out_of_memory || huge.error().code == error_code::too_large)
        << huge.error().message;
}

} // namespace
} // namespace bouncer::test
