// Two mappings of one file, as two processes have them, used by threads at once.
#include "concurrency/threads.h"
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

class shared_file_threads : public kind_test {
  protected:
    shared_file_threads() {
        save(k.create(goal{.keys = 2 * count_, .false_positive_rate = 0.01}).value(), path_,
             {.durable = false})
            .value();
    }
    std::size_t count_ = static_cast<std::size_t>(scaled_for_threads(200'000));
    scratch_folder folder_;
    std::string path_ = folder_ / "f";
};
INSTANTIATE_TEST_SUITE_P(all, shared_file_threads, atomic_subjects_that([](const facts& is) {
                             return is.exact && is.incremental && is.shareable;
                         }),
                         subject_names);

TEST_P(shared_file_threads, adds_through_one_are_seen_through_the_other) {
    auto a = k.open_shared(path_).value();
    auto b = k.open_shared(path_).value();
    const auto v = k.map(path_).value();
    const std::size_t count = count_;
    std::array<std::atomic<std::size_t>, 2> added{};
    std::atomic<std::uint64_t> missed{0};
    run_threads(4, [&](unsigned t) {
        const std::size_t who = t % 2;
        auto& mine = who == 0 ? a : b;
        if (t < 2) {
            for (std::size_t i = 0; i < count; ++i) {
                mine->add(random_hash(1, who * count + i));
                added[who].store(i + 1, std::memory_order_release);
                if (i % 5'000 == 0 && !mine.sync()) ++missed;
            }
            return;
        }
        // What the other mapping got.
        for (std::size_t known = 0; known < count;) {
            known = added[1 - who].load(std::memory_order_acquire);
            if (known == 0) continue;
            const std::uint64_t hash = random_hash(1, (1 - who) * count + known - 1);
            missed += !mine->may_contain(hash);
            missed += !v.may_contain(hash);
        }
    });
    EXPECT_EQ(missed, 0u);
    auto expected = k.create(a->params()).value();
    expected.add_batch(random_hashes(2 * count, 1));
    if (k.is.commuting) {
        EXPECT_TRUE(*a == expected);
    }
    EXPECT_TRUE(*b == *a);
    EXPECT_TRUE(v == *a);
    EXPECT_TRUE(k.load(path_).value() == *a);
}

TEST_P(shared_file_threads, save_and_load_while_it_is_live) {
    auto shared = k.open_shared(path_).value();
    std::atomic<std::size_t> added{0};
    std::atomic<bool> done{false};
    std::uint64_t missed = 0;
    std::uint64_t failed = 0;
    run_threads(2, [&](unsigned t) {
        if (t == 0) {
            for (std::size_t i = 0; i < count_; ++i) {
                shared->add(random_hash(1, i));
                added.store(i + 1, std::memory_order_release);
            }
            done = true;
            return;
        }
        for (unsigned round = 0; !done || round < 3; ++round) {
            const std::size_t before = added.load(std::memory_order_acquire);
            const std::string copy = folder_ / "copy";
            if (!save(*shared, copy, {.durable = false}) || !verify(copy)) ++failed;
            auto got = k.load(round % 2 == 0 ? copy : path_);
            if (!got) {
                ++failed;
                continue;
            }
            for (std::size_t i = 0; i < before; ++i) missed += !got->may_contain(random_hash(1, i));
        }
    });
    EXPECT_EQ(failed, 0u);
    EXPECT_EQ(missed, 0u);
}

TEST_P(shared_file_threads, seal_waits_for_the_last_mapping) {
    auto a = k.open_shared(path_).value();
    {
        auto b = k.open_shared(path_).value();
        b->add(random_hash(1, 1));
        EXPECT_TRUE(fails_with(a.seal(), error_code::io, path_));
        EXPECT_TRUE(fails_with(b.seal(), error_code::io, path_));
    }
    a.seal().value();
    EXPECT_EQ(verify(path_).value().state, file_state::sealed);
    // A sealed one that is still mapped can be opened again, and is live then.
    auto c = k.open_shared(path_).value();
    EXPECT_EQ(verify(path_).value().state, file_state::live);
    EXPECT_TRUE(c->may_contain(random_hash(1, 1)));
}

} // namespace
} // namespace bouncer::test
