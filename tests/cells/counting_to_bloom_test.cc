// to_bloom() of a flat filter is the bloom that the same keys make, bit for bit; two lines have none.
#include "cells/counting_forms.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

namespace bouncer::test {
namespace {

template <class Work>
void for_each_flat_form(std::uint64_t keys, double rate, Work work) {
    for_each_form(keys, rate, [&](const counting_bloom_parameters& chosen) {
        if (chosen.form == cell_form::flat) work(chosen);
    });
}

// What a filter of the parameters of `like` holds after these adds.
plain_bloom built_from(const plain_bloom& like, std::span<const std::uint64_t> hashes) {
    plain_bloom out = plain_bloom::create(like.params(), {.hash = like.hash()}).value();
    out.add_batch(hashes);
    return out;
}

TEST(counting_to_bloom, equals_a_filter_of_the_same_keys) {
    for (const double rate : {0.1, 0.01, 1e-4})
        for_each_flat_form(1'000, rate, [](const counting_bloom_parameters& chosen) {
            const auto stay = random_hashes(1'000, 1);
            const auto go = random_hashes(1'000, 2);
            auto f = atomic_counting_bloom::create(chosen).value();
            const auto expect_bits_of = [&](std::span<const std::uint64_t> hashes) {
                const auto bits = f.to_bloom<plain_words>();
                ASSERT_TRUE(bits.has_value()) << bits.error().message;
                EXPECT_EQ(bits->params(), (bloom_parameters{chosen.units, chosen.k}));
                EXPECT_TRUE(*bits == built_from(*bits, hashes));
            };
            expect_bits_of({});
            f.add_batch(stay);
            expect_bits_of(stay);
            f.add_batch(go);
            for (const std::uint64_t hash : go) f.remove(hash);
            EXPECT_EQ(f.sticky_counters(), 0u);
            expect_bits_of(stay);
        });
}

TEST(counting_to_bloom, answers_as_the_counters_do) {
    for_each_flat_form(1'000, 0.05, [](const counting_bloom_parameters& chosen) {
        auto f = plain_counting_bloom::create(chosen).value();
        f.add_batch(random_hashes(1'000, 1));
        const auto bits = f.to_bloom<atomic_words>().value();
        std::uint64_t wrong = 0;
        for (const std::uint64_t hash : random_hashes(scaled(50'000), 3))
            wrong += bits.may_contain(hash) != f.may_contain(hash);
        EXPECT_EQ(wrong, 0u);
        EXPECT_EQ(bits.shape(), f.shape());
        EXPECT_DOUBLE_EQ(bits.fill_ratio(), f.fill_ratio());
        EXPECT_NEAR(bits.expected_fpr(), f.expected_fpr(), 1e-12);
        EXPECT_EQ(bits.size_bytes() * chosen.counter_bits, f.size_bytes());
    });
}

// Also the smallest filters, whose bits are few: every size that a goal can give, and every explicit one.
TEST(counting_to_bloom, of_the_smallest_filters) {
    for (const std::uint64_t keys : {1u, 2u, 5u, 11u, 23u})
        for_each_flat_form(keys, 0.02, [&](const counting_bloom_parameters& chosen) {
            auto f = plain_counting_bloom::create(chosen).value();
            const auto hashes = random_hashes(keys, 4);
            f.add_batch(hashes);
            const auto bits = f.view().to_bloom();
            ASSERT_TRUE(bits.has_value()) << bits.error().message;
            EXPECT_TRUE(*bits == built_from(*bits, hashes));
        });
}

TEST(counting_to_bloom, keeps_the_hash_and_takes_the_memory_that_it_is_given) {
    for_each_flat_form(100, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto f = plain_counting_bloom::create(chosen, {.hash = spec_of(xxh3{})}).value();
        EXPECT_EQ(f.to_bloom(memory_options{.prefault = false}).value().hash(), f.hash());
    });
}

// Sticky counters are bits like any other.
TEST(counting_to_bloom, of_saturated_counters_is_full) {
    for_each_flat_form(100, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto f = filled_with<plain_counting_bloom>(chosen, ~std::uint64_t{0});
        EXPECT_EQ(f.to_bloom().value().fill_ratio(), 1);
    });
}

TEST(counting_to_bloom, of_two_lines_says_which_form_has_one) {
    for (const counting_form& which : counting_forms) {
        if (which.form == cell_form::flat) continue;
        const auto f = plain_counting_bloom::create(counters_for(which, 100, 0.01)).value();
        EXPECT_TRUE(fails_with(f.to_bloom(), error_code::unsupported, "two_lines", "cell_form::flat"));
        EXPECT_TRUE(fails_with(f.view().to_bloom(), error_code::unsupported, "two_lines"));
    }
}

} // namespace
} // namespace bouncer::test
