// Batches are as the calls one by one, in order: answers, counts, growth and bits.
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/scalable.h>

#include <random>

namespace bouncer::test {
namespace {

template <class F>
class scalable_batches : public ::testing::Test {};
using chains = ::testing::Types<plain_scalable_bloom, atomic_scalable_bloom>;
TYPED_TEST_SUITE(scalable_batches, chains);

// Hashes of which some were there before and some repeat inside the batch.
std::vector<std::uint64_t> mixed(std::size_t count, std::mt19937_64& random, std::uint64_t range) {
    std::vector<std::uint64_t> out(count);
    for (auto& each : out) each = random_hash(31, random() % range);
    for (std::size_t i = 1; i < count; i += 7) out[i] = out[random() % i];
    return out;
}

TYPED_TEST(scalable_batches, equal_one_by_one) {
    std::mt19937_64 random(1);
    for (const std::uint64_t first_keys : {1u, 37u, 1'000u, 6'000u}) {
        const scalable_parameters chosen{.first_keys = first_keys, .rate = 0.02};
        auto one = TypeParam::create(chosen).value();
        auto batch = TypeParam::create(chosen).value();
        auto tested = TypeParam::create(chosen).value();
        std::uint64_t range = 100;
        for (const std::size_t size : {0u, 1u, 2u, 63u, 700u, 1'023u, 1'024u, 1'025u, 5'000u, 30'000u}) {
            range += 2 * size;
            const auto hashes = mixed(size, random, range);
            answers asked(size), told(size);
            const std::size_t found = one.may_contain(hashes, asked.span());
            std::size_t expected_found = 0;
            std::vector<bool> before(size);
            for (std::size_t i = 0; i < size; ++i) {
                ASSERT_EQ(asked[i], one.may_contain(hashes[i]));
                expected_found += asked[i];
            }
            ASSERT_EQ(found, expected_found);
            std::size_t changed = 0;
            for (std::size_t i = 0; i < size; ++i) {
                before[i] = one.test_and_add(hashes[i]);
                changed += !before[i];
            }
            ASSERT_EQ(batch.add_batch(hashes), changed);
            ASSERT_EQ(tested.test_and_add(hashes, told.span()), changed);
            for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(told[i], before[i]) << i << " of " << size;
            ASSERT_TRUE(batch == one) << size << " at " << first_keys;
            ASSERT_TRUE(tested == one);
            ASSERT_EQ(batch.changing_adds(), one.changing_adds());
        }
        EXPECT_GE(one.layer_count(), 2u);
    }
}

// Layers beyond the caches, whose blocks are two lines.
TYPED_TEST(scalable_batches, large_layers_of_two_lines) {
    const scalable_parameters chosen{.first_keys = 2'000'000, .rate = 0.001};
    auto f = TypeParam::create(chosen).value();
    ASSERT_EQ(f.layer(0).params().form, block_form::lanes16);
    ASSERT_GT(f.size_bytes(), std::uint64_t{4} << 20);
    const auto count = static_cast<std::size_t>(scaled(1'900'000)) / 2 * 2;
    f.add_batch(random_hashes(count / 2, 33));
    for (std::size_t i = 0; i < count / 2; ++i) f.add(random_hash(33, count / 2 + i));
    const auto hashes = random_hashes(2 * count, 33); // half of them are there
    answers told(2 * count);
    const std::size_t found = f.may_contain(hashes, told.span());
    std::size_t expected = 0;
    for (std::size_t i = 0; i < 2 * count; ++i) {
        ASSERT_EQ(told[i], f.layer(0).may_contain(hashes[i])) << i;
        ASSERT_TRUE(i >= count || told[i]);
        expected += told[i];
    }
    EXPECT_EQ(found, expected);
}

TYPED_TEST(scalable_batches, the_shorter_span_decides) {
    auto f = TypeParam::create({.keys = 100, .false_positive_rate = 0.01}).value();
    const auto hashes = random_hashes(3'000, 32);
    answers told(1'500, true);
    EXPECT_LE(f.test_and_add(hashes, told.span()), 1'500u);
    EXPECT_EQ(f.may_contain(std::span(hashes).first(1'500), told.span()), 1'500u);
    answers rest(1'500);
    EXPECT_LT(f.may_contain(std::span(hashes).subspan(1'500), rest.span()), 100u);
}

} // namespace
} // namespace bouncer::test
