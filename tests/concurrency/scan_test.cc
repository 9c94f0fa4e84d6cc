// Scans of the whole filter while others add: every number is one that some moment could have given.
#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/blocked_bloom.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace bouncer::test {
namespace {

class scan : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, scan, atomic_subjects_that(&facts::bits), subject_names);

bool is_rate(double value) {
    return value >= 0 && value <= 1;
}
bool is_rate(const estimate& e) {
    return is_rate(e.low) && is_rate(e.high) && e.low <= e.value && e.value <= e.high;
}
bool is_count(double value) {
    return value >= 0;
} // infinite for a full filter, never NaN
bool is_count(const estimate& e) {
    return is_count(e.low) && e.low <= e.value && e.value <= e.high;
}

// Adds all keys on two threads while a third calls look(f) until they are done, and once more then.
template <class F, class Look>
void look_while_others_add(F& f, const std::vector<std::uint64_t>& keys, Look look) {
    std::atomic<unsigned> adding{2};
    run_threads(3, [&](unsigned t) {
        if (t < 2) {
            for (std::size_t i = t; i < keys.size(); i += 2) f.add(keys[i]);
            adding.fetch_sub(1, std::memory_order_relaxed);
            return;
        }
        while (adding.load(std::memory_order_relaxed) != 0) look();
        look();
    });
}

// Bits only go from 0 to 1, and a thread never sees a word go back: the full scans of one thread never fall.
TEST_P(scan, numbers_are_in_range_and_full_scans_only_rise) {
    const auto keys = random_hashes(scaled_for_threads(300'000), 1);
    for (const auto& parameters : k.variants(keys.size(), 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        auto f = k.create(parameters).value();
        std::uint64_t wrong = 0;
        double fill = 0;
        double rate = 0;
        double size = 0;
        const auto rose = [](double& last, double now) { return std::exchange(last, now) <= now; };
        look_while_others_add(f, keys, [&] {
            wrong += !rose(fill, f.fill_ratio()) + !rose(rate, f.expected_fpr()) +
                     !rose(size, f.approximate_size());
            wrong += !is_rate(fill) + !is_rate(rate) + !is_count(size);
            wrong += !is_rate(f.sampled_fill_ratio(256)) + !is_rate(f.sampled_fpr(256));
            wrong += !is_count(f.sampled_size(256));
        });
        EXPECT_EQ(wrong, 0u);
        auto expected = k.in(words_access::plain).create(parameters).value();
        expected.add_batch(keys);
        EXPECT_EQ(size, expected.approximate_size()); // the last look came after the last add
    }
}

// Copies made meanwhile hold every key added before they began, and nothing that is not there in the end.
TEST_P(scan, copies_hold_what_was_there_and_no_more) {
    const auto before = random_hashes(1000, 1);
    const auto keys = random_hashes(scaled_for_threads(40'000), 1, 1000);
    for (const auto& parameters : k.variants(keys.size(), 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        auto f = k.create(parameters).value();
        f.add_batch(before);
        auto gathered = k.create(parameters).value();
        std::vector<subject> copies;
        std::uint64_t wrong = 0;
        look_while_others_add(f, keys, [&] {
            auto copy = f.clone(words_access::plain);
            for (const std::uint64_t hash : before) wrong += !copy.may_contain(hash);
            wrong += !gathered.merge(f) + !gathered.merge(f.view()) + !gathered.merge_if_within(f, 0.5);
            wrong +=
                !is_count(gathered.union_size(f).value()) + !is_count(gathered.intersection_size(f).value());
            wrong += !is_count(gathered.sampled_union_size(f, 256).value());
            if (k.is.foldable) {
                if (auto half = f.fold(2))
                    for (const std::uint64_t hash : before) wrong += !half->may_contain(hash);
            }
            if (copies.size() < 4) copies.push_back(std::move(copy));
        });
        EXPECT_EQ(wrong, 0u);
        EXPECT_TRUE(gathered == f); // the last look came after the last add
        const double fill = f.fill_ratio();
        for (auto& copy : copies) {
            auto both = f.clone(words_access::plain);
            EXPECT_TRUE(both.merge(copy));
            EXPECT_EQ(both.fill_ratio(), fill);
        }
    }
}

// The subject asks views for what only reads words. Here the filter itself is asked.
TEST(scan_of_types, while_others_add) {
    const auto before = random_hashes(1000, 1);
    const auto keys = random_hashes(scaled_for_threads(40'000), 1, 1000);
    auto f = atomic_blocked_bloom::create(goal{.keys = keys.size(), .false_positive_rate = 0.01}).value();
    f.add_batch(before);
    auto gathered = f.clone().value();
    std::uint64_t wrong = 0;
    const auto has_all = [&](const auto& copy) {
        for (const std::uint64_t hash : before)
            if (!copy.may_contain(hash)) return false;
        return true;
    };
    look_while_others_add(f, keys, [&] {
        wrong += !has_all(f.clone<plain_words>().value()) + !has_all(f.clone().value());
        wrong += !gathered.merge_if_within(f, 0.5) + (f == f.view() && !has_all(f));
        if (auto half = f.fold(2)) wrong += !has_all(*half);
        wrong += !is_rate(f.sampled_fill_ratio(256)) + !is_rate(f.sampled_fpr(256)) +
                 !is_count(f.sampled_size(256));
        wrong += !is_count(f.union_size(gathered).value()) + !is_count(f.intersection_size(gathered).value());
        wrong += !is_count(f.sampled_union_size(gathered, 256).value()) +
                 !is_count(f.sampled_intersection_size(gathered, 256).value());
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(gathered == f); // the last look came after the last add
}

// Filters merged crosswise and in a ring while all are added to: [any-thread], with no lock to wait for.
TEST_P(scan, filters_merge_into_each_other_while_others_add) {
    const auto keys = random_hashes(scaled_for_threads(20'000), 1);
    for (const auto& parameters : k.variants(keys.size(), 0.01)) {
        SCOPED_TRACE(k.describe(parameters));
        std::vector<subject> ring;
        for (int i = 0; i < 3; ++i) ring.push_back(k.create(parameters).value());
        auto expected = k.create(parameters).value();
        expected.add_batch(keys);
        std::atomic<std::uint64_t> refused{0};
        run_threads(6, [&](unsigned t) {
            if (t < 3)
                for (std::size_t i = t; i < keys.size(); i += 3) ring[t].add(keys[i]);
            else
                for (int i = 0; i < 10; ++i) refused += !ring[t % 3].merge(ring[(t + 1) % 3]);
        });
        for (const std::size_t i : {0u, 1u, 2u, 0u, 1u}) refused += !ring[i].merge(ring[(i + 1) % 3]);
        EXPECT_EQ(refused, 0u);
        EXPECT_TRUE(ring[0] == expected);
        EXPECT_TRUE(ring[1] == expected);
    }
}

} // namespace
} // namespace bouncer::test
