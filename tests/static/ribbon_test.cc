// The bumped ribbon: its space, fractions of bits, its codes and layers, and words that lie.
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/ribbon.h>

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace bouncer::test {
namespace {

namespace rows = bouncer::detail::ribbon;

ribbon ribbon_of(std::size_t keys, double rate, std::uint64_t stream = 1) {
    return ribbon::build(random_hashes(keys, stream), {.false_positive_rate = rate}).value();
}

TEST(ribbon_space, is_half_a_percent_above_the_bound) {
    const double rate = 1.0 / 256;
    EXPECT_LE(ribbon_of(100'000, rate).bits_per_key(), 8 * 1.01);
    EXPECT_LE(ribbon_of(1'000'000, rate).bits_per_key(), 8 * 1.005);
    EXPECT_GE(ribbon_of(1'000'000, rate).bits_per_key(), 8.0); // there is no magic
}

TEST(ribbon_space, of_a_fraction_of_a_bit_lies_between_its_neighbours) {
    // At most 0.086 bits above log2(1/p), where half of the blocks are narrow; nothing at powers of two.
    for (const double rate : {0.01, 0.007, 0.0055, 0.004, 0.002, 0.3}) {
        const auto f = ribbon_of(300'000, rate);
        EXPECT_LE(f.bits_per_key(), (-std::log2(rate) + 0.0861) * 1.005 + 0.02) << rate;
        EXPECT_NEAR(f.expected_fpr(), rate, rate * 1e-6);
    }
}

TEST(ribbon_space, small_sets_pay_for_their_ends) {
    for (const std::size_t keys : {1u, 10u, 100u, 1'000u, 10'000u})
        EXPECT_LE(ribbon_of(keys, 1.0 / 256).size_bytes(), 320 + keys + keys / 20);
}

// Coefficients and fingerprints of the specification, so that nobody changes them by mistake.
static_assert(rows::coefficients_of(0) % 2 == 1);
static_assert(rows::code_words_of(0) == 0 && rows::code_words_of(64) == 1 &&
              rows::code_words_of(128 * 32 + 63) == 1 && rows::code_words_of(128 * 32 + 64) == 2);
static_assert(rows::row_shape{8, 0}.words_of(640) == 80);
static_assert(rows::row_shape{8, 1u << 31}.words_of(640) == 76); // of 577 starts at most half: four blocks
static_assert(rows::row_shape{8, ~0u}.words_of(128) == 15);      // 65 starts: one of the two
static_assert(rows::row_shape{8, ~0u}.words_of(64) == 8);
static_assert(rows::row_shape{8, ~0u}.words_of(0xffffffc0u) == 0x3ffffffu * 8 - (0x3ffffffu - 1));

TEST(ribbon_layers, hold_a_sixteenth_less_each) {
    const auto f = ribbon_of(250'000, 1.0 / 256);
    ASSERT_EQ(f.params().shards, 1u);
    const rows::shard_view shard{f.data()};
    double keys = 250'000;
    for (std::size_t layer = 0; layer + 1 < rows::layers; ++layer) {
        const auto slots = static_cast<double>(shard.slots(layer));
        if (keys < 300) break;
        EXPECT_GE(slots, keys * 0.9375 - 64);
        EXPECT_LE(slots, keys * 0.9375 + 128);
        keys -= slots;
        keys = layer == 0 ? static_cast<double>(shard.slots(1)) / 0.9375 : keys;
    }
    EXPECT_LE(shard.slots(rows::layers - 1), 512u);
}

// The scalar form of eight_parities, which every machine must agree with.
TEST(ribbon_query, parities_are_those_of_single_columns) {
    for (std::uint64_t i = 0; i < 2'000; ++i) {
        const auto here = random_hashes(8, i);
        const auto next = random_hashes(8, i + 5'000);
        const std::uint64_t low = random_hash(77, i);
        const std::uint64_t high = i % 3 == 0 ? 0 : random_hash(78, i);
        std::uint32_t expected = 0;
        for (std::uint32_t column = 0; column < 8; ++column) {
            unsigned parity = 0;
            for (unsigned bit = 0; bit < 64; ++bit)
                parity ^= static_cast<unsigned>(((here[column] & low) ^ (next[column] & high)) >> bit & 1);
            expected |= parity << column;
        }
        ASSERT_EQ(rows::eight_parities(here.data(), next.data(), low, high), expected);
    }
}

// Every number of columns, narrow blocks or not: what a chunk of eight leaves over.
TEST(ribbon_query, of_every_number_of_columns) {
    const auto hashes = random_hashes(3'000, 1);
    const auto absent = random_hashes(scaled(200'000), 2);
    for (int bits = 1; bits <= 45; ++bits)
        for (const double part : {1.0, 0.6}) {
            const double rate = std::exp2(-bits) / part;
            if (rate >= 1) continue;
            const auto f = ribbon::build(hashes, {.false_positive_rate = rate}).value();
            for (const std::uint64_t hash : hashes) ASSERT_TRUE(f.may_contain(hash)) << rate;
            double wrong = 0;
            for (const std::uint64_t hash : absent) wrong += f.may_contain(hash);
            // Of 50 blocks, a whole one may have a bit more than it must.
            EXPECT_TRUE(
                within_sigma(wrong, static_cast<double>(absent.size()), rate, 5, rate * rate * 0.0004));
        }
}

std::uint64_t unmix(std::uint64_t x) { // the inverse of mix64
    const auto unshift = [](std::uint64_t value, unsigned by) {
        std::uint64_t out = value;
        for (unsigned done = by; done < 64; done += by) out = value ^ out >> by;
        return out;
    };
    const auto inverse = [](std::uint64_t odd) {
        std::uint64_t out = odd;
        for (int i = 0; i < 5; ++i) out *= 2 - odd * out;
        return out;
    };
    x = unshift(x, 31) * inverse(0x94d049bb133111ebu);
    x = unshift(x, 27) * inverse(0xbf58476d1ce4e5b9u);
    return unshift(x, 30);
}

// Keys that all start in one bucket of layer 0: they are bumped, and found all the same.
TEST(ribbon_layers, take_what_the_first_one_bumps) {
    std::vector<std::uint64_t> clustered;
    for (std::uint64_t i = 0; i < 20'000; ++i) clustered.push_back(unmix(i));
    const auto f = ribbon::build(clustered, {.false_positive_rate = 0.01}).value();
    for (const std::uint64_t hash : clustered) ASSERT_TRUE(f.may_contain(hash));
    for (std::uint64_t i = 0; i < 20'000; ++i) clustered[i] = unmix(i << 40); // and evenly spread
    const auto g = ribbon::build(clustered, {.false_positive_rate = 0.01}).value();
    for (const std::uint64_t hash : clustered) ASSERT_TRUE(g.may_contain(hash));
}

// So few keys that all are left to the last layer, where all start in its first slot: 64 coefficients cannot tell them
// apart, so that the first attempt must fail.
TEST(ribbon_layers, the_last_one_is_tried_again) {
    for (const std::uint64_t keys : {100u, 200u, 255u}) {
        std::vector<std::uint64_t> hashes;
        for (std::uint64_t i = 0; i < keys; ++i) {
            std::uint64_t key = i * 977;
            for (std::uint64_t layer = 3; layer-- > 0;) key = unmix(key) - 0x9e6c63d0876a9a47u * (layer + 1);
            hashes.push_back(unmix(key) ^ bouncer::detail::seed_word_of(0));
        }
        const auto f = ribbon::build(hashes, {.false_positive_rate = 0.001}).value();
        ASSERT_EQ(f.params().shards, 1u);
        const rows::shard_view shard{f.data()};
        EXPECT_GE(shard.attempt(), 1u);
        EXPECT_EQ(shard.slots(0) + shard.slots(1) + shard.slots(2), 0u);
        ASSERT_TRUE(detail::storage_access::check_loaded(f).has_value());
        for (const std::uint64_t hash : hashes) ASSERT_TRUE(f.may_contain(hash));
        answers got(hashes.size());
        EXPECT_EQ(f.may_contain(hashes, got.span()), keys);
    }
}

TEST(ribbon_words, that_lead_astray_are_refused) {
    auto f = ribbon_of(300'000, 0.01); // of one shard
    auto g = ribbon_of(1'000'000, 0.01);
    for (ribbon* each : {&f, &g}) {
        const auto words = detail::storage_access::segments(*each).front();
        ASSERT_TRUE(detail::storage_access::check_loaded(*each).has_value());
        const std::uint64_t entries = each->params().shards * rows::entry_words;
        std::size_t refused = 0, tried = 0;
        for (std::uint64_t i = 0; i < entries; ++i)
            for (unsigned bit = 0; bit < 64; ++bit) {
                words[i] ^= std::uint64_t{1} << bit;
                ++tried;
                if (detail::storage_access::check_loaded(*each))
                    for (const std::uint64_t hash : random_hashes(50, bit))
                        (void)each->may_contain(hash); // no crash
                else
                    ++refused;
                words[i] ^= std::uint64_t{1} << bit;
            }
        EXPECT_GT(refused, tried / 2);
        ASSERT_TRUE(detail::storage_access::check_loaded(*each).has_value());
    }
}

TEST(ribbon_words, parameters_of_hostile_files_are_refused) {
    const ribbon_parameters good = ribbon_of(1'000, 0.01).params();
    const auto refused = [&](auto change) {
        ribbon_parameters bad = good;
        change(bad);
        return !ribbon::check(bad).has_value();
    };
    ASSERT_TRUE(ribbon::check(good).has_value());
    EXPECT_TRUE(refused([](auto& p) { p.columns = 0; }));
    EXPECT_TRUE(refused([](auto& p) { p.columns = 57; }));
    EXPECT_TRUE(refused([](auto& p) { p.shards = 0; }));
    EXPECT_TRUE(refused([](auto& p) { p.shards = ~std::uint64_t{0}; }));
    EXPECT_TRUE(refused([](auto& p) { p.words = ~std::uint64_t{0}; }));
    EXPECT_TRUE(refused([](auto& p) { p.words = 0; }));
    std::vector<std::uint64_t> fields = bouncer::detail::ribbon_layout::fields_of(good);
    fields[5] = std::uint64_t{1} << 32; // a fraction that is none
    EXPECT_FALSE(detail::storage_access::words<ribbon>(fields).has_value());
    fields.pop_back();
    EXPECT_TRUE(
        fails_with(detail::storage_access::words<ribbon>(fields), error_code::invalid_argument, "6", "5"));
}

} // namespace
} // namespace bouncer::test
