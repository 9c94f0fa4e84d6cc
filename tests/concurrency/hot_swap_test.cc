// hot<F> while readers, adders and swappers race: nothing is used after its end, nothing is lost, and all is freed. Then
// all of it again in a process without membarrier.
#include <bouncer/blocked_bloom.h>
#include <bouncer/hot.h>

#include "concurrency/threads.h"
#include "lifecycle/poisoned.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

// The values grow from swap to swap, so a reader must never see one go back.
TEST(hot_swap, readers_see_living_filters_in_order) {
    poisoned::alive = 0;
    poisoned::used_dead = 0;
    {
        hot<poisoned> filter(poisoned(1));
        const std::uint64_t swaps = scaled_for_threads(8000);
        std::atomic<bool> done{false};
        std::atomic<std::uint64_t> wrong{0};
        run_threads(4, [&](unsigned t) {
            if (t == 0) {
                for (std::uint64_t i = 2; i < 2 + swaps; ++i) filter.swap(poisoned(i)).value();
                done = true;
                return;
            }
            for (std::uint64_t last = 0; !done;) {
                const auto outer = filter.read();
                const std::uint64_t first = outer->value();
                if (t == 2) std::this_thread::yield(); // holds across swaps
                const std::uint64_t inner = filter.read()->value();
                wrong += first < last || inner < first || outer->value() != first;
                last = inner;
                if (t == 3) filter.add(1u);
            }
        });
        EXPECT_EQ(wrong, 0u);
        EXPECT_EQ(filter.read()->value(), 1 + swaps);
        EXPECT_TRUE(filter.wait_for_readers());
        EXPECT_EQ(poisoned::alive, 1);
    }
    EXPECT_EQ(poisoned::alive, 0);
    EXPECT_EQ(poisoned::used_dead, 0);
}

TEST(hot_swap, several_writers_free_every_version_once) {
    poisoned::alive = 0;
    poisoned::used_dead = 0;
    {
        hot<poisoned> filter(poisoned(1));
        run_threads(4, [&](unsigned t) {
            for (std::uint64_t i = 0; i < scaled_for_threads(4000); ++i) {
                const auto held = filter.read();
                filter.swap(poisoned(t + 2)).value();
                if (held->value() == 0) ADD_FAILURE() << "freed while held";
                if (i % 16 == 0) filter.reclaim();
                if (i % 64 == 0) filter.holders();
            }
        });
        EXPECT_TRUE(filter.wait_for_readers());
        EXPECT_EQ(filter.retired(), 0u);
        EXPECT_EQ(poisoned::alive, 1);
    }
    EXPECT_EQ(poisoned::alive, 0);
    EXPECT_EQ(poisoned::used_dead, 0);
}

// Threads that come and go use the records of those before them.
TEST(hot_swap, records_are_used_again) {
    const auto count = [] {
        std::size_t records = 0;
        for (auto* each = detail::hot_records(); each != nullptr; each = each->next) ++records;
        return records;
    };
    hot<poisoned> filter(poisoned(1));
    std::thread([&] { EXPECT_EQ(filter.read()->value(), 1u); }).join();
    const std::size_t before = count();
    for (int i = 0; i < 100; ++i) std::thread([&] { EXPECT_EQ(filter.read()->value(), 1u); }).join();
    EXPECT_EQ(count(), before);
}

// Every filter that is swapped in has the base keys: they are found at any moment.
TEST(hot_swap, keys_of_all_filters_are_always_found) {
    const auto keys = random_hashes(scaled_for_threads(20'000) + 128, 1);
    const auto made = [&](std::uint64_t room) {
        auto filter = atomic_blocked_bloom::create(goal{.keys = room, .false_positive_rate = 0.01}).value();
        filter.add_batch(keys);
        return filter;
    };
    hot<atomic_blocked_bloom> filter(made(keys.size()));
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> missed{0};
    run_threads(3, [&](unsigned t) {
        if (t == 0) {
            for (std::uint64_t i = 0; i < 50; ++i) filter.swap(made(keys.size() * (1 + i % 3))).value();
            done = true;
            return;
        }
        answers said(64);
        for (std::size_t i = t; !done; i = (i + 64) % (keys.size() - 64)) {
            missed += !filter.may_contain(keys[i]);
            missed += filter.may_contain(std::span(keys).subspan(i, 64), said.span()) != 64;
        }
    });
    EXPECT_EQ(missed, 0u);
}

TEST(hot_swap, works_without_membarrier_too) {
    const char* const wish = std::getenv("BOUNCER_MEMBARRIER");
    if (wish != nullptr && std::string(wish) == "off") {
        EXPECT_FALSE(detail::hot_uses_membarrier());
        return;
    }
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::setenv("BOUNCER_MEMBARRIER", "off", 1);
        ::execl("/proc/self/exe", "without_membarrier", "--gtest_filter=hot_*:rebuild_race*",
                "--gtest_brief=1", nullptr);
        ::_exit(127);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace bouncer::test
