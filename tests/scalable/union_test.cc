// Unions of chains: ORed, copied, refused.
#include "support/failures.h"
#include "support/random_hashes.h"

#include <bouncer/scalable.h>

namespace bouncer::test {
namespace {

template <class F>
class scalable_union : public ::testing::Test {};
using chains = ::testing::Types<plain_scalable_bloom, atomic_scalable_bloom>;
TYPED_TEST_SUITE(scalable_union, chains);

constexpr scalable_parameters chosen{.first_keys = 10'000, .rate = 0.01};

template <class F>
void expect_all(const F& f, std::span<const std::uint64_t> hashes) {
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(f.may_contain(hash));
}

template <class F>
F chain_of(std::span<const std::uint64_t> hashes, const scalable_parameters& plan = chosen) {
    auto f = F::create(plan).value();
    f.add_batch(hashes);
    return f;
}

TYPED_TEST(scalable_union, underfilled_layers_are_ored) {
    const auto a_keys = random_hashes(4'000, 51);
    const auto b_keys = random_hashes(4'000, 52);
    auto a = chain_of<TypeParam>(a_keys);
    auto b = chain_of<plain_scalable_bloom>(b_keys);
    const double after = a.merge(b).value();
    EXPECT_DOUBLE_EQ(after, a.expected_fpr());
    EXPECT_EQ(a.layer_count(), 1u);
    expect_all(a, a_keys);
    expect_all(a, b_keys);
    EXPECT_NEAR(static_cast<double>(a.changing_adds()), 8'000, 200);
    EXPECT_LE(after, a.promised_fpr());
    // The other way round gives the same bits, and so does doing it again.
    auto c = chain_of<TypeParam>(a_keys);
    EXPECT_TRUE(b.merge(c));
    EXPECT_TRUE(b == a);
    EXPECT_TRUE(b.merge(c));
    EXPECT_TRUE(b == a);
    // Growth goes on from the count of the union.
    a.add_batch(random_hashes(6'000, 53));
    EXPECT_EQ(a.layer_count(), 2u);
}

TYPED_TEST(scalable_union, full_layers_are_copied_while_the_promise_has_room) {
    const auto a_keys = random_hashes(9'900, 54);
    const auto b_keys = random_hashes(12'000, 55); // a full layer, and a part of the second
    auto a = chain_of<TypeParam>(a_keys);
    const auto b = chain_of<TypeParam>(b_keys);
    ASSERT_EQ(a.layer_count(), 1u);
    ASSERT_EQ(b.layer_count(), 2u);
    const double after = a.merge(b).value();
    EXPECT_EQ(a.layer_count(), 3u);
    EXPECT_LE(after, a.promised_fpr());
    expect_all(a, a_keys);
    expect_all(a, b_keys);
    // Its own newest layer is the last one, and adds go on there.
    EXPECT_EQ(a.layers().back().capacity, 10'000u);
    EXPECT_EQ(a.layers().back().keys, a_keys.size() - (9'900 - a.layers().back().keys));
    // A second time changes nothing.
    const auto before = a.clone().value();
    EXPECT_DOUBLE_EQ(a.merge(b).value(), after);
    EXPECT_TRUE(a == before);
    // The rates promised, and what remains for all later layers, stay within the whole.
    const auto more = random_hashes(600'000, 56);
    a.add_batch(more);
    EXPECT_GT(a.layer_count(), 4u);
    double promised = 0;
    for (const auto& layer : a.layers()) promised += layer.promised_rate;
    EXPECT_LT(promised, a.promised_fpr());
    EXPECT_TRUE(detail::storage_access::words<TypeParam>(
        detail::storage_access::stored(a).fields)); // with what remains
    EXPECT_TRUE(a.promise_holds());
    expect_all(a, a_keys);
    expect_all(a, b_keys);
    expect_all(a, more);
}

TYPED_TEST(scalable_union, both_orders_hold_all_keys) {
    const auto a_keys = random_hashes(30'000, 57);
    const auto b_keys = random_hashes(11'000, 58);
    auto ab = chain_of<TypeParam>(a_keys);
    auto ba = chain_of<TypeParam>(b_keys);
    const auto a = ab.clone().value();
    const auto b = ba.clone().value();
    ASSERT_TRUE(ab.merge(b));
    ASSERT_TRUE(ba.merge(a));
    for (const auto* f : {&ab, &ba}) {
        expect_all(*f, a_keys);
        expect_all(*f, b_keys);
        EXPECT_LE(f->expected_fpr(), f->promised_fpr());
    }
}

TYPED_TEST(scalable_union, refused_when_too_little_remains) {
    const auto keys = random_hashes(800'000, 59);
    auto a = chain_of<TypeParam>(keys);
    const auto b = chain_of<TypeParam>(random_hashes(800'000, 60));
    const auto before = a.clone().value();
    const auto counts = a.changing_adds();
    EXPECT_TRUE(fails_with(a.merge(b), error_code::full, "remains", "0.01", "from the keys"));
    EXPECT_TRUE(a == before);
    EXPECT_EQ(a.changing_adds(), counts);
    // With itself it is the same.
    EXPECT_TRUE(a.merge(before));
    EXPECT_TRUE(a == before);
}

TYPED_TEST(scalable_union, within_a_rate) {
    auto a = chain_of<TypeParam>(random_hashes(9'900, 61));
    const auto b = chain_of<TypeParam>(random_hashes(12'000, 62));
    const auto before = a.clone().value();
    EXPECT_TRUE(fails_with(a.merge_if_within(b, 0.002), error_code::full, "0.002"));
    EXPECT_TRUE(a == before);
    EXPECT_TRUE(fails_with(a.merge_if_within(b, 1.5), error_code::invalid_argument, "1.5"));
    EXPECT_TRUE(a.merge_if_within(b, 0.005));
    EXPECT_FALSE(a == before);
}

TYPED_TEST(scalable_union, other_parameters_or_hash) {
    auto a = TypeParam::create(chosen).value();
    scalable_parameters other = chosen;
    other.tightening = 0.8;
    EXPECT_TRUE(fails_with(a.merge(TypeParam::create(other).value()), error_code::mismatch, "0.85", "0.8"));
    const auto hashed = TypeParam::create(chosen, {.hash = spec_of(xxh3{})}).value();
    EXPECT_TRUE(fails_with(a.merge(hashed), error_code::mismatch));
}

TYPED_TEST(scalable_union, with_itself_or_a_view_of_it_does_nothing) {
    const auto keys = random_hashes(30'000, 64);
    auto a = chain_of<TypeParam>(keys);
    const auto before = a.clone().value();
    const auto counts = a.changing_adds();
    EXPECT_DOUBLE_EQ(a.merge(a).value(), before.expected_fpr());
    EXPECT_DOUBLE_EQ(a.merge(a.view()).value(), before.expected_fpr());
    EXPECT_TRUE(a == before);
    EXPECT_EQ(a.changing_adds(), counts);
}

// Copies come first: the order that a file has, and that stays as both grow.
TYPED_TEST(scalable_union, order_of_layers) {
    auto a = chain_of<TypeParam>(random_hashes(9'900, 65));
    const auto b = chain_of<TypeParam>(random_hashes(9'950, 66));
    const auto c = chain_of<TypeParam>(random_hashes(9'960, 67));
    const auto own = a.clone().value();
    ASSERT_TRUE(a.merge(b));
    ASSERT_TRUE(a.merge(c));
    ASSERT_EQ(a.layer_count(), 3u);
    EXPECT_TRUE(a.layer(0) == c.layer(0));
    EXPECT_TRUE(a.layer(1) == b.layer(0));
    EXPECT_TRUE(a.layer(2) == own.layer(0));
    EXPECT_EQ(a.layers()[2].capacity, 10'000u);
    a.add_batch(random_hashes(5'000, 68));
    ASSERT_EQ(a.layer_count(), 4u);
    EXPECT_TRUE(a.layer(0) == c.layer(0));
    // A copy has grown layers only, and clears to the one that the chain was made with.
    auto copy = a.clone().value();
    EXPECT_TRUE(copy == a);
    copy.clear();
    a.clear();
    EXPECT_TRUE(copy == a);
    EXPECT_EQ(copy.layers()[0].capacity, 10'000u);
    EXPECT_EQ(copy.changing_adds(), 0u);
    EXPECT_EQ(copy.fill_ratio(), 0.0);
}

// 64 layers with the prepared one, and not one more.
TYPED_TEST(scalable_union, no_more_layers_than_fit) {
    const scalable_parameters equal{
        .first_keys = 200, .rate = 0.3, .tightening = 0.99, .growth_small = 1, .growth = 1};
    auto a = chain_of<TypeParam>(random_hashes(61 * 200, 69), equal);
    for (std::uint64_t i = 0; i < 20'000 && a.layer_count() < 62; ++i) a.add(random_hash(70, i));
    ASSERT_EQ(a.layer_count(), 62u);
    a.prepare_growth().value(); // the 63rd
    const auto one = chain_of<TypeParam>(random_hashes(190, 71), equal);
    const auto another = chain_of<TypeParam>(random_hashes(190, 72), equal);
    ASSERT_TRUE(a.merge(one));
    const auto before = a.clone().value();
    EXPECT_TRUE(fails_with(a.merge(another), error_code::full, "65 layers"));
    EXPECT_TRUE(a == before);
    for (std::uint64_t i = 0; i < 20'000 && a.layer_count() < 64; ++i) a.add(random_hash(73, i));
    ASSERT_EQ(a.layer_count(), 64u);
    EXPECT_TRUE(fails_with(a.prepare_growth(), error_code::full, "64"));
}

TYPED_TEST(scalable_union, an_empty_chain_adds_nothing) {
    const auto keys = random_hashes(30'000, 63);
    auto a = chain_of<TypeParam>(keys);
    const auto before = a.clone().value();
    EXPECT_TRUE(a.merge(TypeParam::create(chosen).value()));
    EXPECT_TRUE(a == before);
    auto empty = TypeParam::create(chosen).value();
    EXPECT_TRUE(empty.merge(a));
    expect_all(empty, keys);
}

} // namespace
} // namespace bouncer::test
