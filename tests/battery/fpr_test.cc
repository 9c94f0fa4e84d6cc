// The false-positive rate is the promised one: neither above it nor, by a filter larger than need be, below it.
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/blocked_bloom.h> // parameters
#include <bouncer/register_bloom.h>

#include <array>
#include <cmath>

namespace bouncer::test {
namespace {

// Fills 16 filters with `keys` keys each and asks all of them together `queries` absent keys.
void expect_promised_rate(const kind& k, const choice& chosen, std::uint64_t keys, std::uint64_t queries) {
    SCOPED_TRACE(k.describe(chosen) + ", keys " + std::to_string(keys));
    constexpr std::uint64_t filters = 16;
    constexpr std::size_t chunk = 1024;
    const std::uint64_t chunks = std::max<std::uint64_t>(1, queries / filters / chunk);
    auto f = k.create(chosen).value();
    sample measured; // the rate of each filter
    sample known;    // and what its very bits promise
    std::array<std::uint64_t, chunk> hashes;
    answers found(chunk);
    for (std::uint64_t filter = 0; filter < filters; ++filter) {
        f.clear();
        f.add_batch(random_hashes(keys, 2 * filter));
        std::size_t hits = 0;
        for (std::uint64_t c = 0; c < chunks; ++c) {
            for (std::size_t i = 0; i < chunk; ++i) hashes[i] = random_hash(2 * filter + 1, c * chunk + i);
            hits += f.may_contain(hashes, found.span());
        }
        measured.add(static_cast<double>(hits) / static_cast<double>(chunks * chunk));
        if (k.is.self_estimating) known.add(f.expected_fpr());
    }
    // The error of the mean: the spread between filters, and at least the binomial one.
    const double promised = f.fpr_at(keys);
    const auto trials = static_cast<double>(filters * chunks * chunk);
    const double binomial = std::sqrt(promised * (1 - promised) / trials);
    EXPECT_TRUE(near_by_sigma(measured.mean(), promised, std::max(binomial, measured.standard_error())))
        << "measured against fpr_at";
    if (k.is.self_estimating) {
        // Given the bits there is no spread between filters: the binomial alone.
        EXPECT_TRUE(within_sigma(measured.mean() * trials, trials, known.mean()))
            << "measured against expected_fpr";
    }
}

class fpr : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, fpr, subjects_that(&facts::exact_rate), subject_names);

TEST_P(fpr, at_ten_percent) {
    for (const auto& chosen : k.variants(10'000, 0.1))
        expect_promised_rate(k, chosen, 10'000, scaled(2'000'000));
}

TEST_P(fpr, at_one_percent) {
    for (const auto& chosen : k.variants(10'000, 0.01))
        expect_promised_rate(k, chosen, 10'000, scaled(4'000'000));
}

TEST_P(fpr, at_one_in_a_thousand) {
    for (const auto& chosen : k.variants(10'000, 0.001))
        expect_promised_rate(k, chosen, 10'000, scaled(8'000'000));
}

TEST_P(fpr, at_one_in_ten_thousand) {
    for (const auto& chosen : k.variants(10'000, 1e-4))
        expect_promised_rate(k, chosen, 10'000, divided(16'000'000));
}

TEST_P(fpr, along_the_overfill_curve) {
    for (const auto& chosen : k.variants(5'000, 0.01))
        for (const std::uint64_t keys : {2'500u, 10'000u, 20'000u})
            expect_promised_rate(k, chosen, keys, scaled(2'000'000));
}

TEST_P(fpr, of_tiny_filters) {
    for (const auto& chosen : k.variants(20, 0.01))
        for (const std::uint64_t keys : {1u, 20u, 60u}) {
            SCOPED_TRACE(k.describe(chosen) + ", keys " + std::to_string(keys));
            // A tiny filter's rate varies much from filter to filter: many filters, few queries each.
            auto f = k.create(chosen).value();
            sample measured;
            answers found(100);
            for (std::uint64_t filter = 0; filter < scaled(10'000); ++filter) {
                f.clear();
                f.add_batch(random_hashes(keys, 3, filter * 1'000));
                const auto hits = f.may_contain(random_hashes(100, 4, filter * 1'000), found.span());
                measured.add(static_cast<double>(hits) / 100);
            }
            const double promised = f.fpr_at(keys);
            const double binomial = std::sqrt(promised * (1 - promised) / (100 * measured.count()));
            EXPECT_TRUE(
                near_by_sigma(measured.mean(), promised, std::max(binomial, measured.standard_error())));
        }
}

// Every preference keeps the promise it was given; the bits it may cost differ, see parameters_test.
class promised_rate : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, promised_rate, plain_subjects_that(&facts::keeps_goal), subject_names);

TEST_P(promised_rate, of_the_goal_is_kept) {
    for (const double rate : {0.1, 0.01, 0.001, 1e-4})
        for (const auto& chosen : k.variants(10'000, rate))
            EXPECT_LE(k.create(chosen).value().fpr_at(10'000), rate) << k.describe(chosen);
}

// Every number of bits that a form may have, whether or not a goal would ask for it: each uses other bits of the hash.
void expect_rate_of_every_k(const kind& k, const choice& form, std::uint32_t step, std::uint32_t most) {
    for (std::uint32_t bits = step; bits <= most; bits += step) {
        const choice chosen = k.with_k(form, bits).value();
        const auto keys = k.create(chosen).value().capacity(0.01);
        expect_promised_rate(k, chosen, keys, scaled(800'000));
    }
}

TEST(fpr_of_every_k, of_blocked) {
    const kind& k = kind_named("blocked_bloom", words_access::plain);
    const auto expect = [&](block_form form, std::uint32_t step) {
        const blocked_bloom_parameters of_form{500, step, form};
        expect_rate_of_every_k(k, choice(of_form, {}), step, 16);
    };
    expect(block_form::sectors2, 2);
    expect(block_form::sectors4, 4);
}

TEST(fpr_of_every_k, of_registers) {
    const register_bloom_parameters words{4'000, 1};
    expect_rate_of_every_k(kind_named("register_bloom", words_access::plain), choice(words, {}), 1, 8);
}

} // namespace
} // namespace bouncer::test
