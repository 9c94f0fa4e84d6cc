// Edges that belong to no other suite: unknown hashes, saturated filters, totals beyond memory, what over() refuses.
#include <bouncer/instruction_set.h>
#include <bouncer/keyed.h>
#include <bouncer/locked.h>
#include <bouncer/sharded.h>

#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bouncer::test {
namespace {

template <class F>
class edges : public ::testing::Test {};
TYPED_TEST_SUITE(edges, plain_kinds_that<is_incremental>, kind_names);

TYPED_TEST(edges, a_hash_that_no_hasher_has_is_refused) {
    const auto params = TypeParam::solve({.keys = 100, .false_positive_rate = 0.01}).value();
    const auto code =
        default_hash_of<TypeParam>() == hash_spec{} ? error_code::invalid_argument : error_code::mismatch;
    for (const hash_spec spec :
         {hash_spec{8, 0}, hash_spec{0, 5}, hash_spec{4, 3}, hash_spec{7, 3}, hash_spec{0x7fffffff, 0}}) {
        EXPECT_TRUE(fails_with(TypeParam::create(params, {.hash = spec}), code));
        if constexpr (is_bit_filter<TypeParam>::value) {
            auto words = plain_words(region::allocate(TypeParam::size_bytes_of(params)).value());
            EXPECT_TRUE(fails_with(TypeParam::over(std::move(words), params, spec), code));
        }
    }
}

template <class F>
class bit_edges : public ::testing::Test {};
TYPED_TEST_SUITE(bit_edges, plain_kinds_that<is_bit_filter>, kind_names);

TYPED_TEST(bit_edges, over_refuses_words_that_are_misaligned_or_read_only) {
    using layout = typename TypeParam::layout_type;
    const auto params = layout::solve({.keys = 100, .false_positive_rate = 0.01}).value();
    const std::uint64_t bytes = TypeParam::size_bytes_of(params);
    auto memory = region::allocate(bytes + 64).value();
    auto* const off = static_cast<std::uint64_t*>(memory.data()) + 1;
    EXPECT_TRUE(fails_with(bit_filter<layout, const_words>::over(
                               const_words(region::borrow(static_cast<const void*>(off), bytes)), params,
                               layout::default_hash()),
                           error_code::corrupt, "8 bytes off"));
    EXPECT_TRUE(fails_with(bit_filter<layout, plain_words>::over(
                               plain_words(region::borrow(static_cast<const void*>(memory.data()), bytes)),
                               params, layout::default_hash()),
                           error_code::invalid_argument, "writable"));
}

TYPED_TEST(bit_edges, saturated_filters_have_infinitely_many_keys) {
    auto full = TypeParam::create({.keys = 10, .false_positive_rate = 0.1}).value();
    full.add_batch(random_hashes(100'000, 1));
    ASSERT_EQ(full.fill_ratio(), 1.0);
    EXPECT_TRUE(std::isinf(full.approximate_size()));
    EXPECT_TRUE(std::isinf(full.union_size(full).value()));
    EXPECT_TRUE(std::isinf(full.intersection_size(full).value()));
    EXPECT_TRUE(std::isinf(full.sampled_intersection_size(full).value().value));
    EXPECT_EQ(full.expected_fpr(), 1.0);
}

template <class F>
class locked_edges : public ::testing::Test {};
TYPED_TEST_SUITE(locked_edges, plain_kinds_that<is_exact_mergeable_and_fixed>, kind_names);

TYPED_TEST(locked_edges, merge_if_within_refuses_and_changes_nothing) {
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto a = locked<TypeParam>::create(wanted).value();
    auto b = locked<TypeParam>::create(wanted).value();
    auto before = locked<TypeParam>::create(wanted).value();
    for (auto* f : {&a, &before}) f->add_batch(random_hashes(1'000, 1));
    b.add_batch(random_hashes(1'000, 2));
    EXPECT_TRUE(fails_with(a.merge_if_within(b, 0.01), error_code::full));
    EXPECT_TRUE(a == before);
    EXPECT_TRUE(a.merge_if_within(b, 0.5).has_value());
    EXPECT_FALSE(a == before);
}

TEST(edges, sharded_totals_beyond_memory_are_refused_before_allocating) {
    const std::uint64_t shard_blocks = memory_limit_bytes() / 4 / 64 + 64;
    EXPECT_TRUE(fails_with(
        sharded<plain_blocked_bloom>::create(blocked_bloom_parameters{.blocks = shard_blocks}, {}, 4),
        error_code::too_large, "4 shards", std::to_string(shard_blocks * 64)));
}

TEST(edges, the_active_instruction_set_has_a_name) {
    EXPECT_EQ(active_instruction_set(), detail::name_of(detail::active_isa()));
}

// A keyed view has nothing that changes it, by concept.
template <class K>
concept can_change = requires(K& f, std::vector<int> keys, std::span<bool> answers) {
    f.add(1);
}
|| requires(K& f) {
    f.clear();
}
|| requires(K& f, std::vector<int> keys) {
    f.add_batch(keys);
}
|| requires(K& f, std::vector<int> keys) {
    f.add_all(keys);
}
|| requires(K& f) {
    f.test_and_add(1);
}
|| requires(K& f) {
    f.merge(f);
}
|| requires(K& f) {
    f.add_release(1);
};
template <class K>
concept can_add_release = requires(K& f) {
    f.add_release(1);
};
static_assert(!can_change<keyed<blocked_bloom_view>>);
static_assert(can_change<keyed<plain_blocked_bloom>>);
static_assert(!can_add_release<keyed<plain_blocked_bloom>>);
static_assert(can_add_release<keyed<atomic_blocked_bloom>>);

} // namespace
} // namespace bouncer::test
