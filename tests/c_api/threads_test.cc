// One handle in several threads, and a message per thread.
#include <bouncer/bouncer.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace {

bouncer_filter* made(const char* kind = "blocked_bloom", std::uint64_t keys = 100'000) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    options.keys = keys;
    options.false_positive_rate = 0.01;
    bouncer_filter* filter = nullptr;
    EXPECT_EQ(bouncer_create(kind, &options, &filter), BOUNCER_OK);
    return filter;
}

void add_range(bouncer_filter* filter, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t key = first; key < end; ++key)
        ASSERT_EQ(bouncer_add(filter, &key, sizeof key), BOUNCER_OK);
}

TEST(c_api_threads, each_has_its_own_message) {
    ASSERT_EQ(bouncer_add(nullptr, "a", 1), BOUNCER_INVALID_ARGUMENT);
    const std::string mine = bouncer_last_error();
    std::string first = "unset";
    std::string second;
    std::thread([&] {
        first = bouncer_last_error();
        std::uint8_t live = 0;
        EXPECT_EQ(bouncer_verify("/no/such/file", &live), BOUNCER_IO);
        second = bouncer_last_error();
    }).join();
    EXPECT_EQ(first, "");
    EXPECT_NE(second.find("/no/such/file"), std::string::npos);
    EXPECT_EQ(bouncer_last_error(), mine);
}

TEST(c_api_threads, add_and_ask_at_once) {
    bouncer_filter* const filter = made();
    const std::uint64_t per_thread = 20'000;
    const auto work = [&](std::uint64_t first) {
        std::uint8_t there = 0;
        for (std::uint64_t key = first; key < first + per_thread; ++key) {
            ASSERT_EQ(bouncer_add(filter, &key, sizeof key), BOUNCER_OK);
            ASSERT_EQ(bouncer_contains(filter, &key, sizeof key, &there), BOUNCER_OK);
            ASSERT_EQ(there, 1);
        }
    };
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, i * per_thread);
    for (std::thread& each : threads) each.join();

    std::vector<std::uint64_t> numbers(4 * per_thread);
    std::vector<bouncer_key> keys(numbers.size());
    std::vector<std::uint8_t> answers(numbers.size());
    for (std::uint64_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = i;
        keys[i] = {&numbers[i], sizeof numbers[i]};
    }
    ASSERT_EQ(bouncer_contains_batch(filter, keys.data(), keys.size(), answers.data()), BOUNCER_OK);
    EXPECT_EQ(std::count(answers.begin(), answers.end(), 1), static_cast<std::ptrdiff_t>(answers.size()));
    bouncer_destroy(filter);
}

// One rule for all kinds. A chain is the one whose union may need more layers than it has: here two of the other's are
// copied while a thread asks.
TEST(c_api_threads, merge_and_ask_at_once) {
    for (const char* const kind : {"blocked_bloom", "counting_bloom", "scalable_bloom"}) {
        bouncer_filter* const other = made(kind, 1'000);
        add_range(other, 10'000, 13'000);
        for (int round = 0; round < 40; ++round) {
            bouncer_filter* const filter = made(kind, 1'000);
            add_range(filter, 0, 990);
            std::atomic<bool> asked{false};
            std::atomic<bool> merged{false};
            std::thread asking([&] {
                std::uint8_t there = 0;
                asked = true;
                for (std::uint64_t key = 0; !merged; key = (key + 1) % 990) {
                    ASSERT_EQ(bouncer_contains(filter, &key, sizeof key, &there), BOUNCER_OK);
                    ASSERT_EQ(there, 1) << kind;
                }
            });
            while (!asked) std::this_thread::yield();
            EXPECT_EQ(bouncer_merge(filter, other), BOUNCER_OK) << bouncer_last_error();
            merged = true;
            asking.join();
            for (std::uint64_t key = 10'000; key < 13'000; key += 7) {
                std::uint8_t there = 0;
                ASSERT_EQ(bouncer_contains(filter, &key, sizeof key, &there), BOUNCER_OK);
                ASSERT_EQ(there, 1) << kind;
            }
            bouncer_destroy(filter);
        }
        bouncer_destroy(other);
    }
}

// Neither reads an epoch that the other moves before it has rotated: no step is made by two.
TEST(c_api_threads, every_rotation_is_a_step) {
    bouncer_filter* const filter = made("windowed_bloom", 1'000);
    constexpr std::uint64_t each = 5'000;
    std::vector<std::thread> threads;
    std::vector<std::vector<std::uint64_t>> told(4);
    std::latch together(4);
    for (auto& mine : told)
        threads.emplace_back([&] {
            together.arrive_and_wait();
            for (std::uint64_t i = 0; i < each; ++i)
                ASSERT_EQ(bouncer_rotate(filter, &mine.emplace_back()), BOUNCER_OK);
        });
    for (std::thread& thread : threads) thread.join();
    std::vector<std::uint64_t> all;
    for (const auto& mine : told) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i + 1);
    std::uint64_t epoch = 0;
    ASSERT_EQ(bouncer_epoch(filter, &epoch), BOUNCER_OK);
    EXPECT_EQ(epoch, 4 * each);
    bouncer_destroy(filter);
}

// Each thread removes what it added, beside those of the others.
TEST(c_api_threads, add_and_remove_at_once) {
    bouncer_filter* const filter = made("counting_bloom");
    add_range(filter, 1'000'000, 1'001'000);
    const auto work = [&](std::uint64_t first) {
        add_range(filter, first, first + 2'000);
        std::uint8_t removed = 0;
        for (std::uint64_t key = first; key < first + 2'000; ++key) {
            ASSERT_EQ(bouncer_remove(filter, &key, sizeof key, &removed), BOUNCER_OK);
            ASSERT_EQ(removed, 1);
        }
    };
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, i * 2'000);
    for (std::thread& thread : threads) thread.join();
    std::uint8_t there = 0;
    unsigned removed_but_there = 0;
    for (std::uint64_t key = 0; key < 8'000; ++key) {
        ASSERT_EQ(bouncer_contains(filter, &key, sizeof key, &there), BOUNCER_OK);
        removed_but_there += there;
    }
    for (std::uint64_t key = 1'000'000; key < 1'001'000; ++key) {
        ASSERT_EQ(bouncer_contains(filter, &key, sizeof key, &there), BOUNCER_OK);
        ASSERT_EQ(there, 1);
    }
    EXPECT_LT(removed_but_there, 10u); // the rate of 1,000 keys in a filter for 100,000 is about 0
    bouncer_destroy(filter);
}

} // namespace
