// Merges into a chain while others add, ask, save and merge: nothing is lost, nothing that a reader holds goes away, and
// the chain promises no more than it may.
#include "concurrency/threads.h"
#include "snapshot/streams.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/scalable.h>
#include <bouncer/snapshot.h>

#include <array>
#include <string>

namespace bouncer::test {
namespace {

using chain = atomic_scalable_bloom;

constexpr scalable_parameters chosen{.first_keys = 1'000, .rate = 0.01};

chain chain_of(std::span<const std::uint64_t> hashes) {
    auto f = chain::create(chosen).value();
    f.add_batch(hashes);
    return f;
}

template <class F>
std::uint64_t missing_of(const F& f, std::span<const std::uint64_t> hashes) {
    answers there(hashes.size());
    return hashes.size() - f.may_contain(hashes, there.span());
}

// What the layers may spend together is the promise: whoever added, grew or merged meanwhile.
void expect_within_budget(const chain& f) {
    double spent = 0;
    for (const auto& layer : f.layers()) spent += layer.promised_rate;
    EXPECT_LT(spent, f.promised_fpr());
    EXPECT_LE(f.layer_count(), chain::layers_most);
    EXPECT_TRUE(detail::storage_access::words<chain>(
        detail::storage_access::stored(f).fields)); // so a file of it opens
}

// Both layers of `other` are full or of other parameters, so they are copied: the case that once took a layer out of the
// chain under the readers' feet.
TEST(scalable_merge_threads, queries_meanwhile) {
    const auto mine = random_hashes(990, 101);
    const auto theirs = random_hashes(3'000, 102);
    const auto before = chain_of(mine);
    const auto other = chain_of(theirs);
    const auto rounds = static_cast<unsigned>(scaled_for_threads(60)) + 10;
    for (unsigned round = 0; round < rounds; ++round) {
        auto f = before.clone().value();
        std::atomic<bool> merged{false};
        std::atomic<std::uint64_t> missed{0};
        run_threads(2, [&](unsigned t) {
            if (t == 0) {
                EXPECT_TRUE(f.merge(other));
                merged.store(true, std::memory_order_release);
                return;
            }
            bool last = false;
            for (std::uint64_t i = 0; !last; ++i) {
                last = merged.load(std::memory_order_acquire);
                missed += !f.may_contain(mine[i % mine.size()]);
                if (last) missed += missing_of(f, theirs);
            }
        });
        ASSERT_EQ(missed, 0u);
        ASSERT_GT(f.layer_count(), 1u);
    }
}

// Two threads add across growths, two merge chains of their own, one asks, copies and saves.
TEST(scalable_merge_threads, adds_growth_merges_and_readers) {
    constexpr unsigned adders = 2;
    constexpr unsigned mergers = 2;
    constexpr unsigned parts = 8; // chains that a merger merges, each of `part` keys
    constexpr std::size_t part = 700;
    const std::size_t each = static_cast<std::size_t>(scaled_for_threads(60'000)) + 5'000;
    auto f = chain::create(chosen).value();
    std::array<std::atomic<std::size_t>, adders> added{};
    std::array<std::array<std::atomic<bool>, parts>, mergers> merged{};
    std::atomic<unsigned> finished{0};
    std::atomic<std::uint64_t> missed{0};
    const auto keys_of_part = [&](unsigned m, unsigned p) { return random_hashes(part, 104 + m, p * part); };
    run_threads(adders + mergers + 1, [&](unsigned t) {
        if (t < adders) {
            for (std::size_t i = 0; i < each; ++i) {
                const std::uint64_t hash = random_hash(103, t * each + i);
                f.add(hash);
                missed += !f.may_contain(hash);
                added[t].store(i + 1, std::memory_order_release);
            }
            ++finished;
            return;
        }
        if (t < adders + mergers) {
            const unsigned m = t - adders;
            for (unsigned p = 0; p < parts; ++p) {
                const auto keys = keys_of_part(m, p);
                const auto ok = f.merge(chain_of(keys));
                if (!ok) {
                    EXPECT_EQ(ok.error().code, error_code::full) << ok.error().message;
                }
                if (ok) missed += missing_of(f, keys);
                merged[m][p].store(ok.has_value(), std::memory_order_release);
            }
            ++finished;
            return;
        }
        for (std::uint64_t round = 0; finished < adders + mergers || round < 2; ++round) {
            std::vector<std::uint64_t> before;
            for (unsigned a = 0; a < adders; ++a) {
                const std::size_t count = added[a].load(std::memory_order_acquire);
                for (std::size_t i = 0; i < count; i += 3) before.push_back(random_hash(103, a * each + i));
            }
            for (unsigned m = 0; m < mergers; ++m)
                for (unsigned p = 0; p < parts; ++p)
                    if (merged[m][p].load(std::memory_order_acquire)) {
                        const auto keys = keys_of_part(m, p);
                        before.insert(before.end(), keys.begin(), keys.end());
                    }
            std::vector<std::byte> bytes;
            if (!save(f, into(bytes))) ++missed;
            const auto loaded = load<plain_scalable_bloom>(out_of(bytes, 1 << 20));
            EXPECT_TRUE(loaded) << loaded.error().message;
            if (loaded) missed += missing_of(*loaded, before);
            missed += missing_of(f, before);
            missed += missing_of(f.clone<plain_words>().value(), before);
            missed += missing_of(f.fold_newest<plain_words>().value(), before);
            missed += missing_of(f.view(), before);
            static_cast<void>(f.prepare_growth());
            static_cast<void>(f.growth_refused());
            static_cast<void>(f.layers());
            static_cast<void>(f.fpr_at(each));
            static_cast<void>(f.size_bytes());
        }
    });
    EXPECT_EQ(missed, 0u);

    // The same by one thread: every key that it holds is here too, and neither claims much that nobody gave it.
    auto alone = chain::create(chosen).value();
    auto all = random_hashes(adders * each, 103);
    for (unsigned m = 0; m < mergers; ++m)
        for (unsigned p = 0; p < parts; ++p)
            if (merged[m][p]) {
                const auto keys = keys_of_part(m, p);
                EXPECT_TRUE(alone.merge(chain_of(keys))) << m << " " << p;
                all.insert(all.end(), keys.begin(), keys.end());
            }
    alone.add_batch(random_hashes(adders * each, 103));
    EXPECT_EQ(missing_of(alone, all), 0u);
    EXPECT_EQ(missing_of(f, all), 0u);
    EXPECT_TRUE(merged[0][0] || merged[1][0]); // the first has all of the budget
    expect_within_budget(f);
    expect_within_budget(alone);
    EXPECT_EQ(f.growth_refused(), std::nullopt);
    const auto count = static_cast<double>(all.size());
    EXPECT_NEAR(f.approximate_size(), count, 0.05 * count);
    EXPECT_LE(static_cast<double>(f.changing_adds()), 1.05 * count + 2'000);
    bool in_time = true; // else the machine had more to do than this test: see scalable_growth_test.cc
    for (const auto& layer : f.layers())
        in_time &= static_cast<double>(layer.keys) <= 1.05 * static_cast<double>(layer.capacity) + 200;
    if (in_time) {
        EXPECT_TRUE(f.promise_holds());
    }
}

// Two chains that merge into each other, and each into itself, while both get keys.
TEST(scalable_merge_threads, crosswise_and_into_itself) {
    constexpr std::size_t each = 1'500;
    const auto first = chain_of(random_hashes(each, 110));
    const auto second = chain_of(random_hashes(each, 111));
    const auto rounds = static_cast<unsigned>(scaled_for_threads(20)) + 2;
    for (unsigned round = 0; round < rounds; ++round) {
        std::array<chain, 2> both{first.clone().value(), second.clone().value()};
        std::atomic<std::uint64_t> missed{0};
        run_threads(4, [&](unsigned t) {
            chain& mine = both[t % 2];
            const chain& other = both[1 - t % 2];
            if (t >= 2) {
                for (std::size_t i = 0; i < 500; ++i) mine.add(random_hash(112 + t, i));
                EXPECT_TRUE(mine.merge(mine));
                return;
            }
            EXPECT_TRUE(mine.merge(other));
            missed += missing_of(mine, random_hashes(each, 111 - t % 2));
        });
        EXPECT_EQ(missed, 0u);
        for (unsigned f = 0; f < 2; ++f) {
            EXPECT_EQ(missing_of(both[f], random_hashes(each, 110)), 0u);
            EXPECT_EQ(missing_of(both[f], random_hashes(each, 111)), 0u);
            EXPECT_EQ(missing_of(both[f], random_hashes(500, 114 + f)), 0u);
            expect_within_budget(both[f]);
        }
    }
}

// Three chains in a ring, each half full: a layer has room for one other, not for two. So a merge that took the other chain's
// layer while a third is merged into that one would overfill its own, and break the limit that it was given.
TEST(scalable_merge_threads, in_a_ring_keep_their_forecast) {
    constexpr scalable_parameters ring{.first_keys = 300'000, .rate = 0.01};
    constexpr double limit = 0.002; // the first layer promises 0.0015
    const std::size_t half = ring.first_keys * 48 / 100;
    std::vector<chain> before;
    for (unsigned f = 0; f < 3; ++f) {
        before.push_back(chain::create(ring).value());
        before.back().add_batch(random_hashes(half, 117 + f));
    }
    const auto rounds = static_cast<unsigned>(scaled_for_threads(60)) + 4;
    for (unsigned round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
        std::vector<chain> all;
        for (const chain& each : before) all.push_back(each.clone().value());
        std::array<result<double>, 3> rates{0, 0, 0};
        run_threads(3, [&](unsigned t) { rates[t] = all[t].merge_if_within(all[(t + 1) % 3], limit); });
        unsigned merged = 0;
        for (unsigned f = 0; f < 3; ++f) {
            EXPECT_EQ(missing_of(all[f], random_hashes(half, 117 + f)), 0u);
            for (const auto& layer : all[f].layers())
                EXPECT_LE(layer.expected_fpr, 1.05 * layer.promised_rate) << "round " << round;
            if (!rates[f]) continue;
            ++merged;
            EXPECT_LE(*rates[f], limit);
            EXPECT_EQ(missing_of(all[f], random_hashes(half, 117 + (f + 1) % 3)), 0u);
        }
        EXPECT_GE(merged, 1u); // the first has room
    }
}

// Merges that read one chain overlap all the time; a merge into that chain gets its turn all the same.
TEST(scalable_merge_threads, into_a_chain_that_others_read_ends) {
    constexpr scalable_parameters large{.first_keys = 300'000, .rate = 0.01};
    const auto added = random_hashes(1'000, 132);
    auto hub = chain::create(large).value();
    hub.add_batch(random_hashes(large.first_keys / 2, 131));
    auto more = chain::create(large).value();
    more.add_batch(added);
    constexpr unsigned readers = 8;
    std::atomic<unsigned> begun{0};
    std::atomic<bool> ended{false};
    run_threads(readers + 1, [&](unsigned t) {
        if (t == readers) {
            while (begun.load() < readers) std::this_thread::yield();
            EXPECT_TRUE(hub.merge(more));
            ended.store(true);
            return;
        }
        auto own = chain::create(large).value();
        do {
            EXPECT_TRUE(own.merge(hub));
            begun.fetch_add(1);
        } while (!ended.load());
    });
    EXPECT_EQ(missing_of(hub, added), 0u);
}

// A layer that is published while a merge into itself looks is the chain's own too: no copy of it, and nothing counted twice.
TEST(scalable_merge_threads, into_itself_during_growth_does_nothing) {
    constexpr scalable_parameters equal{
        .first_keys = 5'000, .rate = 0.01, .tightening = 0.95, .growth_small = 1, .growth = 1};
    const auto layers = static_cast<std::size_t>(scaled_for_threads(30)) + 4;
    auto f = chain::create(equal).value();
    std::atomic<bool> added{false};
    std::atomic<unsigned> merges{0};
    run_threads(2, [&](unsigned t) {
        if (t == 0) {
            for (std::size_t i = 0; i < layers * equal.first_keys; ++i) f.add(random_hash(116, i));
            added.store(true, std::memory_order_release);
            return;
        }
        do {
            EXPECT_TRUE(f.merge(f));
            ++merges;
        } while (!added.load(std::memory_order_acquire));
    });
    EXPECT_GT(merges, 0u);
    EXPECT_GT(f.layer_count(), 2u);
    EXPECT_LE(f.layer_count(), layers + 1);
    EXPECT_LE(f.changing_adds(), layers * equal.first_keys);
    double rate = 0.01 * (1 - equal.tightening);
    for (const auto& layer : f.layers()) { // a copy would come first, and have a rate and capacity of its own
        EXPECT_EQ(layer.capacity, equal.first_keys);
        EXPECT_NEAR(layer.promised_rate, rate, 1e-9);
        rate *= equal.tightening;
    }
}

} // namespace
} // namespace bouncer::test
