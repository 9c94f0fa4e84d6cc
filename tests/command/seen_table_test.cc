// The tables of dedup against an exact shadow set.
#include "exact_table.h"
#include "seen_table.h"

#include <bouncer/detail/bits.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace bouncer::tool {
namespace {

// Batches of random size; answers compared one by one, in order.
void expect_as_a_set(const std::vector<std::uint64_t>& hashes) {
    seen_table table;
    std::unordered_set<std::uint64_t> shadow;
    const auto seen = std::make_unique<bool[]>(5000);
    std::uint64_t random = 1;
    for (std::size_t done = 0; done < hashes.size();) {
        random = detail::mix64(random);
        const std::size_t some = std::min<std::size_t>(random % 5000 + 1, hashes.size() - done);
        const std::span<const std::uint64_t> now(hashes.data() + done, some);
        table.test_and_add(now, {seen.get(), some});
        for (std::size_t i = 0; i < some; ++i) ASSERT_EQ(seen[i], !shadow.insert(now[i]).second) << done + i;
        done += some;
    }
    EXPECT_EQ(table.size(), shadow.size());
    std::vector<std::uint64_t> kept;
    table.for_each([&](std::uint64_t hash) { kept.push_back(hash); });
    EXPECT_EQ(kept.size(), shadow.size());
    for (const std::uint64_t hash : kept) EXPECT_TRUE(shadow.contains(hash));
}

TEST(command_seen_table, is_a_set_while_it_grows) {
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = 0; i < 2'000'000; ++i)
        hashes.push_back(detail::mix64(detail::mix64(i) % 1'400'000 + 1));
    expect_as_a_set(hashes);
}

TEST(command_seen_table, is_a_set_of_hashes_that_crowd) {
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = 1; i < 30'000; ++i) {
        hashes.push_back(UINT64_MAX - i % 15'000);          // at the end of the last partition
        hashes.push_back(i % 12'000 + 1);                   // at the start of the first
        hashes.push_back((std::uint64_t{5} << 59) - 1 - i); // at the end of another
    }
    expect_as_a_set(hashes);
}

TEST(command_seen_table, takes_the_hash_zero) {
    seen_table table;
    const std::uint64_t zero[] = {0, 7, 0};
    bool seen[3];
    table.test_and_add(zero, seen);
    EXPECT_FALSE(seen[0]);
    EXPECT_FALSE(seen[1]);
    EXPECT_TRUE(seen[2]);
    EXPECT_EQ(table.size(), 2u);
}

// Tags: whatever is seen gets the newest, and a sweep by tags forgets the rest; what is told can be told again.
TEST(command_seen_table, forgets_by_tags) {
    seen_table table(3);
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = 1; i <= 60'000; ++i) hashes.push_back(detail::mix64(i));
    const auto seen = std::make_unique<bool[]>(hashes.size());
    for (std::uint64_t tag = 0; tag < 6; ++tag)
        table.test_and_add(std::span(hashes).subspan(tag * 10'000, 10'000), {seen.get(), 10'000}, tag);
    table.test_and_add(std::span(hashes).first(5'000), {seen.get(), 5'000}, 6); // again, so they are of tag 6
    EXPECT_TRUE(std::all_of(seen.get(), seen.get() + 5'000, [](bool there) { return there; }));
    EXPECT_EQ(table.size(), 60'000u);
    table.sweep([](std::uint64_t tag) { return tag >= 3; });
    EXPECT_EQ(table.size(), 35'000u);
    seen_table again(3);
    table.for_each([&](std::uint64_t both) { again.restore(both); });
    for (seen_table* const one : {&table, &again}) {
        EXPECT_EQ(one->size(), 35'000u);
        one->test_and_add(hashes, {seen.get(), hashes.size()}, 7);
        for (std::size_t i = 0; i < hashes.size(); ++i) ASSERT_EQ(seen[i], i < 5'000 || i >= 30'000) << i;
    }
    table.sweep([](std::uint64_t) { return false; });
    EXPECT_EQ(table.size(), 0u);
    EXPECT_LT(table.size_bytes(), 200'000u);
}

TEST(command_seen_table, takes_few_bytes_at_any_moment) {
    seen_table table;
    std::vector<std::uint64_t> hashes(1000);
    const auto seen = std::make_unique<bool[]>(hashes.size());
    for (std::uint64_t i = 0; i < 3'000'000;) {
        for (std::uint64_t& hash : hashes) hash = detail::mix64(++i);
        table.test_and_add(hashes, {seen.get(), hashes.size()});
        if (i > 100'000) {
            ASSERT_LT(static_cast<double>(table.size_bytes()) / static_cast<double>(table.size()), 16.5) << i;
        }
    }
}

// A hint is no order: what does not come takes no memory, and what comes beyond it has its place.
TEST(command_seen_table, follows_a_hint_only_as_far_as_hashes_come) {
    for (const std::uint64_t hint : {1000u, 50'000u, 300'000u, 2'000'000'000u}) {
        seen_table table;
        table.expect(hint);
        std::vector<std::uint64_t> hashes(1000);
        const auto seen = std::make_unique<bool[]>(hashes.size());
        for (std::uint64_t i = 0; i < 400'000;) {
            for (std::uint64_t& hash : hashes) hash = detail::mix64(++i);
            table.test_and_add(hashes, {seen.get(), hashes.size()});
            ASSERT_TRUE(std::none_of(seen.get(), seen.get() + 1000, [](bool there) { return there; })) << i;
            const double most =
                i < 20'000 ? 200'000 + 50.0 * static_cast<double>(i) : 46.0 * static_cast<double>(i);
            ASSERT_LT(static_cast<double>(table.size_bytes()), most) << i << " of " << hint;
        }
        for (std::uint64_t i = 0; i < 400'000;) {
            for (std::uint64_t& hash : hashes) hash = detail::mix64(++i);
            table.test_and_add(hashes, {seen.get(), hashes.size()});
            ASSERT_TRUE(std::all_of(seen.get(), seen.get() + 1000, [](bool there) { return there; })) << i;
        }
    }
}

TEST(command_exact_table, tells_keys_of_equal_hashes_apart) {
    exact_table table;
    for (int i = 0; i < 3000; ++i) EXPECT_FALSE(table.test_and_add(42, std::to_string(i)));
    for (int i = 0; i < 3000; ++i) EXPECT_TRUE(table.test_and_add(42, std::to_string(i)));
    EXPECT_FALSE(table.test_and_add(42, ""));
    EXPECT_TRUE(table.test_and_add(42, ""));
    EXPECT_EQ(table.size(), 3001u);
}

TEST(command_exact_table, is_a_set_while_it_grows) {
    exact_table table;
    std::unordered_set<std::string> shadow;
    for (std::uint64_t i = 0; i < 300'000; ++i) {
        const std::string key = std::to_string(detail::mix64(i) % 200'000);
        table.prefetch(std::hash<std::string>()(key));
        ASSERT_EQ(table.test_and_add(std::hash<std::string>()(key), key), !shadow.insert(key).second);
    }
    EXPECT_EQ(table.size(), shadow.size());
}

} // namespace
} // namespace bouncer::tool
