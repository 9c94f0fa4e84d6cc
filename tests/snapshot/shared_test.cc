// One file, several processes.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/snapshot.h>

#include <sched.h>

#include <atomic>

namespace bouncer::test {
namespace {

class shared_by_processes : public kind_test {
  protected:
    scratch_folder folder_;
    std::string path_ = folder_ / "shared";
};
INSTANTIATE_TEST_SUITE_P(all, shared_by_processes,
                         atomic_subjects_that([](const facts& is) { return is.shareable && is.commuting; }),
                         subject_names);

// Disjoint keys from several processes at once, one by one and in batches: the words of one process that adds all.
TEST_P(shared_by_processes, end_with_the_words_of_one) {
    constexpr std::size_t processes = 4;
    constexpr std::size_t each = 20'000;
    auto expected = k.create(goal{.keys = processes * each, .false_positive_rate = 0.05}).value();
    save(expected, path_, {.durable = false}).value();
    shared_value<std::atomic<unsigned>> ready;
    std::vector<child> adders;
    for (std::size_t p = 0; p < processes; ++p)
        adders.emplace_back([&, p] {
            auto shared = k.open_shared(path_);
            if (!shared) return 1;
            const auto hashes = random_hashes(each, 1, p * each);
            ++*ready;
            while (ready->load() < processes) ::sched_yield();
            const std::span<const std::uint64_t> all(hashes);
            for (std::size_t i = 0; i < each; i += 100) {
                if (i % 200 == 0) {
                    for (const std::uint64_t hash : all.subspan(i, 100)) (*shared)->add(hash);
                } else {
                    (*shared)->add_batch(all.subspan(i, 100));
                }
            }
            return 0;
        });
    for (child& one : adders) EXPECT_EQ(one.wait(), 0);
    expected.add_batch(random_hashes(processes * each, 1));
    auto shared = k.open_shared(path_).value();
    EXPECT_TRUE(*shared == expected);
    shared.seal().value();
    EXPECT_EQ(verify(path_).value().state, file_state::sealed);
    EXPECT_TRUE(k.load(path_).value() == expected);
}

class shared_file : public ::testing::Test {
  protected:
    const kind& k = atomic_bloom_kind();
    scratch_folder folder_;
    std::string path_ = folder_ / "shared";
};

// Processes that open a sealed file at once, each of which adds as soon as it can: whoever still checks the checksums
// must not take another's keys for damage.
TEST_F(shared_file, opened_by_many_at_once) {
    save(filled_of_bytes(k, 8 * chunk_size), path_, {.durable = false}).value();
    for (int round = 0; round < 10; ++round) {
        std::vector<child> all;
        for (std::uint64_t p = 0; p < 4; ++p)
            all.emplace_back([&, p] {
                auto shared = k.open_shared(path_, verification::eager);
                if (!shared) return shared.error().code == error_code::corrupt ? 2 : 1;
                for (std::uint64_t i = 0; i < 1000; ++i) (*shared)->add(random_hash(20 + p, i));
                return 0;
            });
        for (child& each : all) EXPECT_EQ(each.wait(), 0) << "2: takes adds for damage";
        auto shared = k.open_shared(path_).value();
        shared.seal().value();
    }
    EXPECT_EQ(verify(path_).value().state, file_state::sealed);
}

// Whoever reads meanwhile gets a whole filter, or is told that the file changed under his hands; never "corrupt".
TEST_F(shared_file, load_and_verify_while_others_open_add_and_seal) {
    save(filled_of_bytes(k, 2 * chunk_size), path_, {.durable = false}).value();
    shared_value<std::atomic<bool>> stop;
    child adder([&] {
        for (std::uint64_t i = 0; !stop->load(); ++i) {
            auto shared = k.open_shared(path_, verification::lazy);
            if (!shared) return 1;
            for (std::uint64_t key = 0; key < 1'000; ++key) (*shared)->add(random_hash(5, i * 1'000 + key));
            if (!shared->seal()) return 2;
        }
        return 0;
    });
    const auto changed = [](const failure& why) {
        return why.code == error_code::io && why.message.find("changed") != std::string::npos;
    };
    int whole = 0;
    for (int i = 0; i < 300; ++i) {
        const auto info = verify(path_);
        ASSERT_TRUE(info.has_value() || changed(info.error())) << info.error().message;
        const auto loaded = k.other().load(path_);
        ASSERT_TRUE(loaded.has_value() || changed(loaded.error())) << loaded.error().message;
        if (!loaded) continue;
        ++whole;
        ASSERT_TRUE(loaded->may_contain(random_hash(1, 0)));
    }
    stop->store(true);
    EXPECT_EQ(adder.wait(), 0);
    EXPECT_GT(whole, 0);
    EXPECT_EQ(verify(path_).value().state, file_state::sealed);
}

// The footer was written but "sealed" did not reach the disk: the caller may go on adding, so the file must stay live.
TEST_F(shared_file, stays_live_when_the_last_step_of_seal_fails) {
    save(filled_of_bytes(k, chunk_size), path_).value();
    child sealer([&] {
        auto shared = k.open_shared(path_);
        if (!shared || !deny(SYS_msync, EIO)) return 1;
        const auto sealed = shared->seal();
        if (sealed || sealed.error().code != error_code::io) return 2;
        (*shared)->add(random_hash(11, 11));
        const auto synced = shared->sync();
        if (synced || synced.error().message.find("earlier") == std::string::npos) return 3;
        return 0;
    });
    EXPECT_EQ(sealer.wait(), 0);
    EXPECT_EQ(verify(path_).value().state, file_state::live);
    EXPECT_TRUE(k.other().load(path_).value().may_contain(random_hash(11, 11)));
}

TEST_F(shared_file, is_not_replaced_by_a_save) {
    const auto filter = filled_of_bytes(k, chunk_size);
    save(filter, path_).value();
    {
        auto shared = k.open_shared(path_).value();
        shared->add(random_hash(9, 9));
        EXPECT_TRUE(fails_with(save(*shared, path_), error_code::io, path_, "open_shared"));
        EXPECT_TRUE(fails_with(merge_files({path_}, path_), error_code::io, path_));
        shared.seal().value();
    }
    EXPECT_TRUE(k.other().load(path_).value().may_contain(random_hash(9, 9)));
    EXPECT_TRUE(save(filter, path_).has_value());
}

// Words that are not changed by atomic operations would lose adds of other processes; a view has none.
static_assert(detail::shareable<atomic_bloom>);
static_assert(!detail::shareable<plain_bloom> && !detail::shareable<bloom_view>);
template <class F>
concept opens_shared = requires(const std::string& path) {
    open_shared<F>(path);
};
static_assert(opens_shared<atomic_bloom> && opens_shared<keyed<atomic_bloom>>);
static_assert(!opens_shared<plain_bloom> && !opens_shared<keyed<plain_bloom>> &&
              !opens_shared<keyed<bloom_view>>);

TEST_F(shared_file, seal_is_refused_while_another_process_has_it_open) {
    save(filled_of_bytes(k, chunk_size), path_).value();
    shared_value<std::atomic<int>> stage;
    child other([&] {
        auto shared = k.open_shared(path_);
        if (!shared) return 1;
        (*shared)->add(random_hash(7, 7));
        stage->store(1);
        while (stage->load() != 2) ::sched_yield();
        return 0;
    });
    while (stage->load() != 1) ::sched_yield();
    auto mine = k.open_shared(path_).value();
    EXPECT_TRUE(mine->may_contain(random_hash(7, 7)));
    EXPECT_TRUE(fails_with(mine.seal(), error_code::io, path_, "open"));
    EXPECT_EQ(verify(path_).value().state, file_state::live);
    mine->add(random_hash(7, 8)); // goes on
    EXPECT_TRUE(fails_with(mine.seal(), error_code::io, path_));
    stage->store(2);
    EXPECT_EQ(other.wait(), 0);
    EXPECT_TRUE(k.open_shared(path_).has_value()); // what is refused keeps nobody out
    mine.seal().value();
    EXPECT_EQ(verify(path_).value().state, file_state::sealed);
    EXPECT_TRUE(k.open_shared(path_).has_value()); // nor does what succeeded, while the filter is still there
    const auto loaded = k.other().load(path_).value();
    EXPECT_TRUE(loaded.may_contain(random_hash(7, 7)) && loaded.may_contain(random_hash(7, 8)));
}

TEST_F(shared_file, what_one_process_adds_another_sees_at_once) {
    const kind& blocked = kind_named("blocked_bloom", words_access::atomic);
    save(blocked.create(goal{.keys = 10'000, .false_positive_rate = 1e-6}).value(), path_).value();
    auto mine = blocked.open_shared(path_).value();
    const auto reader = blocked.map(path_).value();
    shared_value<std::atomic<std::uint64_t>> count;
    child other([&] {
        auto shared = blocked.open_shared(path_);
        if (!shared) return 1;
        for (std::uint64_t i = 0; i < 10'000; ++i) {
            (*shared)->add(random_hash(8, i));
            count->store(i + 1);
        }
        return 0;
    });
    for (std::uint64_t known = 0; known < 10'000;) {
        const std::uint64_t now = count->load();
        for (; known < now; ++known) {
            ASSERT_TRUE(mine->may_contain(random_hash(8, known)));
            ASSERT_TRUE(reader.may_contain(random_hash(8, known))) << "through a read-only mapping";
        }
        ::sched_yield();
    }
    EXPECT_EQ(other.wait(), 0);
}

TEST_F(shared_file, an_unsealed_one_opens_again_with_all_keys) {
    save(k.create(goal{.keys = 1'000, .false_positive_rate = 0.01}).value(), path_).value();
    for (std::uint64_t i = 0; i < 10; ++i) {
        auto shared = k.open_shared(path_).value();
        shared->add(random_hash(9, i));
        for (std::uint64_t j = 0; j <= i; ++j) EXPECT_TRUE(shared->may_contain(random_hash(9, j)));
    }
    EXPECT_EQ(verify(path_).value().state, file_state::live);
}

} // namespace
} // namespace bouncer::test
