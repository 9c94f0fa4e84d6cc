// Edges that belong to no other suite: unknown hashes, saturated filters, totals beyond memory, what over() refuses.
#include <bouncer/blocked_bloom.h>
#include <bouncer/instruction_set.h>
#include <bouncer/keyed.h>
#include <bouncer/sharded.h>

#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/subject.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bouncer::test {
namespace {

class edges : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, edges, plain_subjects_that(&facts::incremental), subject_names);

TEST_P(edges, a_hash_that_no_hasher_has_is_refused) {
    const auto params = k.solve({.keys = 100, .false_positive_rate = 0.01}).value();
    const auto code = k.default_hash() == hash_spec{} ? error_code::invalid_argument : error_code::mismatch;
    for (const hash_spec spec :
         {hash_spec{8, 0}, hash_spec{0, 5}, hash_spec{4, 3}, hash_spec{7, 3}, hash_spec{0x7fffffff, 0}}) {
        EXPECT_TRUE(fails_with(k.create(params, {.hash = spec}), code));
        if (k.is.bits) {
            auto memory = region::allocate(k.size_bytes_of(params)).value();
            EXPECT_TRUE(fails_with(k.over(std::move(memory), params, spec), code));
        }
    }
}

class bit_edges : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, bit_edges, plain_subjects_that(&facts::bits), subject_names);

TEST_P(bit_edges, over_refuses_words_that_are_misaligned_or_read_only) {
    const auto params = k.solve({.keys = 100, .false_positive_rate = 0.01}).value();
    const std::uint64_t bytes = k.size_bytes_of(params);
    auto memory = region::allocate(bytes + 64).value();
    auto* const off = static_cast<std::uint64_t*>(memory.data()) + 1;
    EXPECT_TRUE(fails_with(
        k.view_over(region::borrow(static_cast<const void*>(off), bytes), params, k.default_hash()),
        error_code::corrupt, "8 bytes off"));
    EXPECT_TRUE(fails_with(
        k.over(region::borrow(static_cast<const void*>(memory.data()), bytes), params, k.default_hash()),
        error_code::invalid_argument, "writable"));
}

TEST_P(bit_edges, saturated_filters_have_infinitely_many_keys) {
    auto full = k.create(goal{.keys = 10, .false_positive_rate = 0.1}).value();
    full.add_batch(random_hashes(100'000, 1));
    ASSERT_EQ(full.fill_ratio(), 1.0);
    EXPECT_TRUE(std::isinf(full.approximate_size()));
    EXPECT_TRUE(std::isinf(full.union_size(full).value()));
    EXPECT_TRUE(std::isinf(full.intersection_size(full).value()));
    EXPECT_TRUE(std::isinf(full.sampled_intersection_size(full).value().value));
    EXPECT_EQ(full.expected_fpr(), 1.0);
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
