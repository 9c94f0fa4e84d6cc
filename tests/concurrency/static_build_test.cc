// Builds of static kinds on several threads, in memory and spilled, cancelled too; and many threads that ask one.
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/hash_sources.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/detail/sorted_hashes.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

class static_build : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, static_build, atomic_subjects_that(&facts::buildable), subject_names);

TEST_P(static_build, gives_the_words_of_one_thread) {
    const auto hashes = random_hashes(static_cast<std::size_t>(scaled_for_threads(6'000'000)) + 700'000, 1);
    const goal wanted{.false_positive_rate = 0.01};
    const auto alone = k.build(hashes, wanted, {.threads = 1}).value();
    EXPECT_TRUE(alone == k.build(hashes, wanted, {.threads = 4}).value());
    const scratch_folder folder;
    build_options spilled{
        .threads = 4, .memory_cap_bytes = spilling_cap(hashes.size()), .temporary_folder = folder.path()};
    EXPECT_TRUE(alone == k.build(source_of(hashes), wanted, spilled).value());
    spilled.temporary_folder = folder / "missing"; // it does need a file
    EXPECT_TRUE(fails_with(k.build(source_of(hashes), wanted, spilled), error_code::io));
}

// Parted, written, sorted and read on four threads each. 14 MiB: with less, the cap has no room for four that sort.
TEST(spilled_set, is_that_of_one_thread) {
    const auto hashes = random_hashes(500'000, 3);
    const auto alone = detail::sorted_hashes::gather(hashes, {.threads = 1}).value();
    std::vector<std::uint64_t> unused;
    const auto all = alone.shard(0, 1, unused).value();
    const scratch_folder folder;
    const build_options options{
        .threads = 4, .memory_cap_bytes = std::uint64_t{14} << 20, .temporary_folder = folder.path()};
    for (const bool streamed : {false, true}) {
        const auto set = streamed ? detail::sorted_hashes::gather(source_of(hashes), options).value()
                                  : detail::sorted_hashes::gather(hashes, options).value();
        ASSERT_FALSE(set.in_memory());
        ASSERT_EQ(set.size(), all.size());
        std::atomic<std::size_t> equal = 0;
        {
            std::vector<std::jthread> threads;
            for (std::uint64_t thread = 0; thread < 4; ++thread)
                threads.emplace_back([&, thread] {
                    std::vector<std::uint64_t> room;
                    for (std::uint64_t shard = thread; shard < 64; shard += 4) {
                        const auto part = set.shard(shard, 64, room).value();
                        const auto first = std::lower_bound(all.begin(), all.end(), shard << 58);
                        if (std::equal(part.begin(), part.end(), first)) equal += part.size();
                    }
                });
        }
        EXPECT_EQ(equal, all.size());
    }
}

TEST_P(static_build, ends_when_it_is_cancelled_at_any_moment) {
    const auto hashes = random_hashes(600'000, 1);
    const std::thread::id here = std::this_thread::get_id();
    int calls = 0;
    const auto build = [&](int last) {
        calls = 0;
        return k.build(hashes, {.false_positive_rate = 0.01},
                       {.threads = 4, .progress = [&](const build_progress& now) {
                            EXPECT_EQ(std::this_thread::get_id(), here);
                            EXPECT_TRUE(now.total == 0 || now.done <= now.total);
                            return ++calls <= last;
                        }});
    };
    ASSERT_TRUE(build(1'000'000).has_value());
    const int all = calls;
    EXPECT_GT(all, 2);
    for (int last = 0; last < all; ++last) {
        const auto made = build(last);
        // How often the calling thread is asked depends on how fast the others are.
        if (!made) {
            EXPECT_TRUE(fails_with(made, error_code::cancelled));
        }
    }
}

TEST_P(static_build, is_asked_from_everywhere) {
    const auto hashes = random_hashes(30'000, 1);
    const auto f = k.build(hashes, {.false_positive_rate = 0.01}).value();
    std::atomic<std::size_t> found = 0;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                answers got(hashes.size());
                found += f.may_contain(hashes, got.span());
                for (const std::uint64_t hash : hashes) found += f.may_contain(hash);
            });
    }
    EXPECT_EQ(found, 8 * hashes.size());
}

TEST(cascade_build, gives_the_words_of_one_thread) {
    const auto listed = random_hashes(20'000, 1);
    const auto others = random_hashes(static_cast<std::size_t>(scaled_for_threads(1'000'000)) + 100'000, 2);
    const kind& cascade = kind_named("cascade", words_access::plain);
    EXPECT_TRUE(cascade.build_exactly(listed, others, {.threads = 1}).value() ==
                cascade.build_exactly(listed, others, {.threads = 4}).value());
}

} // namespace
} // namespace bouncer::test
