// Goals become parameters: small enough, no smaller than the promise allows, and within the size that was given.
#include "support/failures.h"
#include "support/subject.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/dcso_bloom.h>

#include <algorithm>

namespace bouncer::test {
namespace {

double bits_per_key(const kind& k, std::uint64_t keys, double rate, prefer favoured) {
    const auto chosen = k.solve({.keys = keys, .false_positive_rate = rate, .prefer = favoured}).value();
    return static_cast<double>(k.size_bytes_of(chosen) * 8) / static_cast<double>(keys);
}

double rate_of(const kind& k, const choice& chosen, std::uint64_t keys) {
    if (k.is.bits) return math::fpr(k.shape_of(chosen), static_cast<double>(keys));
    return k.create(chosen, {.memory = {.prefault = false}}).value().fpr_at(keys);
}

// What a preference may cost, as a factor: of the bits where the goal names a rate, of the rate where it does not.
double bits_given_up(prefer favoured) {
    return favoured == prefer::space ? 1 : favoured == prefer::reads ? 1.015 : 1.10;
}
double rate_given_up(prefer favoured) {
    return favoured == prefer::space ? 1 : favoured == prefer::reads ? 1.06 : 1.6;
}

class parameters : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, parameters, plain_subjects_that(&facts::incremental), subject_names);

class kept_parameters : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, kept_parameters, plain_subjects_that(&facts::keeps_goal), subject_names);

TEST_P(kept_parameters, keep_the_rate) {
    for (const std::uint64_t keys : {1u, 3u, 1'000u, 1'000'000u})
        for (const double rate : {0.5, 0.1, 0.01, 1e-4, 1e-6})
            for (const auto favoured : {prefer::reads, prefer::adds, prefer::space}) {
                const auto solved = k.solve({.keys = keys, .false_positive_rate = rate, .prefer = favoured});
                ASSERT_TRUE(solved.has_value()) << solved.error().message;
                SCOPED_TRACE(k.describe(*solved) + ", keys " + std::to_string(keys) + ", rate " +
                             std::to_string(rate));
                ASSERT_TRUE(k.check(*solved).has_value());
                EXPECT_LE(rate_of(k, *solved, keys), rate);
            }
}

class sized_parameters : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, sized_parameters, plain_subjects_that(&facts::fixed_size), subject_names);

TEST_P(sized_parameters, of_a_size_are_within_it) {
    for (const std::uint64_t keys : {50u, 50'000u})
        for (const double rate : {0.1, 0.001})
            for (const auto favoured : {prefer::reads, prefer::adds, prefer::space}) {
                const auto by_rate = k.solve({.keys = keys, .false_positive_rate = rate, .prefer = favoured});
                const std::uint64_t bytes = k.size_bytes_of(by_rate.value());
                const auto by_size = k.solve({.keys = keys, .size_bytes = bytes, .prefer = favoured});
                ASSERT_TRUE(by_size.has_value()) << by_size.error().message;
                SCOPED_TRACE(k.describe(*by_size) + ", bytes " + std::to_string(bytes));
                EXPECT_LE(k.size_bytes_of(*by_size), bytes);
            }
}

class bit_parameters : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, bit_parameters,
                         plain_subjects_that([](const facts& is) { return is.bits && is.keeps_goal; }),
                         subject_names);

TEST_P(bit_parameters, are_the_smallest_that_keep_the_rate) {
    for (const std::uint64_t keys : {1u, 3u, 1'000u, 1'000'000u}) {
        for (const double rate : {0.5, 0.1, 0.01, 1e-4, 1e-6}) {
            for (const auto favoured : {prefer::reads, prefer::adds, prefer::space}) {
                const auto chosen =
                    k.solve({.keys = keys, .false_positive_rate = rate, .prefer = favoured}).value();
                SCOPED_TRACE(k.describe(chosen) + ", keys " + std::to_string(keys) + ", rate " +
                             std::to_string(rate));
                // One unit less breaks it; 0.1 % less where the size was rounded up to make it foldable.
                const std::uint64_t unit = k.is.one_block ? 1 : 64;
                const std::uint64_t units = k.size_in(chosen) / unit;
                if (units == 1) continue;
                const auto smaller =
                    k.with_size(chosen, (units - std::max<std::uint64_t>(1, units / 1024)) * unit);
                EXPECT_GT(rate_of(k, smaller, keys), rate) << "a smaller one would do";
            }
        }
    }
}

TEST_P(bit_parameters, of_a_size_use_it_for_the_best_rate) {
    for (const std::uint64_t keys : {50u, 50'000u}) {
        for (const double rate : {0.1, 0.001}) {
            for (const auto favoured : {prefer::reads, prefer::adds, prefer::space}) {
                // The size a rate needs, given alone, must lead back to about that rate.
                const auto by_rate = k.solve({.keys = keys, .false_positive_rate = rate, .prefer = favoured});
                const std::uint64_t bytes = k.size_bytes_of(by_rate.value());
                const auto by_size = k.solve({.keys = keys, .size_bytes = bytes, .prefer = favoured});
                ASSERT_TRUE(by_size.has_value()) << by_size.error().message;
                SCOPED_TRACE(k.describe(*by_size) + ", bytes " + std::to_string(bytes));
                EXPECT_GE(k.size_bytes_of(*by_size),
                          bytes - bytes / 1000 - std::min<std::uint64_t>(bytes, 512));
                const double best = rate_of(k, *by_rate, keys);
                EXPECT_LE(rate_of(k, *by_size, keys), best * rate_given_up(favoured) * 1.02);
            }
        }
    }
}

TEST_P(sized_parameters, of_a_rate_within_a_size) {
    for (const std::uint64_t keys : {50u, 5'000u, 500'000u}) {
        SCOPED_TRACE(std::to_string(keys));
        goal wanted{.keys = keys, .false_positive_rate = 0.01, .prefer = prefer::space};
        const auto free = k.solve(wanted).value();
        const std::uint64_t bytes = k.size_bytes_of(free);
        wanted.size_bytes = bytes;
        EXPECT_EQ(k.solve(wanted).value(), free);
        wanted.size_bytes = 10 * bytes;
        EXPECT_EQ(k.solve(wanted).value(), free);
        wanted.size_bytes = bytes - bytes / 100 - 8;
        EXPECT_TRUE(fails_with(k.solve(wanted), error_code::too_large, std::to_string(*wanted.size_bytes),
                               std::to_string(keys), "0.01"));
    }
}

TEST_P(parameters, explicit_ones_are_taken_as_they_are) {
    for (const auto& chosen : k.variants(1'000, 0.01)) {
        const auto f = k.create(chosen).value();
        EXPECT_EQ(f.params(), chosen);
        EXPECT_EQ(f.size_bytes(), k.size_bytes_of(chosen));
        EXPECT_EQ(f.describe(), chosen.text());
        if (k.is.bits) {
            EXPECT_EQ((k.shape_of(chosen).total_bits() + 63) / 64 * 8, f.size_bytes());
            EXPECT_EQ(f.stored().segments.at(0).count, f.size_bytes() / 8);
        }
    }
    // And the same from a goal.
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    EXPECT_EQ(k.create(wanted).value().params(), k.solve(wanted).value());
}

TEST_P(parameters, of_prefer_space_are_never_larger) {
    for (const std::uint64_t keys : {100u, 1'000'000u})
        for (const double rate : {0.1, 0.001, 1e-4}) {
            const double space = bits_per_key(k, keys, rate, prefer::space);
            for (const auto favoured : {prefer::reads, prefer::adds}) {
                const double got = bits_per_key(k, keys, rate, favoured);
                EXPECT_LE(space, got * 1.001);
                if (!k.is.bits) continue; // what others give up, their own tests say
                EXPECT_GE(space * bits_given_up(favoured) * 1.01 + 1024.0 / static_cast<double>(keys), got);
            }
        }
}

// Bits per key at one million keys, from exact sums made for the design of the library (512-bit blocks and their
// kin) by a program independent of this one; the tolerance is 0.5 %, of which 0.1 % is rounding for folds.
struct known_size {
    const char* kind;
    prefer favoured;
    double rate;
    double bits_per_key;
};
constexpr known_size known_sizes[] = {
    {"bloom", prefer::reads, 0.01, 9.59},
    {"bloom", prefer::reads, 0.001, 14.38},
    {"bloom", prefer::reads, 1e-4, 19.17},
    {"blocked_bloom", prefer::reads, 0.01, 10.10},
    {"blocked_bloom", prefer::reads, 0.001, 15.72},
    {"blocked_bloom", prefer::reads, 1e-4, 21.15},
    {"blocked_bloom", prefer::adds, 0.01, 10.27}, // sectors2
    {"blocked_bloom", prefer::adds, 0.001, 17.04},
    {"blocked_bloom", prefer::adds, 1e-4, 22.56}, // sectors4
    {"blocked_bloom", prefer::space, 0.1, 4.89},  // sectors4
    {"blocked_bloom", prefer::space, 0.02, 8.58}, // sectors2
    {"blocked_bloom", prefer::space, 0.01, 10.10},
    {"blocked_bloom", prefer::space, 1e-4, 21.15},
    {"split_block_bloom", prefer::reads, 0.01, 10.53},
    {"split_block_bloom", prefer::reads, 0.001, 16.89},
    {"split_block_bloom", prefer::reads, 1e-4, 26.34},
    {"register_bloom", prefer::reads, 0.01, 12.14},
    {"register_bloom", prefer::reads, 0.001, 24.00},
    {"register_bloom", prefer::reads, 1e-4, 45.78},
    {"partitioned_bloom", prefer::reads, 0.01, 9.59},
    {"partitioned_bloom", prefer::reads, 0.001, 14.38},
    {"partitioned_bloom", prefer::reads, 1e-4, 19.17},
    {"dcso_bloom", prefer::reads, 0.01, 9.59},
    {"dcso_bloom", prefer::reads, 0.001, 14.38},
    {"dcso_bloom", prefer::reads, 1e-4, 19.17},
};

TEST_P(parameters, have_the_known_sizes) {
    for (const known_size& known : known_sizes) {
        if (known.kind != k.is.name) continue;
        EXPECT_NEAR(bits_per_key(k, 1'000'000, known.rate, known.favoured), known.bits_per_key,
                    0.005 * known.bits_per_key)
            << known.kind << " at " << known.rate;
    }
}

// What `bloom create -n N -p P` of DCSO's package made, as `bloom show` tells. The last four lie where another last bit of
// the logarithm would give another m.
TEST(dcso_parameters, are_those_of_the_program) {
    struct known {
        std::uint64_t keys;
        double rate;
        dcso_bloom_parameters made;
    };
    for (const known& each :
         {known{1, 0.5, {1, 1}}, known{10000, 0.01, {95850, 7}}, known{10000, 0.001, {143775, 10}},
          known{12345, 0.1, {59163, 4}}, known{1000000, 1e-4, {19170116, 14}},
          known{99999, 1e-9, {4313233, 30}}, known{784, 1.5044129192149107e-10, {36906, 33}},
          known{1132, 1.0944174632469507e-11, {59464, 37}}, known{40, 0.16304808404422991, {150, 3}},
          known{1023, 0.081245096627725388, {5344, 4}}}) {
        const auto got =
            detail::dcso_layout::solve({.keys = each.keys, .false_positive_rate = each.rate}).value();
        EXPECT_EQ(got, each.made) << each.keys << " keys at " << each.rate << ": "
                                  << detail::dcso_layout::describe(got);
    }
}

TEST(dcso_parameters, come_close_to_the_rate) {
    for (const std::uint64_t keys : {1'000u, 1'000'000u})
        for (const double rate : {0.1, 0.01, 0.001, 1e-4, 1e-6}) {
            const kind& k = kind_named("dcso_bloom", words_access::plain);
            const auto chosen = k.solve({.keys = keys, .false_positive_rate = rate}).value();
            const double got = rate_of(k, chosen, keys);
            EXPECT_GT(got, 0.98 * rate);
            EXPECT_LT(got, 1.04 * rate);
        }
}

TEST(dcso_parameters, of_a_size_are_odd_and_use_it) {
    for (const std::uint64_t bytes : {8u, 1'000u, 1'000'000u}) {
        const auto chosen = detail::dcso_layout::solve({.keys = 1 + bytes / 2, .size_bytes = bytes}).value();
        EXPECT_EQ(chosen.bits, bytes * 8 - 1);
        EXPECT_EQ(detail::dcso_layout(chosen).word_count() * 8, bytes);
    }
}

TEST(blocked_parameters, keep_the_promised_bits_per_key) {
    const kind& k = kind_named("blocked_bloom", words_access::plain);
    EXPECT_LE(bits_per_key(k, 1'000'000, 0.01, prefer::reads), 10.15);
    EXPECT_LE(bits_per_key(k, 1'000'000, 0.001, prefer::reads), 15.8);
}

TEST(blocked_parameters, take_the_form_that_the_preference_asks_for) {
    const auto form = [](double rate, prefer favoured) {
        return detail::blocked_layout::solve(
                   {.keys = 1'000'000, .false_positive_rate = rate, .prefer = favoured})
            .value()
            .form;
    };
    EXPECT_EQ(form(0.01, prefer::reads), block_form::lanes8);
    EXPECT_EQ(form(0.001, prefer::reads), block_form::lanes8);
    EXPECT_EQ(form(1e-4, prefer::reads), block_form::lanes16);
    EXPECT_EQ(form(0.1, prefer::space), block_form::sectors4);
    EXPECT_EQ(form(0.02, prefer::space), block_form::sectors2);
    EXPECT_EQ(form(0.01, prefer::space), block_form::lanes8);
    EXPECT_EQ(form(5e-4, prefer::space), block_form::lanes16);
    // Two adjacent lines below 0.05 %, and not above.
    EXPECT_EQ(form(5e-4, prefer::reads), block_form::lanes8);
    EXPECT_EQ(form(4.9e-4, prefer::reads), block_form::lanes16);
    EXPECT_EQ(form(0.5, prefer::reads), block_form::sectors2);
    EXPECT_EQ(form(0.1, prefer::reads), block_form::sectors2);
    EXPECT_EQ(form(0.02, prefer::reads), block_form::sectors2); // lanes8: 1.8 % more, 1.5 % are allowed
    EXPECT_EQ(form(0.018, prefer::reads), block_form::lanes8);
    EXPECT_EQ(form(1e-6, prefer::reads), block_form::lanes16);
}

// adds: the fewest words to write, two, then four, within 10 % of the smallest size.
TEST(blocked_parameters, that_favour_adds_write_the_fewest_words) {
    const auto chosen = [](double rate) {
        auto out = detail::blocked_layout::solve(
                       {.keys = 1'000'000, .false_positive_rate = rate, .prefer = prefer::adds})
                       .value();
        out.blocks = 0;
        return out;
    };
    using parameters = blocked_bloom_parameters;
    EXPECT_EQ(chosen(0.1), (parameters{0, 4, block_form::sectors2}));
    EXPECT_EQ(chosen(0.02), (parameters{0, 6, block_form::sectors2}));
    EXPECT_EQ(chosen(0.01), (parameters{0, 6, block_form::sectors2}));
    EXPECT_EQ(chosen(0.001), (parameters{0, 8, block_form::sectors2})); // 8.5 % above the smallest
    EXPECT_EQ(chosen(5e-4), (parameters{0, 12, block_form::sectors4})); // two words: 10.5 %
    EXPECT_EQ(chosen(1e-4), (parameters{0, 12, block_form::sectors4})); // two words: 23 %
    EXPECT_EQ(chosen(1e-5), (parameters{0, 16, block_form::lanes16}));  // nothing else comes near
    EXPECT_EQ(chosen(1e-6), (parameters{0, 16, block_form::lanes16}));
}

// The same where only a size is given: the first form that keeps within 1.6 times the best rate.
TEST(blocked_parameters, of_a_size_that_favour_adds_write_the_fewest_words) {
    constexpr std::uint64_t keys = 1'000'000;
    const auto chosen = [](double bits_per_key, prefer favoured) {
        return detail::blocked_layout::solve(
                   {.keys = keys,
                    .size_bytes = static_cast<std::uint64_t>(bits_per_key * keys / 8),
                    .prefer = favoured})
            .value();
    };
    const auto expect = [&](double bits_per_key, std::uint32_t k, block_form form) {
        const auto got = chosen(bits_per_key, prefer::adds);
        EXPECT_EQ(got.k, k) << bits_per_key;
        EXPECT_EQ(got.form, form) << bits_per_key;
        const auto rate_with = [](const blocked_bloom_parameters& each) {
            return math::fpr(detail::blocked_layout(each).shape(), keys);
        };
        const double best = rate_with(chosen(bits_per_key, prefer::space));
        EXPECT_LE(rate_with(got), 1.6 * best) << bits_per_key;
    };
    expect(4, 2, block_form::sectors2);
    expect(8, 6, block_form::sectors2);
    expect(16, 8, block_form::sectors2);
    expect(20, 12, block_form::sectors4);
    expect(24, 16, block_form::lanes16);
    expect(32, 16, block_form::lanes16);
}

} // namespace
} // namespace bouncer::test
