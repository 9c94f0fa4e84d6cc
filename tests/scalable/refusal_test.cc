// Memory that is refused costs the promise and nothing else.
#include "scalable/limited_host.h"
#include "support/random_hashes.h"

#include <bouncer/scalable.h>

#include <gtest/gtest.h>

namespace bouncer::test {
namespace {

template <class F>
class scalable_refusal : public ::testing::Test {};
using chains = ::testing::Types<plain_scalable_bloom, atomic_scalable_bloom>;
TYPED_TEST_SUITE(scalable_refusal, chains);

TYPED_TEST(scalable_refusal, adds_go_on_and_growth_comes_later) {
    const scalable_parameters chosen{.first_keys = 10'000};
    const auto planned = TypeParam::plan(chosen, 20'000).value();
    limited_host host(planned[0].size_bytes + 4'096); // not the second layer
    auto f = TypeParam::create(chosen, {.memory = host.options()}).value();
    f.add_batch(random_hashes(9'500, 41));
    ASSERT_TRUE(f.growth_refused());
    EXPECT_EQ(f.growth_refused()->code, error_code::out_of_memory);
    EXPECT_NE(f.growth_refused()->message.find("40000"), std::string::npos) << f.growth_refused()->message;
    EXPECT_TRUE(f.promise_holds()) << "not yet";
    EXPECT_EQ(f.prepare_growth().error().code, error_code::out_of_memory);

    for (std::uint64_t i = 0; i < 40'000; ++i) f.add(random_hash(42, i));
    EXPECT_EQ(f.layer_count(), 1u);
    EXPECT_FALSE(f.promise_holds());
    EXPECT_GT(f.expected_fpr(), f.promised_fpr());
    EXPECT_GT(host.refusals(), 10u) << "tried again";
    EXPECT_LT(host.refusals(), 300u) << "but not at every add";
    for (std::uint64_t i = 0; i < 40'000; ++i) ASSERT_TRUE(f.may_contain(random_hash(42, i)));

    host.give_more(std::uint64_t{1} << 30);
    const std::uint64_t then = f.changing_adds();
    std::uint64_t i = 0;
    while (f.layer_count() == 1) f.add(random_hash(43, i++));
    EXPECT_LE(f.changing_adds() - then, 10'000u / 32 + 128) << "after another 1/32 of the capacity";
    EXPECT_EQ(f.growth_refused(), std::nullopt);
    EXPECT_EQ(f.layers()[1].capacity, 40'000u);
    for (const std::uint64_t hash : random_hashes(9'500, 41)) ASSERT_TRUE(f.may_contain(hash));
    for (std::uint64_t k = 0; k < i; ++k) ASSERT_TRUE(f.may_contain(random_hash(43, k)));
}

TYPED_TEST(scalable_refusal, batches_go_on_too) {
    const scalable_parameters chosen{.first_keys = 1'000};
    limited_host host(TypeParam::size_bytes_of(chosen) + 4'096);
    auto f = TypeParam::create(chosen, {.memory = host.options()}).value();
    const auto hashes = random_hashes(20'000, 44);
    f.add_batch(hashes);
    EXPECT_EQ(f.layer_count(), 1u);
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(f.may_contain(hash));
    answers there(hashes.size());
    EXPECT_EQ(f.test_and_add(hashes, there.span()), 0u);
}

TYPED_TEST(scalable_refusal, rates_below_what_hashes_can_keep) {
    // Each layer has a thousandth of the rate before it: soon 64-bit hashes cannot keep it.
    const scalable_parameters chosen{.first_keys = 1'000, .rate = 1e-6, .tightening = 1e-4};
    auto f = TypeParam::create(chosen).value();
    f.add_batch(random_hashes(100'000, 45));
    ASSERT_TRUE(f.growth_refused());
    EXPECT_EQ(f.growth_refused()->code, error_code::invalid_argument);
    for (const std::uint64_t hash : random_hashes(100'000, 45)) ASSERT_TRUE(f.may_contain(hash));
}

} // namespace
} // namespace bouncer::test
