// Filters in a host's memory: dirty blocks, any alignment of 16, and a host that moves the block.
#include "support/failures.h"
#include "support/moving_host.h"
#include "support/random_hashes.h"
#include "support/subject.h"

namespace bouncer::test {
namespace {

class moved_host_memory : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, moved_host_memory, plain_subjects_that(&facts::movable), subject_names);

TEST_P(moved_host_memory, holds_a_filter_that_the_host_moves) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        moving_host host;
        {
            auto expected = k.create(chosen).value();
            host.start_at(16);
            auto f = k.create(chosen, {.memory = host.options()}).value();
            EXPECT_TRUE(f == expected) << "the host's dirt shows";
            EXPECT_EQ(host.live_blocks(), 1u);
            std::uint64_t stream = 0;
            for (const std::size_t offset : {0u, 32u, 48u, 16u, 16u}) {
                f.add_batch(random_hashes(300, ++stream));
                expected.add_batch(random_hashes(300, stream));
                void* const fresh = host.move(f.host_block(), offset);
                f.host_block_moved_to(fresh);
                EXPECT_EQ(f.host_block(), fresh);
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(f.stored().segments.at(0).words) % 64, 0u);
                EXPECT_TRUE(f == expected) << "after the move to offset " << offset;
                answers found(300);
                const std::size_t present = f.may_contain(random_hashes(300, 1), found.span());
                if (k.is.exact) {
                    EXPECT_EQ(present, 300u);
                }
            }
            const auto moved = f.moved();
            EXPECT_TRUE(moved == expected);
        }
        EXPECT_EQ(host.live_blocks(), 0u);
        EXPECT_EQ(host.unknown_releases(), 0u);
    }
}

class host_memory : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, host_memory, plain_subjects_that(&facts::incremental), subject_names);

TEST_P(host_memory, holds_clones_and_folds) {
    moving_host host;
    auto f = k.create(goal{.keys = 200'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(10'000, 1));
    {
        const auto copy = f.clone(host.options()).value();
        const std::size_t of_a_clone = host.live_blocks();
        EXPECT_GE(of_a_clone, 1u);
        EXPECT_TRUE(copy == f);
        if (k.is.foldable) {
            const auto small = f.fold(2, host.options()).value();
            EXPECT_GT(host.live_blocks(), of_a_clone);
            EXPECT_TRUE(small == f.fold(2).value());
        }
    }
    EXPECT_EQ(host.live_blocks(), 0u);
    EXPECT_EQ(host.unknown_releases(), 0u);
}

TEST_P(host_memory, that_is_dirty_does_not_show) {
    moving_host host;
    host.start_at(48);
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto expected = k.create(chosen).value();
        auto f = k.create(chosen, {.memory = host.options()}).value();
        EXPECT_TRUE(f == expected);
        f.add_batch(random_hashes(1'000, 1));
        expected.add_batch(random_hashes(1'000, 1));
        EXPECT_TRUE(f == expected);
    }
    EXPECT_EQ(host.live_blocks(), 0u);
}

TEST_P(host_memory, that_is_refused) {
    moving_host host;
    host.refuse();
    EXPECT_TRUE(
        fails_with(k.create(goal{.keys = 2'000, .false_positive_rate = 0.01}, {.memory = host.options()}),
                   error_code::out_of_memory, "host"));
    auto f = k.create(goal{.keys = 2'000, .false_positive_rate = 0.01}).value();
    EXPECT_TRUE(fails_with(f.clone(host.options()), error_code::out_of_memory, "host"));
    if (k.is.foldable) {
        EXPECT_TRUE(fails_with(f.fold(1, host.options()), error_code::out_of_memory, "host"));
    }
}

} // namespace
} // namespace bouncer::test
