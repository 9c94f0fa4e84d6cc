// No false negative at any moment while adds, queries, swaps and rebuilds race; and the bits at the end are those of a
// run without races.
#include <bouncer/any_hasher.h>
#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/rebuilder.h>
#include <bouncer/windowed_bloom.h>

#include "concurrency/threads.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace bouncer::test {
namespace {

// The source of truth: a log of keys. A key is in it before its add is called.
class key_log {
  public:
    explicit key_log(std::size_t most) : keys_(most) {}

    void append(std::uint64_t key) {
        const std::size_t at = taken_.fetch_add(1, std::memory_order_relaxed);
        keys_[at].store(key, std::memory_order_release);
    }
    // Those that were appended before the call, and perhaps some that are being appended.
    template <class Visit>
    void each(Visit visit) const {
        const std::size_t end = std::min(taken_.load(std::memory_order_acquire), keys_.size());
        for (std::size_t i = 0; i < end; ++i) {
            const std::uint64_t key = keys_[i].load(std::memory_order_acquire);
            if (key != 0 && !visit(key)) return;
        }
    }

  private:
    std::vector<std::atomic<std::uint64_t>> keys_;
    std::atomic<std::size_t> taken_{0};
};

using set_type = keyed<atomic_blocked_bloom>;

// Two adders, which look for all their keys again and again; one thread that rebuilds with a fresh seed each time and
// cancels some of them; and one that swaps in a filter that has every key there will ever be.
TEST(rebuild_race, no_key_is_ever_missed) {
    const std::uint64_t each = scaled_for_threads(8000);
    constexpr unsigned adders = 2;
    const goal wanted{.keys = each * adders + 1000, .false_positive_rate = 0.01};
    key_log truth(each * adders);
    hot<set_type> target(set_type::create(wanted).value());
    rebuilder<set_type> builder(target);
    std::atomic<unsigned> adding{adders};
    std::atomic<std::uint64_t> missed{0};
    std::uint64_t complete = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t swapped = 0;
    const auto rebuild_once = [&](std::uint64_t seed, bool cancel) {
        const auto done = builder.rebuild(rebuild_plan<set_type>::of(wanted, xxh3{seed}).value(),
                                          [&](auto& sink) -> result<void> {
                                              truth.each([&](std::uint64_t key) { return sink.add(key); });
                                              if (cancel) builder.cancel();
                                              return {};
                                          });
        if (done) ++complete;
        if (!done && done.error().code == error_code::cancelled) ++cancelled;
    };
    run_threads(adders + 2, [&](unsigned t) {
        if (t < adders) {
            for (std::uint64_t i = 0; i < each; ++i) {
                const std::uint64_t key = random_hash(t + 1, i);
                truth.append(key);
                if (i % 2 == 0)
                    target.add(key);
                else
                    target.test_and_add(key);
                missed += !target.may_contain(key);
                missed += !target.may_contain(random_hash(t + 1, i / 2));
            }
            --adding;
        } else if (t == adders) {
            for (std::uint64_t seed = 1; adding != 0 || seed < 4; ++seed) rebuild_once(seed, seed % 4 == 3);
        } else {
            for (; adding != 0 || swapped == 0; ++swapped) {
                auto all = set_type::create(wanted).value();
                for (unsigned a = 0; a < adders; ++a)
                    for (std::uint64_t i = 0; i < each; ++i) all.add(random_hash(a + 1, i));
                target.swap(std::move(all)).value();
            }
        }
    });
    EXPECT_EQ(missed, 0u);
    EXPECT_GT(complete, 0u);
    EXPECT_GT(cancelled, 0u);
    EXPECT_GT(swapped, 0u);

    rebuild_once(1'000'000, false);
    auto alone = set_type::create(wanted, xxh3{1'000'000}).value();
    for (unsigned a = 0; a < adders; ++a)
        for (std::uint64_t i = 0; i < each; ++i) alone.add(random_hash(a + 1, i));
    const auto held = target.read();
    EXPECT_TRUE(*held == alone);
}

// The hash changes while others add and ask: each version of the filter brings its own, so no key is looked for by the
// hash of another version, and an add during a rebuild is hashed by both.
TEST(rebuild_race, no_key_is_missed_while_the_hash_changes) {
    using switched = keyed<atomic_blocked_bloom, any_hasher>;
    const std::uint64_t each = scaled_for_threads(6000);
    constexpr unsigned adders = 2;
    const goal wanted{.keys = each * adders + 1000, .false_positive_rate = 0.01};
    const secret_key secret = secret_key::from_hex("000102030405060708090a0b0c0d0e0f").value();
    const std::array<any_hasher, 4> in_turn{siphash13(secret), murmur3{5}, siphash24(secret), xxh3{}};
    key_log truth(each * adders);
    hot<switched> target(switched::create(wanted).value());
    rebuilder<switched> builder(target);
    std::atomic<unsigned> adding{adders};
    std::atomic<std::uint64_t> missed{0};
    const auto rebuild_with = [&](const any_hasher& hasher) {
        builder
            .rebuild(rebuild_plan<switched>::of(wanted, hasher).value(),
                     [&](auto& sink) -> result<void> {
                         truth.each([&](std::uint64_t key) { return sink.add(key); });
                         return {};
                     })
            .value();
        EXPECT_EQ(target.read()->hash(), hasher.spec());
    };
    run_threads(adders + 1, [&](unsigned t) {
        if (t == adders) {
            for (std::size_t i = 0; adding != 0 || i < in_turn.size(); ++i)
                rebuild_with(in_turn[i % in_turn.size()]);
            return;
        }
        std::array<std::uint64_t, 3> batch;
        std::array<bool, 3> found;
        for (std::uint64_t i = 0; i < each; ++i) {
            const std::uint64_t key = random_hash(t + 1, i);
            truth.append(key);
            if (i % 2 == 0) {
                target.add(key);
            } else {
                target.add_batch(std::span(&key, 1));
            }
            missed += !target.may_contain(key);
            batch = {key, random_hash(t + 1, i / 2), random_hash(t + 1, i / 3)};
            missed += batch.size() - target.may_contain(batch, found);
        }
        --adding;
    });
    EXPECT_EQ(missed, 0u);
    rebuild_with(in_turn[0]);
    auto alone = keyed<atomic_blocked_bloom, siphash13>::create(wanted, siphash13(secret)).value();
    truth.each([&](std::uint64_t key) { return alone.add(key), true; });
    const auto held = target.read();
    EXPECT_TRUE(held->filter() == alone.filter());
}

// Without swaps, which hide nothing: the bits after the last rebuild that raced the adds are exactly those of all keys.
TEST(rebuild_race, the_end_is_that_of_a_sequential_run) {
    const std::uint64_t each = scaled_for_threads(5000);
    constexpr unsigned adders = 3;
    const goal wanted{.keys = each * adders + 1000, .false_positive_rate = 0.01};
    for (int round = 0; round < 3; ++round) {
        key_log truth(each * adders);
        hot<atomic_blocked_bloom> target(atomic_blocked_bloom::create(wanted).value());
        rebuilder<atomic_blocked_bloom> builder(target);
        std::atomic<std::uint64_t> missed{0};
        std::atomic<unsigned> adding{adders};
        std::uint64_t complete = 0;
        run_threads(adders + 1, [&](unsigned t) {
            if (t == adders) {
                const auto plan = rebuild_plan<atomic_blocked_bloom>::of(wanted).value();
                while (adding != 0 || complete == 0) {
                    builder
                        .rebuild(plan,
                                 [&](auto& sink) -> result<void> {
                                     truth.each([&](std::uint64_t key) { return sink.add(key); });
                                     return {};
                                 })
                        .value();
                    ++complete;
                }
                return;
            }
            std::vector<std::uint64_t> batch;
            for (std::uint64_t i = 0; i < each; ++i) {
                const std::uint64_t key = random_hash(t + 1, i);
                truth.append(key);
                if (i % 3 == 0) {
                    target.add(key);
                } else {
                    batch.assign(1, key);
                    target.add_batch(batch);
                }
                missed += !target.may_contain(key);
                missed += !target.may_contain(random_hash(t + 1, i * 7 / 8));
            }
            --adding;
        });
        EXPECT_EQ(missed, 0u);
        auto alone = atomic_blocked_bloom::create(wanted).value();
        for (unsigned a = 0; a < adders; ++a)
            for (std::uint64_t i = 0; i < each; ++i) alone.add(random_hash(a + 1, i));
        const auto held = target.read();
        EXPECT_TRUE(*held == alone);
    }
}

// A window that is rotated and rebuilt while two threads add: a key that was added during a rebuild, so to both filters,
// is found for its whole window, whichever of them serves.
TEST(rebuild_race, a_window_loses_no_key_of_its_steps) {
    using filter = atomic_windowed_bloom;
    const goal wanted{.keys = 4'000, .false_positive_rate = 0.01};
    hot<filter> target(filter::create(wanted).value());
    rebuilder<filter> builder(target);
    constexpr unsigned adders = 2;
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> missed{0};
    std::array<std::atomic<std::uint64_t>, adders> asked{};
    std::atomic<std::uint64_t> ended{0}; // rebuilds, and a window after each
    const std::uint64_t window = target.read()->window_steps();
    const auto epoch = [&] { return target.read()->epoch(); };
    run_threads(adders + 2, [&](unsigned t) {
        if (t < adders) {
            for (std::uint64_t i = 0; !done; ++i) {
                const std::uint64_t hash = random_hash(t + 1, i);
                const std::uint64_t rebuilds = ended;
                if (!target.rebuilding()) {
                    std::this_thread::yield();
                    continue;
                }
                const std::uint64_t before = epoch();
                target.add(hash);
                while (!done) {
                    const bool found = target.may_contain(hash);
                    // The rebuild after this one does not know the key: its source is another.
                    if (epoch() - before > window || ended != rebuilds) break;
                    ++asked[t];
                    missed += !found;
                }
            }
        } else if (t == adders) {
            const auto plan = rebuild_plan<filter>::of(wanted).value();
            for (std::uint64_t i = 0; i < scaled_for_threads(40) || asked[0] == 0 || asked[1] == 0; ++i) {
                const auto one = builder.rebuild(plan,
                                                 [&](auto& sink) -> result<void> {
                                                     for (std::uint64_t k = 0; k < 500; ++k)
                                                         sink.add(random_hash(9, k));
                                                     return {};
                                                 },
                                                 {.accept_more_keys = true});
                if (!one) ADD_FAILURE() << one.error().message;
                for (const std::uint64_t over = epoch() + window; epoch() <= over;) std::this_thread::yield();
                ++ended;
            }
            done = true;
        } else {
            for (std::uint64_t next = 1; !done; ++next) {
                EXPECT_TRUE(target.rotate_to(next));
                std::this_thread::yield();
            }
        }
    });
    EXPECT_EQ(missed, 0u);
}

// A cancel from elsewhere at any moment leaves one filter or the other, complete.
TEST(rebuild_race, cancel_at_any_moment) {
    const auto keys = random_hashes(scaled_for_threads(4000) + 64, 1);
    const goal wanted{.keys = keys.size(), .false_positive_rate = 0.01};
    hot<atomic_blocked_bloom> target(atomic_blocked_bloom::create(wanted).value());
    target.add_batch(keys);
    rebuilder<atomic_blocked_bloom> builder(target);
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> missed{0};
    run_threads(3, [&](unsigned t) {
        if (t == 0) {
            const auto plan = rebuild_plan<atomic_blocked_bloom>::of(wanted).value();
            for (int i = 0; i < 100; ++i) {
                const auto ended = builder.rebuild(plan, [&](auto& sink) -> result<void> {
                    sink.add_batch(keys);
                    return {};
                });
                if (!ended && ended.error().code != error_code::cancelled)
                    ADD_FAILURE() << ended.error().message;
            }
            done = true;
        } else if (t == 1) {
            while (!done) {
                builder.cancel();
                std::this_thread::yield();
            }
        } else {
            for (std::size_t i = 0; !done; i = (i + 1) % keys.size()) missed += !target.may_contain(keys[i]);
        }
    });
    EXPECT_EQ(missed, 0u);
    EXPECT_FALSE(target.rebuilding());
    EXPECT_TRUE(target.wait_for_readers());
}

} // namespace
} // namespace bouncer::test
