// Counters at their limits: sticky, never wrong about a key that is there, and harmless to their neighbours.
#include "cells/counting_forms.h"
#include "support/random_hashes.h"

#include <cmath>

namespace bouncer::test {
namespace {

constexpr counting_form narrow{4, cell_form::two_lines};
constexpr counting_form wide{32, cell_form::flat};

template <class F>
class counting_saturation : public ::testing::Test {};
using both_accesses = ::testing::Types<plain_counting_bloom, atomic_counting_bloom>;
TYPED_TEST_SUITE(counting_saturation, both_accesses);

// The limit of a width as count() shows it.
std::uint64_t limit_of(std::uint32_t bits) {
    return bits == 32 ? 0xc0000000u : (std::uint64_t{1} << bits) - 1;
}

// Every counter of the filter is `value`.
std::uint64_t word_of(std::uint32_t bits, std::uint64_t value) {
    std::uint64_t word = 0;
    for (std::uint32_t shift = 0; shift < 64; shift += bits) word |= value << shift;
    return word;
}

TYPED_TEST(counting_saturation, a_key_added_twenty_times_is_there_for_good) {
    auto f = TypeParam::create(counters_for(narrow, 100, 0.01)).value();
    const std::uint64_t hash = random_hash(1, 0);
    for (std::uint64_t i = 1; i <= 20; ++i) {
        f.add(hash);
        EXPECT_EQ(f.count(hash), std::min<std::uint64_t>(i, 15));
    }
    const std::uint64_t cells = exact_counters(f.params()).places(hash).size();
    EXPECT_EQ(f.sticky_counters(), cells);
    for (int i = 0; i < 100; ++i) f.remove(hash);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(f.try_remove(hash));
    EXPECT_TRUE(f.may_contain(hash));
    EXPECT_EQ(f.count(hash), 15u);
    EXPECT_EQ(f.sticky_counters(), cells);
}

TYPED_TEST(counting_saturation, one_less_than_the_limit_counts_down_to_nothing) {
    for (const counting_form& which : counting_forms) {
        if (which.bits > 16) continue; // 2^31 adds
        SCOPED_TRACE(which.bits);
        auto f = TypeParam::create(counters_for(which, 100, 0.01)).value();
        const std::uint64_t hash = random_hash(1, 0);
        for (std::uint64_t i = 1; i < limit_of(which.bits); ++i) f.add(hash);
        EXPECT_EQ(f.count(hash), limit_of(which.bits) - 1);
        EXPECT_EQ(f.sticky_counters(), 0u);
        for (std::uint64_t i = 1; i < limit_of(which.bits); ++i) {
            ASSERT_TRUE(f.may_contain(hash));
            f.remove(hash);
        }
        EXPECT_FALSE(f.may_contain(hash));
        EXPECT_EQ(f.fill_ratio(), 0);
    }
}

// A sticky counter keeps none but its own keys: others that share some of its counters go when they are removed.
TYPED_TEST(counting_saturation, a_sticky_counter_takes_nothing_from_other_keys) {
    auto f = TypeParam::create(counters_for(narrow, 200, 0.01)).value();
    exact_counters expected(f.params());
    const auto hashes = random_hashes(200, 2);
    const auto add = [&](std::uint64_t hash) {
        f.add(hash);
        expected.add(hash);
    };
    const auto remove = [&](std::uint64_t hash) {
        f.remove(hash);
        expected.remove(hash);
    };
    for (const std::uint64_t hash : hashes) add(hash);
    for (int i = 0; i < 20; ++i) add(hashes[0]);
    for (int i = 0; i < 20; ++i) remove(hashes[0]);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        EXPECT_TRUE(f.may_contain(hashes[i]));
        remove(hashes[i]);
    }
    EXPECT_TRUE(f.may_contain(hashes[0]));
    EXPECT_EQ(expected.wrong_words(f), 0u);
    EXPECT_EQ(f.fill_ratio() * static_cast<double>(f.size_bytes() * 2),
              static_cast<double>(f.sticky_counters()));
}

TYPED_TEST(counting_saturation, saturated_everywhere) {
    for (const counting_form& which : counting_forms) {
        const auto chosen = counters_for(which, 100, 0.01);
        SCOPED_TRACE(TypeParam::describe(chosen));
        const std::uint64_t full = word_of(which.bits, limit_of(which.bits));
        auto f = filled_with<TypeParam>(chosen, full);
        const auto hashes = random_hashes(1'000, 3);
        answers got(hashes.size());
        EXPECT_EQ(f.may_contain(hashes, got.span()), hashes.size());
        for (const std::uint64_t hash : hashes) {
            ASSERT_TRUE(f.may_contain(hash));
            ASSERT_FALSE(f.add(hash));
            ASSERT_TRUE(f.test_and_add(hash));
            ASSERT_TRUE(f.try_remove(hash));
            f.remove(hash);
            ASSERT_EQ(f.count(hash), limit_of(which.bits));
        }
        EXPECT_EQ(f.add_batch(hashes), 0u);
        EXPECT_EQ(f.merge(f).value(), 1);
        EXPECT_EQ(f.fill_ratio(), 1);
        EXPECT_EQ(f.expected_fpr(), 1);
        EXPECT_TRUE(std::isinf(f.approximate_size()));
        EXPECT_EQ(f.sticky_counters(), f.size_bytes() * 8 / which.bits);
        EXPECT_TRUE(f == filled_with<TypeParam>(chosen, full)) << "something changed";
        f.clear();
        EXPECT_EQ(f.fill_ratio(), 0);
    }
}

// ---- 32 bits, whose limits no test can reach by adding -----------------------------------------------------------

// One step from a state in which all counters are `from`: each counter of the key is `to` then, and no other moved.
template <class F>
void expect_step(std::uint64_t from, std::uint64_t to, void (*step)(F&, std::uint64_t)) {
    SCOPED_TRACE(from);
    const auto chosen = counters_for(wide, 100, 0.01);
    auto f = filled_with<F>(chosen, word_of(32, from));
    const std::uint64_t hash = random_hash(4, from);
    step(f, hash);
    const auto places = exact_counters(chosen).places(hash);
    for (std::uint64_t c = 0; c < chosen.units; ++c) {
        const bool own = std::find(places.begin(), places.end(), c) != places.end();
        ASSERT_EQ(f.data()[c / 2] >> (c % 2 * 32) & 0xffffffffu, own ? to : from) << c;
    }
}

TYPED_TEST(counting_saturation, of_32_bits_stays_between_its_neighbours) {
    using F = TypeParam;
    const auto add = [](F& f, std::uint64_t hash) { f.add(hash); };
    const auto remove = [](F& f, std::uint64_t hash) { f.remove(hash); };
    constexpr std::uint64_t sticky = 0x80000000u;
    constexpr std::uint64_t most = 0xc0000000u;
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, sticky - 2, sticky - 1, sticky, most - 1})
        expect_step<F>(value, value + 1, add);
    for (const std::uint64_t value : {most, most + 1, std::uint64_t{0xffffffffu}})
        expect_step<F>(value, value, add);
    for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{2}, sticky - 1})
        expect_step<F>(value, value - 1, remove);
    for (const std::uint64_t value : {std::uint64_t{0}, sticky, sticky + 1, most, std::uint64_t{0xffffffffu}})
        expect_step<F>(value, value, remove);
}

TYPED_TEST(counting_saturation, of_32_bits_merges_up_to_the_limit) {
    const auto chosen = counters_for(wide, 100, 0.01);
    const auto merged = [&](std::uint64_t a, std::uint64_t b) {
        auto f = filled_with<TypeParam>(chosen, word_of(32, a));
        EXPECT_TRUE(f.merge(filled_with<TypeParam>(chosen, word_of(32, b))));
        for (std::uint64_t i = 1; i < f.size_bytes() / 8; ++i) EXPECT_EQ(f.data()[i], f.data()[0]);
        EXPECT_EQ(f.data()[0] >> 32, f.data()[0] & 0xffffffffu);
        return f.data()[0] >> 32;
    };
    EXPECT_EQ(merged(0x40000000u, 0x40000001u), 0x80000001u);
    EXPECT_EQ(merged(0x7fffffffu, 0x7fffffffu), 0xc0000000u);
    EXPECT_EQ(merged(0, 0xffffffffu), 0xc0000000u);
    EXPECT_EQ(merged(0xffffffffu, 0), 0xffffffffu);
    EXPECT_EQ(merged(0xffffffffu, 0xffffffffu), 0xffffffffu);
    EXPECT_EQ(merged(0xbfffffffu, 1), 0xc0000000u);
}

} // namespace
} // namespace bouncer::test
