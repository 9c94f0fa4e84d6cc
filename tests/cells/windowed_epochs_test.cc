// What the window promises, step by step, and what epochs may do.
#include "cells/windowed_forms.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <functional>

namespace bouncer::test {
namespace {

constexpr std::uint64_t in_a_step = 300;

std::vector<std::uint64_t> keys_of(std::uint64_t epoch) {
    return random_hashes(in_a_step, 1, epoch * in_a_step);
}
std::size_t found(const plain_windowed_bloom& f, std::uint64_t epoch) {
    answers out(in_a_step);
    return f.may_contain(keys_of(epoch), out.span());
}

TEST(windowed_epochs, keys_are_found_for_the_window_and_gone_a_step_later) {
    for (const auto& chosen : windowed_forms(in_a_step * 6, 1e-4)) {
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto f = plain_windowed_bloom::create(chosen).value();
        EXPECT_EQ(f.window_steps(), chosen.live - 1);
        for (std::uint64_t epoch = 0; epoch < 30; ++epoch) {
            ASSERT_TRUE(f.rotate_to(epoch).has_value());
            ASSERT_EQ(f.epoch(), epoch);
            f.add_batch(keys_of(epoch));
            for (std::uint64_t old = 0; old <= epoch; ++old) {
                if (epoch - old <= f.window_steps())
                    ASSERT_EQ(found(f, old), in_a_step) << old << " at " << epoch;
                else
                    ASSERT_LT(found(f, old), 10u) << old << " at " << epoch; // false positives
            }
        }
    }
}

TEST(windowed_epochs, the_last_add_counts) {
    for (const auto& chosen : windowed_forms(1'000, 1e-6)) {
        auto f = plain_windowed_bloom::create(chosen).value();
        const std::uint64_t hash = random_hash(2, 1);
        for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
            ASSERT_TRUE(f.rotate_to(epoch).has_value());
            EXPECT_TRUE(f.add(hash));  // new in this step
            EXPECT_FALSE(f.add(hash)); // and no longer
        }
        ASSERT_TRUE(f.rotate_to(19 + f.window_steps()).has_value());
        EXPECT_TRUE(f.may_contain(hash));
        EXPECT_TRUE(f.test_and_add(hash));
        ASSERT_TRUE(f.rotate_to(19 + 2 * f.window_steps() + 1).has_value());
        EXPECT_FALSE(f.test_and_add(hash));
    }
}

// However an epoch is reached, by single steps or by a jump, the keys of the window are the same.
TEST(windowed_epochs, jumps_are_as_many_steps) {
    for (const auto& chosen : windowed_forms(in_a_step * 6, 1e-4))
        for (std::uint64_t jump = 1; jump <= 40; jump += whole_sizes ? 1 : 4) {
            SCOPED_TRACE(plain_windowed_bloom::describe(chosen) + ", jump " + std::to_string(jump));
            auto jumped = plain_windowed_bloom::create(chosen).value();
            auto stepped = plain_windowed_bloom::create(chosen).value();
            for (std::uint64_t epoch = 0; epoch < 9; ++epoch) {
                ASSERT_TRUE(jumped.rotate_to(epoch).has_value());
                ASSERT_TRUE(stepped.rotate_to(epoch).has_value());
                jumped.add_batch(keys_of(epoch));
                stepped.add_batch(keys_of(epoch));
            }
            ASSERT_TRUE(jumped.rotate_to(8 + jump).has_value());
            for (std::uint64_t epoch = 9; epoch <= 8 + jump; ++epoch)
                ASSERT_TRUE(stepped.rotate_to(epoch).has_value());
            EXPECT_EQ(jumped.epoch(), stepped.epoch());
            for (std::uint64_t old = 0; old < 9; ++old)
                EXPECT_EQ(found(jumped, old), found(stepped, old)) << old;
            EXPECT_EQ(jumped.fill_ratio(), stepped.fill_ratio());
            jumped.add_batch(keys_of(100));
            EXPECT_EQ(found(jumped, 100), in_a_step);
            if (jump > chosen.live) {
                EXPECT_NEAR(jumped.approximate_size(), double{in_a_step}, 30);
            }
        }
}

// Words that tell when the epoch is stored.
struct watched_words : plain_words {
    static inline std::function<void()> when_published;

    template <std::memory_order Order = std::memory_order_relaxed>
    static void store(std::uint64_t* at, std::uint64_t value) noexcept {
        plain_words::store<Order>(at, value);
        if (Order == std::memory_order_release && when_published)
            when_published(); // nothing else is released
    }
};

// What a reader finds while a jump sweeps, when the new epoch is there and the sweep is not over: no key that was gone.
TEST(windowed_epochs, a_jump_brings_no_key_back) {
    for (const auto& chosen : windowed_forms(in_a_step * 6, 1e-4))
        for (std::uint64_t jump = 1; jump <= 20; ++jump) {
            SCOPED_TRACE(plain_windowed_bloom::describe(chosen) + ", jump " + std::to_string(jump));
            auto f = basic_windowed_bloom<watched_words>::create(chosen).value();
            constexpr std::uint64_t steps = 9;
            for (std::uint64_t epoch = 0; epoch <= steps; ++epoch) {
                ASSERT_TRUE(f.rotate_to(epoch).has_value());
                f.add_batch(keys_of(epoch));
            }
            const auto gone = keys_of(steps - chosen.live); // the last that went, still in the spare column
            answers out(in_a_step);
            ASSERT_LT(f.may_contain(gone, out.span()), 10u); // false positives
            std::size_t back = in_a_step;
            watched_words::when_published = [&] { back = f.may_contain(gone, out.span()); };
            ASSERT_TRUE(f.rotate_to(steps + jump).has_value());
            watched_words::when_published = nullptr;
            EXPECT_LT(back, 10u);
        }
}

TEST(windowed_epochs, far_jumps_leave_nothing) {
    auto f = plain_windowed_bloom::create(windowed_forms(1'000, 0.01).front()).value();
    f.add_batch(random_hashes(1'000, 1));
    ASSERT_TRUE(f.rotate_to(plain_windowed_bloom::epoch_most).has_value());
    EXPECT_EQ(f.fill_ratio(), 0);
    EXPECT_TRUE(f.add(1));
    EXPECT_TRUE(f.may_contain(1));
}

TEST(windowed_epochs, that_repeat_change_nothing) {
    auto f = plain_windowed_bloom::create(windowed_forms(1'000, 0.01).front()).value();
    ASSERT_TRUE(f.rotate_to(7).has_value());
    f.add_batch(random_hashes(500, 1));
    const auto before = f.clone().value();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(f.rotate_to(7).has_value());
    EXPECT_TRUE(f == before);
}

TEST(windowed_epochs, that_go_back_or_beyond_are_refused) {
    auto f = plain_windowed_bloom::create(windowed_forms(1'000, 0.01).front()).value();
    ASSERT_TRUE(f.rotate_to(7).has_value());
    f.add_batch(random_hashes(500, 1));
    const auto before = f.clone().value();
    EXPECT_TRUE(fails_with(f.rotate_to(6), error_code::invalid_argument, "7", "6"));
    EXPECT_TRUE(fails_with(f.rotate_to(0), error_code::invalid_argument));
    EXPECT_TRUE(fails_with(f.rotate_to(plain_windowed_bloom::epoch_most + 1), error_code::too_large));
    EXPECT_TRUE(fails_with(f.rotate_to(~std::uint64_t{0}), error_code::too_large));
    EXPECT_TRUE(f == before);
}

TEST(windowed_epochs, replicas_rotate_alike) {
    const auto chosen = windowed_forms(2'000, 0.01)[3];
    auto a = plain_windowed_bloom::create(chosen).value();
    auto b = atomic_windowed_bloom::create(chosen).value();
    for (const std::uint64_t epoch : {0u, 1u, 2u, 5u, 6u, 9u, 30u, 31u}) {
        ASSERT_TRUE(a.rotate_to(epoch).has_value());
        ASSERT_TRUE(b.rotate_to(epoch).has_value());
        a.add_batch(keys_of(epoch));
        for (const std::uint64_t hash : keys_of(epoch)) b.add(hash);
        EXPECT_TRUE(a == b);
    }
}

TEST(windowed_epochs, clear_keeps_the_epoch) {
    auto f = plain_windowed_bloom::create(windowed_forms(1'000, 0.01).front()).value();
    ASSERT_TRUE(f.rotate_to(3).has_value());
    f.add(1);
    f.clear();
    EXPECT_EQ(f.epoch(), 3u);
    EXPECT_EQ(f.fill_ratio(), 0);
}

} // namespace
} // namespace bouncer::test
