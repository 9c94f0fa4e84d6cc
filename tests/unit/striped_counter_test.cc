#include "bouncer/detail/striped_counter.h"

#include <gtest/gtest.h>

#include <bit>
#include <type_traits>
#include <utility>

namespace bouncer::detail {
namespace {

TEST(striped_counter, adds_up) {
    striped_counter counter;
    EXPECT_EQ(counter.total(), 0u);
    counter.add();
    counter.add(41);
    EXPECT_EQ(counter.total(), 42u);
    counter.add(0 - std::uint64_t{43}); // modulo 2^64, below zero and back
    EXPECT_EQ(counter.total(), ~std::uint64_t{0});
    counter.add(2);
    EXPECT_EQ(counter.total(), 1u);
    counter.reset();
    EXPECT_EQ(counter.total(), 0u);
}

TEST(striped_counter, has_a_power_of_two_of_stripes_on_lines_of_their_own) {
    const striped_counter counter;
    EXPECT_TRUE(std::has_single_bit(counter.size()));
    EXPECT_GE(counter.size(), 2u);
    EXPECT_LE(counter.size(), 64u);
    EXPECT_EQ(alignof(striped_counter), 64u);
    EXPECT_EQ(striped_counter(0).size(), 1u);
    EXPECT_EQ(striped_counter(5).size(), 8u);
    EXPECT_EQ(striped_counter(~0u).size(), 64u);
}

TEST(striped_counter, moves_its_count) {
    static_assert(std::is_nothrow_move_constructible_v<striped_counter>);
    static_assert(!std::is_copy_constructible_v<striped_counter>);
    striped_counter first;
    first.add(5);
    striped_counter second = std::move(first);
    EXPECT_EQ(second.total(), 5u);
    EXPECT_EQ(first.total(), 0u);
    first.add(3); // still a counter
    EXPECT_EQ(first.total(), 3u);
    second = std::move(first);
    EXPECT_EQ(second.total(), 3u);
    EXPECT_EQ(first.total(), 0u);
    second = std::move(*&second);
    EXPECT_EQ(second.total(), 3u);
}

// What a counter is when there was no memory for stripes.
TEST(striped_counter, works_with_the_stripe_inside_the_object) {
    striped_counter one(1);
    one.add(9);
    EXPECT_EQ(one.total(), 9u);
    striped_counter moved = std::move(one);
    EXPECT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved.total(), 9u);
    striped_counter many(8);
    many = std::move(moved);
    EXPECT_EQ(many.size(), 8u);
    EXPECT_EQ(many.total(), 9u);
    EXPECT_EQ(moved.total(), 0u);
}

} // namespace
} // namespace bouncer::detail
