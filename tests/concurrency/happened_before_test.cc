// The contract of every atomic filter: an add that happens-before a query is seen by it, whatever makes the edge and
// whichever path the query takes.
#include "concurrency/threads.h"
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/detail/kernels.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

template <class F>
class happened_before : public ::testing::Test {};
TYPED_TEST_SUITE(happened_before, atomic_kinds_that<is_exact_about_presence>, kind_names);

using hash_span = std::span<const std::uint64_t>;

// The kernel of one instruction set for a filter's layout; null where the scalar code serves.
template <class F>
requires is_bit_filter<F>::value bouncer::detail::query_kernel
kernel_of(const F& f, const bouncer::detail::kernel_table& table) {
    using layout = typename F::layout_type;
    if constexpr (std::is_same_v<layout, bouncer::detail::blocked_layout>) {
        switch (f.params().form) {
        case block_form::lanes8: return table.lanes8;
        case block_form::lanes16: return table.lanes16;
        case block_form::sectors2: return table.sectors2[f.params().k / 2];
        case block_form::sectors4: return table.sectors4[f.params().k / 4];
        case block_form::any_k:
        case block_form::halves256:
        case block_form::halves128: return nullptr;
        }
        return nullptr;
    } else if constexpr (std::is_same_v<layout, bouncer::detail::register_layout>) {
        return table.registers[f.params().k];
    } else if constexpr (std::is_same_v<layout, bouncer::detail::split_block_layout>) {
        return table.split_block;
    }
    return nullptr;
}

// How many of these keys (at most 64) a bit filter misses, over the ways that other kinds do not have.
template <class F>
std::size_t missed_by_bits(const F& f, hash_span hashes) {
    std::size_t out = 0;
    std::array<bool, 64> answers;
    const auto view = f.view();
    for (const std::uint64_t hash : hashes) {
        out += !f.may_contain_acquire(hash);
        out += !view.may_contain(hash);
    }
    out += hashes.size() - view.may_contain(hashes, answers);
    using bouncer::detail::isa;
    for (const isa which : {isa::avx2, isa::avx512}) {
        const auto* table = bouncer::detail::kernels_of(which);
        const auto kernel = table != nullptr ? kernel_of(f, *table) : nullptr;
        if (kernel == nullptr) continue;
        const std::uint64_t blocks = f.layout().block_count();
        out +=
            hashes.size() - kernel(f.words().line(0), blocks, hashes.data(), hashes.size(), answers.data());
    }
    if constexpr (requires { f.layout().has_set(); }) {
        // The single-key tests of every instruction set, the scalar one too.
        for (const isa which : {isa::scalar, isa::avx2, isa::avx512}) {
            const auto* table = bouncer::detail::kernels_of(which);
            if (table == nullptr || !f.layout().has_set()) continue; // not lanes
            const bool one_line = f.params().form == block_form::lanes8;
            const auto covers = one_line ? table->lanes8_covers : table->lanes16_covers;
            for (const std::uint64_t hash : hashes)
                out += !covers(f.words().line(0) + f.layout().block_index(hash) * (one_line ? 8 : 16), hash);
        }
    }
    return out;
}

// How many of these keys (at most 64) a query misses, over all the ways there are to ask.
template <class F>
std::size_t missed(const F& f, hash_span hashes) {
    std::size_t out = 0;
    std::array<bool, 64> answers;
    for (const std::uint64_t hash : hashes) out += !f.may_contain(hash);
    out += hashes.size() - f.may_contain(hashes, answers);
    if constexpr (is_bit_filter<F>::value) out += missed_by_bits(f, hashes);
    return out;
}

// Adds key by key in changing ways.
template <class F>
void add_one(F& f, const std::uint64_t& hash, std::size_t i) {
    switch (i % 4) {
    case 0: f.add(hash); break;
    case 1: f.test_and_add(hash); break;
    case 2: f.add_batch({&hash, 1}); break;
    default:
        if constexpr (requires { f.add_release(hash); })
            f.add_release(hash);
        else
            f.add(hash);
    }
}

// Two writers, each with a counter it stores with release order after each add; readers that load a counter with
// acquire order must find every key below it: the last ones, which are hottest, and an older stretch.
TYPED_TEST(happened_before, by_a_released_counter) {
    constexpr unsigned writers = 2;
    constexpr unsigned readers = 2;
    const std::size_t count = scaled_for_threads(200'000);
    const std::array keys{random_hashes(count, 1), random_hashes(count, 1, count)};
    for (const auto& parameters : variants<TypeParam>(writers * count, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(parameters));
        auto f = TypeParam::create(parameters).value();
        std::array<std::atomic<std::size_t>, writers> added{};
        std::atomic<std::uint64_t> misses{0};
        std::atomic<std::uint64_t> asked{0};
        run_threads(writers + readers, [&](unsigned t) {
            if (t < writers) {
                for (std::size_t i = 0; i < count; ++i) {
                    add_one(f, keys[t][i], i);
                    added[t].store(i + 1, std::memory_order_release);
                }
                return;
            }
            const unsigned from = t - writers;
            const hash_span all = keys[from];
            std::size_t known = 0;
            for (std::uint64_t turn = 0; known < count; ++turn) {
                known = added[from].load(std::memory_order_acquire);
                const std::size_t recent = std::min<std::size_t>(known, 8);
                misses += missed(f, all.subspan(known - recent, recent));
                const std::size_t old = known < 64 ? 0 : random_hash(t, turn) % (known - 16);
                misses += missed(f, all.subspan(old, std::min<std::size_t>(known, 16)));
                asked.fetch_add(1, std::memory_order_relaxed);
            }
        });
        EXPECT_EQ(misses, 0u);
        EXPECT_GT(asked, 0u);
    }
}

TYPED_TEST(happened_before, by_the_start_and_the_join_of_a_thread) {
    for (const auto& parameters : variants<TypeParam>(1000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(parameters));
        auto f = TypeParam::create(parameters).value();
        for (std::uint64_t round = 0; round < scaled_for_threads(1000); ++round) {
            const auto hashes = random_hashes(2, 1, 2 * round);
            f.add(hashes[0]);
            std::size_t misses = 0;
            std::thread other([&] {
                misses = missed(f, hash_span(hashes).first(1));
                f.add(hashes[1]);
            });
            other.join();
            ASSERT_EQ(misses, 0u);
            ASSERT_EQ(missed(f, hashes), 0u);
        }
    }
}

// Every thread adds, and checks what others added, under one lock around its list of keys; the filter is used outside.
TYPED_TEST(happened_before, by_a_mutex) {
    constexpr unsigned threads = 4;
    const std::size_t count = scaled_for_threads(50'000);
    for (const auto& parameters : variants<TypeParam>(threads * count, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(parameters));
        auto f = TypeParam::create(parameters).value();
        std::mutex mutex;
        std::vector<std::uint64_t> known;
        std::atomic<std::uint64_t> misses{0};
        run_threads(threads, [&](unsigned t) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint64_t hash = random_hash(1, t * count + i);
                add_one(f, hash, i);
                std::uint64_t last = hash;
                {
                    const std::lock_guard held(mutex);
                    if (!known.empty()) last = known.back();
                    known.push_back(hash);
                }
                misses += missed(f, {&last, 1});
            }
        });
        EXPECT_EQ(misses, 0u);
        EXPECT_EQ(known.size(), threads * count);
    }
}

// add_release and may_contain_acquire alone make an edge: what was written before the add is there for whoever gets
// "maybe" because of it. Each message has an empty filter of its own, so that nothing else can be the cause.
template <class F>
class publishing : public ::testing::Test {};
TYPED_TEST_SUITE(publishing, atomic_kinds_that<is_bit_filter>, kind_names);

TYPED_TEST(publishing, by_add_release_and_may_contain_acquire) {
    constexpr std::size_t slots = 64;
    struct message {
        std::uint64_t text[4] = {}; // not atomic: without the edge this is a data race
    };
    for (const auto& parameters : variants<TypeParam>(1, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(parameters));
        std::vector<TypeParam> filters;
        for (std::size_t i = 0; i < slots; ++i) filters.push_back(TypeParam::create(parameters).value());
        spin_barrier together(2);
        std::vector<message> messages(slots);
        std::uint64_t wrong = 0;
        run_threads(2, [&](unsigned t) {
            for (std::uint64_t round = 1; round <= scaled_for_threads(2000); ++round) {
                together.wait();
                for (std::size_t i = 0; i < slots; ++i) {
                    const std::uint64_t hash = random_hash(1, round * slots + i);
                    if (t == 0) {
                        for (auto& word : messages[i].text) word = hash;
                        filters[i].add_release(hash);
                    } else {
                        while (!filters[i].may_contain_acquire(hash)) std::this_thread::yield();
                        for (const auto& word : messages[i].text) wrong += word != hash;
                    }
                }
                together.wait();
                if (t == 0)
                    for (auto& f : filters) f.clear();
            }
        });
        EXPECT_EQ(wrong, 0u);
    }
}

} // namespace
} // namespace bouncer::test
