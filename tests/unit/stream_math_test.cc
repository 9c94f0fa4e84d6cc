// Stable filters and counters: the closed forms against the chain of one cell, against dice, and at the edges.
#include "bouncer/stream_math.h"

#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace bouncer::math {
namespace {

struct stable_shape {
    std::uint64_t cells;
    std::uint32_t k;
    std::uint32_t max;
    std::uint64_t p;
};

const stable_shape shapes[] = {
    {512, 1, 1, 1},     {512, 3, 1, 11},       {256, 4, 3, 30},  {128, 6, 15, 100},   {4096, 2, 3, 15},
    {4096, 6, 15, 142}, {10'000, 10, 15, 291}, {64, 32, 15, 63}, {1 << 20, 3, 7, 40}, {1 << 20, 6, 15, 142}};

std::string name_of(const stable_shape& s) {
    return std::to_string(s.cells) + " cells, k " + std::to_string(s.k) + ", max " + std::to_string(s.max) +
           ", p " + std::to_string(s.p);
}

// What an add does to one cell, written down as it is said: state by state.
class chain {
  public:
    chain(const stable_shape& of, std::uint32_t from) : states_(of.max + 1), max_(of.max) {
        states_[from] = 1;
        down_ = static_cast<double>(of.p) / static_cast<double>(of.cells);
        for (std::uint32_t i = 0; i < of.k; ++i) kept_ *= 1 - 1 / static_cast<double>(of.cells);
    }
    void add() {
        std::vector<double> next(states_.size());
        for (std::uint32_t i = 0; i <= max_; ++i) {
            next[i == 0 ? 0 : i - 1] += states_[i] * down_;
            next[i] += states_[i] * (1 - down_);
        }
        for (double& each : next) each *= kept_;
        next[max_] += 1 - kept_;
        states_ = std::move(next);
    }
    double zero() const { return states_[0]; }

  private:
    std::vector<double> states_;
    std::uint32_t max_;
    double down_ = 0;
    double kept_ = 1;
};

TEST(stream_math, closed_forms_are_the_chain_of_one_cell) {
    for (const auto& s : shapes) {
        SCOPED_TRACE(name_of(s));
        chain from_max(s, s.max);
        chain from_empty(s, 0);
        for (int adds = 0; adds <= 3000; ++adds) {
            if (adds < 20 || adds % 250 == 0) {
                const double lost = -std::expm1(s.k * std::log1p(-from_max.zero()));
                EXPECT_NEAR(stable_false_negative_rate(adds, s.cells, s.k, s.max, s.p), lost, 1e-11 * lost);
                EXPECT_NEAR(stable_zero_fraction_after(adds, s.cells, s.k, s.max, s.p), from_empty.zero(),
                            1e-12);
                EXPECT_NEAR(stable_fpr_after(adds, s.cells, s.k, s.max, s.p),
                            std::pow(1 - from_empty.zero(), s.k), 1e-11);
            }
            from_max.add();
            from_empty.add();
        }
    }
}

TEST(stream_math, the_chain_tends_to_the_stable_point) {
    for (const auto& s : shapes) {
        if (s.cells > 10'000) continue;
        SCOPED_TRACE(name_of(s));
        chain cell(s, s.max);
        for (int adds = 0; adds < 100'000; ++adds) cell.add();
        EXPECT_NEAR(cell.zero(), stable_zero_fraction(s.cells, s.k, s.max, s.p), 1e-9);
    }
    for (const auto& s : shapes) { // however far
        SCOPED_TRACE(name_of(s));
        const double zero = stable_zero_fraction(s.cells, s.k, s.max, s.p);
        const double rate = stable_fpr(s.cells, s.k, s.max, s.p);
        EXPECT_NEAR(rate, std::pow(1 - zero, s.k), 1e-12);
        for (const double far : {1e9, 1e12, 1e18, 1e300}) {
            EXPECT_NEAR(stable_zero_fraction_after(far, s.cells, s.k, s.max, s.p), zero, 1e-12 * zero);
            EXPECT_NEAR(stable_fpr_after(far, s.cells, s.k, s.max, s.p), rate, 1e-9 * rate);
            EXPECT_NEAR(stable_false_negative_rate(far, s.cells, s.k, s.max, s.p),
                        1 - std::pow(1 - zero, s.k), 1e-12);
        }
    }
}

// Dice: one cell at a time, counted down and set as an add does.
TEST(stream_math, the_chain_of_one_cell_is_what_dice_give) {
    const stable_shape s{128, 3, 3, 12};
    std::uint64_t thrown = 0;
    const auto dice = [&](std::uint64_t sides) {
        return bouncer::detail::fast_range(test::random_hash(77, thrown++), sides);
    };
    for (const int distance : {3, 10, 30, 100, 1000}) {
        const std::uint64_t trials = test::scaled(distance == 1000 ? 4'000 : 40'000);
        std::uint64_t zeros = 0;
        for (std::uint64_t t = 0; t < trials; ++t) {
            std::uint32_t cell = s.max;
            for (int add = 0; add < distance; ++add) {
                if (dice(s.cells) < s.p && cell != 0) --cell;
                for (std::uint32_t i = 0; i < s.k; ++i)
                    if (dice(s.cells) == 0) cell = s.max;
            }
            zeros += cell == 0;
        }
        const double lost = stable_false_negative_rate(distance, s.cells, s.k, s.max, s.p);
        const double zero = 1 - std::pow(1 - lost, 1.0 / s.k);
        EXPECT_TRUE(test::within_sigma(static_cast<double>(zeros), static_cast<double>(trials), zero))
            << distance;
    }
}

TEST(stream_math, decrements_are_the_fewest_that_keep_the_rate) {
    int truncated_too_few = 0;
    for (const std::uint64_t cells : {512u, 4096u, 100'000u, 1u << 30})
        for (const std::uint32_t max : {1u, 3u, 15u})
            for (std::uint32_t k = 1; k <= 10; ++k)
                for (const double rate : {0.3, 0.1, 0.01, 1e-3, 1e-4}) {
                    SCOPED_TRACE(name_of({cells, k, max, 0}) + " at " + std::to_string(rate));
                    const auto p = stable_decrements(rate, cells, k, max);
                    if (!p) {
                        EXPECT_GT(stable_fpr(cells, k, max, cells - 1), rate);
                        continue;
                    }
                    EXPECT_LE(stable_fpr(cells, k, max, *p), rate);
                    if (*p > 1) {
                        EXPECT_GT(stable_fpr(cells, k, max, *p - 1), rate);
                    }
                    // As published, for k distinct cells.
                    const double published = 1 / ((1 / std::pow(1 - std::pow(rate, 1.0 / k), 1.0 / max) - 1) *
                                                  (1.0 / k - 1 / static_cast<double>(cells)));
                    const double slack = 1 + published * k / static_cast<double>(cells);
                    EXPECT_NEAR(static_cast<double>(*p), std::max(1.0, std::ceil(published)), slack);
                    if (published < 2) continue;
                    const auto truncated = static_cast<std::uint64_t>(published);
                    truncated_too_few += stable_fpr(cells, k, max, truncated) > rate;
                }
    EXPECT_GT(truncated_too_few, 300);
}

// Where 1 - rate has no digits of the rate left, or the rate hardly changes with p: one p after another would take up to
// 10^13 steps.
TEST(stream_math, decrements_of_extreme_rates) {
    int found = 0;
    for (int log_cells = 1; log_cells <= 63; ++log_cells)
        for (const std::uint32_t max : {1u, 3u, 15u})
            for (const std::uint32_t k : {1u, 2u, 3u, 10u, 64u})
                for (const double rate :
                     {std::numeric_limits<double>::denorm_min(), 1e-300, 1e-18, 1.3932056380672334e-15, 1e-14,
                      1e-12, 1e-10, 0.999, 1 - 1e-12, 1 - std::numeric_limits<double>::epsilon() / 2}) {
                    const std::uint64_t cells = std::uint64_t{1} << log_cells;
                    SCOPED_TRACE(name_of({cells, k, max, 0}));
                    const auto p = stable_decrements(rate, cells, k, max);
                    if (!p) {
                        EXPECT_GT(stable_fpr(cells, k, max, cells - 1), rate);
                        continue;
                    }
                    ++found;
                    EXPECT_LE(stable_fpr(cells, k, max, *p), rate);
                    if (*p > 1) {
                        EXPECT_GT(stable_fpr(cells, k, max, *p - 1), rate);
                    }
                }
    EXPECT_GT(found, 3'000);
    // One cell of one bit: the rate is nearly 1 / p.
    EXPECT_NEAR(static_cast<double>(stable_decrements(1e-15, std::uint64_t{1} << 50, 1, 1).value()), 1e15, 2);
}

TEST(stream_math, rates_rise_with_what_should_raise_them) {
    const auto forgotten = [](double distance, std::uint64_t cells, std::uint64_t p) {
        return stable_false_negative_rate(distance, cells, 6, 15, p);
    };
    EXPECT_EQ(forgotten(0, 4096, 142), 0);
    EXPECT_EQ(forgotten(14, 4096, 142), 0); // fifteen countdowns take fifteen adds
    EXPECT_GT(forgotten(15, 4096, 142), 0);
    for (double distance = 15; distance < 2000; distance *= 1.3) {
        EXPECT_LE(forgotten(distance, 4096, 142), forgotten(distance * 1.3, 4096, 142));
        EXPECT_GE(forgotten(distance, 4096, 142), forgotten(distance, 8192, 142));
        EXPECT_LE(forgotten(distance, 4096, 142), forgotten(distance, 4096, 143));
    }
    EXPECT_GT(stable_fpr(4096, 6, 15, 141), stable_fpr(4096, 6, 15, 142));
}

// ---- counters ---------------------------------------------------------------------------------------------------

// The probability that a given counter of this shape counts at least so many of `keys` distinct keys: the binomial sum of
// docs/math.md, term by term.
double counter_tail(const geometry& shape, double keys, std::uint64_t at_least) {
    const double touched =
        -std::expm1(shape.bits_per_group * std::log1p(-1 / static_cast<double>(shape.sector_bits)));
    const double p = touched / static_cast<double>(shape.blocks);
    double sum = 0;
    for (double i = static_cast<double>(at_least); i <= std::min(keys, 200.0); ++i)
        sum += std::exp(std::lgamma(keys + 1) - std::lgamma(i + 1) - std::lgamma(keys - i + 1) +
                        i * std::log(p) + (keys - i) * std::log1p(-p));
    return std::min(1.0, sum);
}

// A key that throws one cell twice counts once: compare with dice.
TEST(stream_math, counter_tail_is_what_dice_give) {
    const geometry shape{.blocks = 3, .groups = 2, .sector_bits = 8, .bits_per_group = 4};
    const std::uint64_t trials = test::scaled(20'000);
    const int keys = 12;
    std::vector<std::uint64_t> at_least(static_cast<std::size_t>(keys) + 2);
    std::uint64_t thrown = 0;
    for (std::uint64_t t = 0; t < trials; ++t) {
        std::size_t count = 0;
        for (int key = 0; key < keys; ++key) {
            const std::uint64_t block = bouncer::detail::fast_range(test::random_hash(78, thrown++), 3);
            bool touched = false;
            for (int i = 0; i < 4; ++i) touched |= (test::random_hash(78, thrown++) & 7u) == 0;
            count += block == 0 && touched;
        }
        for (std::size_t i = 0; i <= count; ++i) ++at_least[i];
    }
    for (std::size_t i = 0; i <= 6; ++i)
        EXPECT_TRUE(test::within_sigma(static_cast<double>(at_least[i]), static_cast<double>(trials),
                                       counter_tail(shape, keys, i)))
            << i;
}

// docs/math.md and docs/filters/stable_bloom.md print these.
TEST(stream_math, numbers_of_the_page) {
    const double keys = 1e6;
    const geometry two_lines{.blocks = 39'982, .groups = 2, .sector_bits = 128, .bits_per_group = 3};
    EXPECT_NEAR(fpr(two_lines, keys), 0.01, 1e-5);
    EXPECT_NEAR(counter_tail(two_lines, keys, 15), 1.31e-16, 0.01e-16);
    EXPECT_NEAR(counter_tail(two_lines, keys, 16), 4.7e-18, 0.1e-18);
    const geometry flat{.sector_bits = 9'585'058, .bits_per_group = 7};
    EXPECT_NEAR(counter_tail(flat, keys, 15), 3.5e-15, 0.1e-15);
    EXPECT_NEAR(counter_tail(flat, keys, 16), 1.6e-16, 0.1e-16);
    // At ln 2 keys a counter: the tail and the bound (e ln 2 / 16)^16 on it.
    EXPECT_NEAR(counter_tail({.blocks = 1'000'000, .sector_bits = 1}, 693'147, 16), 7.1e-17, 0.1e-17);
    EXPECT_NEAR(std::pow(std::exp(1) * std::log(2) / 16, 16), 1.4e-15, 0.1e-15);
}

TEST(stream_math, nothing_is_not_a_number) {
    const double big = 1e300;
    for (const std::uint64_t cells : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                      std::uint64_t{512}, std::numeric_limits<std::uint64_t>::max()})
        for (const std::uint32_t k : {0u, 1u, 10u, 0xffffffffu})
            for (const std::uint32_t max : {0u, 1u, 15u, 0xffffu})
                for (const std::uint64_t p :
                     {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{600}, ~std::uint64_t{0}}) {
                    SCOPED_TRACE(name_of({cells, k, max, p}));
                    std::vector<double> all{stable_zero_fraction(cells, k, max, p),
                                            stable_fpr(cells, k, max, p)};
                    for (const double n : {-1.0, 0.0, 1.0, 1e6, big}) {
                        all.push_back(stable_zero_fraction_after(n, cells, k, max, p));
                        all.push_back(stable_fpr_after(n, cells, k, max, p));
                        all.push_back(stable_false_negative_rate(n, cells, k, max, p));
                    }
                    for (const double each : all) {
                        EXPECT_GE(each, 0);
                        EXPECT_LE(each, 1);
                    }
                }
    EXPECT_FALSE(stable_decrements(0, 512, 1, 1));
    EXPECT_FALSE(stable_decrements(0.1, 0, 1, 1));
    EXPECT_FALSE(stable_decrements(0.1, 512, 0, 1));
    EXPECT_FALSE(stable_decrements(1e-9, 512, 1, 1));
    EXPECT_FALSE(stable_decrements(std::numeric_limits<double>::quiet_NaN(), 512, 1, 1));
    EXPECT_EQ(stable_decrements(1, 512, 1, 1), 1u);
}

} // namespace
} // namespace bouncer::math
