// Filters in a host's memory: dirty blocks, any alignment of 16, and a host that moves the block.
#include "support/failures.h"
#include "support/kinds.h"
#include "support/moving_host.h"
#include "support/random_hashes.h"

namespace bouncer::test {
namespace {

// Kinds of one block; one that grows takes more as it goes, and no host can move them behind it.
template <class F>
    struct is_movable : std::bool_constant < incremental<F>&& requires(F& f, void* block) {
    f.host_block_moved_to(block);
    f.words().memory().host_block();
} > {};
template <class F>
class moved_host_memory : public ::testing::Test {};
TYPED_TEST_SUITE(moved_host_memory, plain_kinds_that<is_movable>, kind_names);

TYPED_TEST(moved_host_memory, holds_a_filter_that_the_host_moves) {
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        moving_host host;
        {
            auto expected = TypeParam::create(chosen).value();
            host.start_at(16);
            auto f = TypeParam::create(chosen, {.memory = host.options()}).value();
            EXPECT_TRUE(f == expected) << "the host's dirt shows";
            EXPECT_EQ(host.live_blocks(), 1u);
            std::uint64_t stream = 0;
            for (const std::size_t offset : {0u, 32u, 48u, 16u, 16u}) {
                f.add_batch(random_hashes(300, ++stream));
                expected.add_batch(random_hashes(300, stream));
                void* const fresh = host.move(f.words().memory().host_block(), offset);
                f.host_block_moved_to(fresh);
                EXPECT_EQ(f.words().memory().host_block(), fresh);
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(f.words().line(0)) % 64, 0u);
                EXPECT_TRUE(f == expected) << "after the move to offset " << offset;
                answers found(300);
                const std::size_t present = f.may_contain(random_hashes(300, 1), found.span());
                if (TypeParam::no_false_negatives) {
                    EXPECT_EQ(present, 300u);
                }
            }
            const auto moved = std::move(f);
            EXPECT_TRUE(moved == expected);
        }
        EXPECT_EQ(host.live_blocks(), 0u);
        EXPECT_EQ(host.unknown_releases(), 0u);
    }
}

template <class F>
class host_memory : public ::testing::Test {};
TYPED_TEST_SUITE(host_memory, plain_kinds_that<is_incremental>, kind_names);

TYPED_TEST(host_memory, holds_clones_and_folds) {
    moving_host host;
    auto f = TypeParam::create({.keys = 200'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(10'000, 1));
    {
        const auto copy = f.clone(host.options()).value();
        const std::size_t of_a_clone = host.live_blocks();
        EXPECT_GE(of_a_clone, 1u);
        EXPECT_TRUE(copy == f);
        if constexpr (foldable<TypeParam>) {
            const auto small = f.fold(2, host.options()).value();
            EXPECT_GT(host.live_blocks(), of_a_clone);
            EXPECT_TRUE(small == f.fold(2).value());
        }
    }
    EXPECT_EQ(host.live_blocks(), 0u);
    EXPECT_EQ(host.unknown_releases(), 0u);
}

TYPED_TEST(host_memory, that_is_dirty_does_not_show) {
    moving_host host;
    host.start_at(48);
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto expected = TypeParam::create(chosen).value();
        auto f = TypeParam::create(chosen, {.memory = host.options()}).value();
        EXPECT_TRUE(f == expected);
        f.add_batch(random_hashes(1'000, 1));
        expected.add_batch(random_hashes(1'000, 1));
        EXPECT_TRUE(f == expected);
    }
    EXPECT_EQ(host.live_blocks(), 0u);
}

TYPED_TEST(host_memory, that_is_refused) {
    moving_host host;
    host.refuse();
    EXPECT_TRUE(fails_with(
        TypeParam::create({.keys = 2'000, .false_positive_rate = 0.01}, {.memory = host.options()}),
        error_code::out_of_memory, "host"));
    auto f = TypeParam::create({.keys = 2'000, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(fails_with(f.clone(host.options()), error_code::out_of_memory, "host"));
    if constexpr (foldable<TypeParam>) {
        EXPECT_TRUE(fails_with(f.fold(1, host.options()), error_code::out_of_memory, "host"));
    }
}

} // namespace
} // namespace bouncer::test
