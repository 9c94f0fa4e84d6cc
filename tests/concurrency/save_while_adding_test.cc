// A save takes no lock: threads add and ask while it runs, and what was added before it began is in the file.
#include "concurrency/threads.h"
#include "snapshot/files.h"
#include "snapshot/streams.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

class save_while_adding : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, save_while_adding,
                         atomic_subjects_that([](const facts& is) { return is.incremental && is.exact; }),
                         subject_names);

// Thread 0 saves again and again, thread 1 asks, the others add and count what they have added. The counts that thread 0
// reads before a save say what must be in its file.
TEST_P(save_while_adding, has_every_add_that_happened_before_it) {
    constexpr unsigned adders = 2;
    const auto count = static_cast<std::size_t>(scaled_for_threads(200'000));
    const scratch_folder folder;
    auto f = k.create(goal{.keys = adders * count, .false_positive_rate = 0.01}).value();
    std::array<std::atomic<std::size_t>, adders> added{};
    std::atomic<unsigned> finished{0};
    std::uint64_t missed = 0;
    std::uint64_t missed_in_memory = 0;
    std::uint64_t damaged = 0;
    run_threads(adders + 2, [&](unsigned t) {
        if (t == 0) {
            for (unsigned round = 0; finished.load() < adders || round < 3; ++round) {
                std::array<std::size_t, adders> before{};
                for (unsigned a = 0; a < adders; ++a) before[a] = added[a].load(std::memory_order_acquire);
                std::vector<std::byte> bytes;
                const bool to_file = round % 2 == 0;
                const save_options options{.compress = round % 3 == 2, .durable = false};
                if (!(to_file ? save(f, folder / "f", options) : save(f, into(bytes), options))) {
                    ++damaged;
                    return;
                }
                const auto got = to_file ? k.load(folder / "f") : k.load(out_of(bytes, 1 << 20));
                if (!got) {
                    ++damaged;
                    return;
                }
                for (unsigned a = 0; a < adders; ++a)
                    for (std::size_t i = 0; i < before[a]; ++i)
                        missed += !got->may_contain(random_hash(1, a * count + i));
            }
            return;
        }
        if (t == 1) {
            for (std::uint64_t round = 0; finished.load() < adders; ++round) {
                const auto a = static_cast<std::size_t>(round % adders);
                const std::size_t known = added[a].load(std::memory_order_acquire);
                if (known != 0) missed_in_memory += !f.may_contain(random_hash(1, a * count + known - 1));
            }
            return;
        }
        const unsigned a = t - 2;
        for (std::size_t i = 0; i < count; ++i) {
            f.add(random_hash(1, a * count + i));
            added[a].store(i + 1, std::memory_order_release);
        }
        ++finished;
    });
    EXPECT_EQ(damaged, 0u) << "a file whose checksums do not fit";
    EXPECT_EQ(missed, 0u);
    EXPECT_EQ(missed_in_memory, 0u);

    // A save writes nothing to the filter, and the last one has everything.
    auto expected = k.create(f.params()).value();
    expected.add_batch(random_hashes(adders * count, 1));
    if (k.is.commuting) {
        EXPECT_TRUE(f == expected);
    }
    save(f, folder / "f", {.durable = false}).value();
    EXPECT_TRUE(k.load(folder / "f").value() == f);
    EXPECT_EQ(folder.entries(), 1u);
}

// Several saves of one filter to one path, while it is added to.
TEST_P(save_while_adding, several_saves_at_once) {
    const scratch_folder folder;
    const std::string path = folder / "f";
    auto f = k.create(goal{.keys = 100'000, .false_positive_rate = 0.01}).value();
    std::atomic<unsigned> failed{0};
    run_threads(3, [&](unsigned t) {
        for (std::uint64_t i = 0; i < 10 + scaled_for_threads(100); ++i) {
            if (t == 0) {
                f.add_batch(random_hashes(1'000, 2, i * 1'000));
            } else if (!save(f, path, {.durable = false}) || !verify(path)) {
                ++failed;
            }
        }
    });
    EXPECT_EQ(failed, 0u);
    EXPECT_EQ(folder.entries(), 1u);
}

} // namespace
} // namespace bouncer::test
