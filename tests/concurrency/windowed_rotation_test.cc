// A rotation runs while others add and ask: no key of the window is ever missed, and afterwards the filter is as if all
// had come one after the other.
#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/windowed_bloom.h>

#include <array>

namespace bouncer::test {
namespace {

std::vector<windowed_bloom_parameters> forms() {
    std::vector<windowed_bloom_parameters> out;
    for (const auto form : {cell_form::two_lines, cell_form::flat})
        for (const std::uint32_t live : {2u, 3u, 7u})
            out.push_back(
                plain_windowed_bloom::solve({.keys = 4'000, .false_positive_rate = 0.01}, live, form)
                    .value());
    return out;
}

// Each adder knows, by reading the epoch before and after, in which steps its key may lie. It asks for it until the
// window since the earlier of them may be over.
TEST(windowed_rotation, keys_of_the_window_are_found_at_every_moment) {
    for (const auto& chosen : forms()) {
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto f = atomic_windowed_bloom::create(chosen).value();
        std::atomic<bool> done = false;
        std::atomic<std::uint64_t> missed = 0;
        std::array<std::atomic<std::uint64_t>, 3> asked{}; // by each adder: it may get a processor late
        run_threads(3, [&](unsigned t) {
            if (t == 0) {
                for (std::uint64_t epoch = 1;
                     epoch <= scaled_for_threads(200) || asked[1] == 0 || asked[2] == 0;) {
                    // Beyond its share it lets them: with steps without pause the window is over before they ask.
                    if (epoch <= scaled_for_threads(200)) {
                        EXPECT_TRUE(f.rotate_to(epoch++).has_value());
                    }
                    std::this_thread::yield();
                }
                done.store(true, std::memory_order_release);
                return;
            }
            for (std::uint64_t i = 0; !done.load(std::memory_order_acquire); ++i) {
                const std::uint64_t hash = random_hash(t, i);
                const std::uint64_t before = f.epoch();
                if (i % 4 == 0) {
                    const std::uint64_t some[] = {hash, hash + 1, hash + 2};
                    f.add_batch(some);
                } else {
                    f.add(hash);
                }
                // Found, unless the window of a step after `before` has ended before the question was answered.
                const bool found = f.may_contain(hash);
                const std::uint64_t after = f.epoch();
                if (after - before <= f.window_steps()) {
                    asked[t].fetch_add(1, std::memory_order_relaxed);
                    if (!found) missed.fetch_add(1, std::memory_order_relaxed);
                }
            }
        });
        EXPECT_EQ(missed.load(), 0u);
    }
}

// One thread adds, another asks for what the first has told it of; the epoch moves all the while.
TEST(windowed_rotation, what_one_thread_added_another_finds) {
    std::atomic<std::uint64_t> asked = 0;
    for (const auto& chosen : forms()) {
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto f = atomic_windowed_bloom::create(chosen).value();
        std::atomic<bool> done = false;
        std::atomic<std::uint64_t> missed = 0;
        const std::uint64_t keys = scaled_for_threads(40'000);
        std::vector<std::uint64_t> began(keys); // the epoch before each add, told by `added`
        std::atomic<std::uint64_t> added = 0;
        std::atomic<std::uint64_t> looked = 0;
        run_threads(3, [&](unsigned t) {
            if (t == 0) {
                for (std::uint64_t i = 0; i < keys; ++i) {
                    began[i] = f.epoch();
                    f.add(random_hash(7, i));
                    added.store(i + 1, std::memory_order_release);
                    // Now and then until someone has asked: meanwhile nothing rotates, so the key is in its window.
                    if (const std::uint64_t before = looked.load(std::memory_order_relaxed); i % 1'000 == 0)
                        while (looked.load(std::memory_order_relaxed) < before + 2) std::this_thread::yield();
                }
                done.store(true, std::memory_order_release);
            } else if (t == 1) {
                while (!done.load(std::memory_order_acquire)) {
                    EXPECT_TRUE(f.rotate_to(f.epoch() + 1).has_value());
                    const std::uint64_t until = added.load(std::memory_order_relaxed) + 20;
                    while (added.load(std::memory_order_relaxed) < until &&
                           !done.load(std::memory_order_acquire))
                        std::this_thread::yield();
                }
            } else {
                answers out(1);
                while (!done.load(std::memory_order_acquire)) {
                    looked.fetch_add(1, std::memory_order_relaxed);
                    const std::uint64_t count = added.load(std::memory_order_acquire);
                    if (count == 0) continue;
                    const std::uint64_t hash[] = {random_hash(7, count - 1)};
                    const bool one = f.may_contain(hash[0]);
                    const bool all = f.may_contain(hash, out.span()) == 1;
                    if (f.epoch() - began[count - 1] > f.window_steps()) continue; // perhaps gone by now
                    asked.fetch_add(1, std::memory_order_relaxed);
                    if (!one || !all) missed.fetch_add(1, std::memory_order_relaxed);
                }
            }
        });
        EXPECT_EQ(missed.load(), 0u);
    }
    EXPECT_GT(asked.load(), 0u);
}

// A key is added again whenever its window is about to end, so that it is in the window at every moment, in one generation
// or another. Batches take so long that several rotations overtake them.
TEST(windowed_rotation, keys_that_move_on_are_found_by_long_batches) {
    for (const auto& chosen : forms()) {
        if (chosen.live < 3) continue; // two generations leave no step in which to add it again
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto f = atomic_windowed_bloom::create(chosen).value();
        const std::uint64_t kept = random_hash(11, 1);
        f.add(kept);
        std::vector<std::uint64_t> batch = random_hashes(scaled_for_threads(100'000) + 1'000, 12);
        for (std::size_t i = 0; i < batch.size(); i += 100) batch[i] = kept;
        std::atomic<bool> done = false;
        std::atomic<std::uint64_t> missed = 0;
        run_threads(2, [&](unsigned t) {
            if (t == 0) {
                answers out(batch.size());
                for (int round = 0; round < 30; ++round) {
                    f.may_contain(batch, out.span());
                    for (std::size_t i = 0; i < batch.size(); i += 100) missed += !out[i];
                    for (int i = 0; i < 1'000; ++i) missed += !f.may_contain(kept);
                }
                done.store(true, std::memory_order_release);
            } else {
                for (std::uint64_t epoch = 1; !done.load(std::memory_order_acquire); ++epoch) {
                    EXPECT_TRUE(f.rotate_to(epoch).has_value());
                    if (epoch % f.window_steps() == f.window_steps() - 1) f.add(kept);
                }
            }
        });
        EXPECT_EQ(missed.load(), 0u);
    }
}

// Jumps over all but one step of the window: what is in it before and after is there at every moment, while the columns
// between are swept before and after the epoch is stored.
TEST(windowed_rotation, keys_that_a_jump_leaves_are_found_at_every_moment) {
    for (const auto& chosen : forms()) {
        if (chosen.live < 4) continue; // a jump has two steps, and one is left for the key
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto f = atomic_windowed_bloom::create(chosen).value();
        const auto kept = random_hashes(64, 13);
        f.add_batch(kept);
        std::atomic<bool> done = false;
        std::atomic<std::uint64_t> missed = 0;
        run_threads(2, [&](unsigned t) {
            if (t == 0) {
                answers out(kept.size());
                for (std::uint64_t i = 0; i < scaled_for_threads(20'000) + 500; ++i) {
                    missed += kept.size() - f.may_contain(kept, out.span());
                    missed += !f.may_contain(kept[i % kept.size()]);
                }
                done.store(true, std::memory_order_release);
            } else {
                while (!done.load(std::memory_order_acquire)) {
                    EXPECT_TRUE(f.rotate_to(f.epoch() + f.window_steps() - 1).has_value());
                    f.add_batch(kept);
                }
            }
        });
        EXPECT_EQ(missed.load(), 0u);
    }
}

// Adders in steps that nobody leaves before all have added: then the bits are those of a sequential run.
TEST(windowed_rotation, final_cells_equal_a_sequential_run) {
    for (const auto& chosen : forms()) {
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        constexpr unsigned threads = 4;
        constexpr std::uint64_t steps = 12;
        const std::uint64_t each = scaled_for_threads(4'000) + 10;
        auto f = atomic_windowed_bloom::create(chosen).value();
        spin_barrier together(threads);
        run_threads(threads, [&](unsigned t) {
            for (std::uint64_t step = 1; step <= steps; ++step) {
                together.wait();
                // All ask for the rotation; one does it, the others find it done.
                EXPECT_TRUE(f.rotate_to(step).has_value());
                together.wait();
                for (std::uint64_t i = 0; i < each; ++i)
                    f.add(random_hash(t % 2, step * each + i)); // two of each
            }
        });
        auto g = plain_windowed_bloom::create(chosen).value();
        for (std::uint64_t step = 1; step <= steps; ++step) {
            ASSERT_TRUE(g.rotate_to(step).has_value());
            for (const unsigned t : {0u, 1u}) g.add_batch(random_hashes(each, t, step * each));
        }
        EXPECT_TRUE(f == g);
    }
}

TEST(windowed_rotation, union_while_others_add_and_ask) {
    const auto chosen = forms()[2];
    auto f = atomic_windowed_bloom::create(chosen).value();
    auto other = atomic_windowed_bloom::create(chosen).value();
    const auto theirs = random_hashes(500, 9);
    other.add_batch(theirs);
    std::atomic<std::uint64_t> missed = 0;
    run_threads(3, [&](unsigned t) {
        if (t == 0) {
            for (int i = 0; i < 20; ++i) EXPECT_TRUE(f.merge(other).has_value());
        } else {
            for (std::uint64_t i = 0; i < scaled_for_threads(20'000); ++i) {
                f.add(random_hash(t, i));
                if (!f.may_contain(random_hash(t, i))) missed.fetch_add(1, std::memory_order_relaxed);
            }
        }
    });
    EXPECT_EQ(missed.load(), 0u);
    for (const std::uint64_t hash : theirs) EXPECT_TRUE(f.may_contain(hash));
}

} // namespace
} // namespace bouncer::test
