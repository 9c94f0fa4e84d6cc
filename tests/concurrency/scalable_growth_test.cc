// Threads that add across growths: nothing is lost, queries see every add before them, and the chain is the one that a
// single thread would have made, but for which layer got a key.
#include "concurrency/threads.h"
#include "snapshot/streams.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/scalable.h>
#include <bouncer/snapshot.h>

#include <array>
#include <cmath>

namespace bouncer::test {
namespace {

using chain = atomic_scalable_bloom;

// Adds never wait for a layer: while the threads that make it have no processor, the others overfill the newest. That takes
// a machine with more to do than this test; then nothing can be said of rates, only that no add is lost.
bool grew_in_time(const chain& f) {
    bool in_time = true;
    for (const auto& layer : f.layers())
        in_time &= static_cast<double>(layer.keys) <= 1.05 * static_cast<double>(layer.capacity) + 200;
    return in_time;
}

// What must be true of a chain that has got these keys, whoever added them.
void expect_like_sequential(const chain& f, const std::vector<std::uint64_t>& keys) {
    auto alone = chain::create(f.params()).value();
    for (const std::uint64_t hash : keys) alone.add(hash);
    std::uint64_t missing = 0;
    for (const std::uint64_t hash : keys) missing += !f.may_contain(hash) + !alone.may_contain(hash);
    EXPECT_EQ(missing, 0u);
    EXPECT_EQ(f.growth_refused(), std::nullopt);
    const auto mine = f.layers();
    const auto theirs = alone.layers();
    const auto count = static_cast<double>(keys.size());
    EXPECT_LE(f.changing_adds(), keys.size());
    if (grew_in_time(f)) {
        EXPECT_TRUE(f.promise_holds());
        // Keys that are false positives when they come are not counted: fewer than the promised share.
        EXPECT_GE(static_cast<double>(f.changing_adds()),
                  count - f.promised_fpr() * count - 5 * std::sqrt(f.promised_fpr() * count) - 1);
        EXPECT_NEAR(f.approximate_size(), alone.approximate_size(), 0.02 * count + 50);
    }
    for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
        EXPECT_EQ(mine[i].capacity, theirs[i].capacity);
        EXPECT_DOUBLE_EQ(mine[i].promised_rate, theirs[i].promised_rate);
        if (i + 1 < mine.size()) {
            EXPECT_GE(mine[i].keys, mine[i].capacity) << "grew early at layer " << i;
        }
    }
    EXPECT_LE(mine.size(), theirs.size());
}

TEST(scalable_growth_threads, no_add_is_lost) {
    for (const unsigned threads : {2u, 4u}) {
        const std::size_t each = static_cast<std::size_t>(scaled_for_threads(200'000)) + 5'000;
        auto f = chain::create({.keys = 5'000, .false_positive_rate = 0.01}).value();
        std::atomic<std::uint64_t> unseen{0};
        run_threads(threads, [&](unsigned t) {
            for (std::size_t i = 0; i < each; ++i) {
                const std::uint64_t hash = random_hash(91, t * each + i);
                f.add(hash);
                unseen += !f.may_contain(hash);
            }
        });
        EXPECT_EQ(unseen, 0u);
        EXPECT_GT(f.layer_count(), 1u);
        expect_like_sequential(f, random_hashes(threads * each, 91));
    }
}

TEST(scalable_growth_threads, batches_and_single_adds_together) {
    const std::size_t each = static_cast<std::size_t>(scaled_for_threads(150'000)) + 5'000;
    auto f = chain::create({.keys = 5'000, .false_positive_rate = 0.01}).value();
    run_threads(3, [&](unsigned t) {
        const auto keys = random_hashes(each, 92, t * each);
        if (t == 0) {
            for (const std::uint64_t hash : keys) f.add(hash);
            return;
        }
        answers there(777);
        for (std::size_t i = 0; i < each; i += 777) {
            const auto now = std::span(keys).subspan(i, std::min<std::size_t>(777, each - i));
            if (t == 1)
                f.add_batch(now);
            else
                f.test_and_add(now, there.span());
        }
    });
    expect_like_sequential(f, random_hashes(3 * each, 92));
}

// The same keys from all threads: at least one is told "new", and the chain grows for the keys, not for the calls.
TEST(scalable_growth_threads, the_same_keys_from_all) {
    constexpr unsigned threads = 3;
    const auto keys = random_hashes(static_cast<std::size_t>(scaled_for_threads(60'000)) + 5'000, 93);
    auto f = chain::create({.keys = 2'000, .false_positive_rate = 0.01}).value();
    std::atomic<std::uint64_t> told_new{0};
    run_threads(threads, [&](unsigned) {
        std::uint64_t mine = 0;
        for (const std::uint64_t hash : keys) mine += !f.test_and_add(hash);
        told_new += mine;
    });
    if (grew_in_time(f)) {
        const auto count = static_cast<double>(keys.size());
        EXPECT_GE(static_cast<double>(told_new),
                  count * (1 - f.promised_fpr()) - 5 * std::sqrt(f.promised_fpr() * count) - 1);
    }
    EXPECT_EQ(f.changing_adds(), told_new);
    std::uint64_t missing = 0;
    for (const std::uint64_t hash : keys) missing += !f.may_contain(hash);
    EXPECT_EQ(missing, 0u);
}

// Queries, reports, copies, saves and prepared layers while two threads add.
TEST(scalable_growth_threads, readers_meanwhile) {
    constexpr unsigned adders = 2;
    const std::size_t each = static_cast<std::size_t>(scaled_for_threads(100'000)) + 10'000;
    auto f = chain::create({.keys = 2'000, .false_positive_rate = 0.01}).value();
    std::array<std::atomic<std::size_t>, adders> added{};
    std::atomic<unsigned> finished{0};
    std::atomic<std::uint64_t> missed{0};
    run_threads(adders + 2, [&](unsigned t) {
        if (t < adders) {
            for (std::size_t i = 0; i < each; ++i) {
                f.add(random_hash(94, t * each + i));
                added[t].store(i + 1, std::memory_order_release);
            }
            ++finished;
            return;
        }
        for (std::uint64_t round = 0; finished < adders || round < 2; ++round) {
            std::array<std::size_t, adders> before{};
            for (unsigned a = 0; a < adders; ++a) before[a] = added[a].load(std::memory_order_acquire);
            const auto all_in = [&](const auto& g, std::size_t step) {
                for (unsigned a = 0; a < adders; ++a)
                    for (std::size_t i = 0; i < before[a]; i += step)
                        missed += !g.may_contain(random_hash(94, a * each + i));
            };
            if (t == adders) { // asks
                for (unsigned a = 0; a < adders; ++a) {
                    const std::size_t few = std::min<std::size_t>(before[a], 2'000);
                    const auto last = random_hashes(few, 94, a * each + before[a] - few);
                    answers there(few);
                    missed += few - f.may_contain(last, there.span());
                }
                static_cast<void>(f.prepare_growth());
                static_cast<void>(f.size_bytes());
                static_cast<void>(f.growth_refused());
                continue;
            }
            std::vector<std::byte> bytes;
            if (!save(f, into(bytes))) ++missed;
            const auto loaded = load<plain_scalable_bloom>(out_of(bytes, 1 << 20));
            if (!loaded) {
                ++missed;
                continue;
            }
            all_in(*loaded, 1);
            all_in(f.clone<plain_words>().value(), 3);
            all_in(f.fold_newest<plain_words>().value(), 3);
            all_in(f.view(), 3);
            static_cast<void>(f.layers());
        }
    });
    EXPECT_EQ(missed, 0u);
    expect_like_sequential(f, random_hashes(adders * each, 94));
}

} // namespace
} // namespace bouncer::test
