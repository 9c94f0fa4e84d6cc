// Threads that write and read the same filter.
#include "chunks.h"
#include "clock.h"
#include "operations.h"
#include "team.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace bench {
namespace {

constexpr std::size_t turn = 512;

// Half adds of fresh keys, half queries, in turns of 512, from an empty filter to a full one. An operation is an add
// or a query.
template <class Add, class Ask>
running start_mixed(const trial& of, Add add, Ask ask) {
    const auto& keys = of.pools.present(of.what.keys);
    const auto& pool = of.pools.queries(of.what.keys, of.what.hits);
    subject& filter = of.filter;
    const unsigned threads = of.what.threads;
    return {[&keys, &pool, &filter, threads, add, ask](unsigned round) {
        filter.clear();
        const std::size_t each = keys.size() / threads;
        const double ns = timed_team(
            threads, 2 * each, [](unsigned) {},
            [&](unsigned thread) {
                const auto mine = std::span(keys).subspan(thread * each, each);
                std::size_t asked = (round * threads + thread) * (pool.size() / 8 + turn);
                for (std::size_t first = 0; first < each; first += turn) {
                    const std::size_t count = std::min(turn, each - first);
                    add(filter, mine.subspan(first, count));
                    asked = asked % (pool.size() - turn);
                    ask(filter, std::span(pool).subspan(asked, count));
                    asked += turn;
                }
            });
        add(filter, std::span(keys).subspan(threads * each));
        return ns;
    }};
}

running start_mix(const trial& of) {
    return start_mixed(
        of, [](subject& filter, std::span<const std::uint64_t> hashes) { filter.add(hashes); },
        [](const subject& filter, std::span<const std::uint64_t> hashes) { return filter.query(hashes); });
}
running start_mix_batch(const trial& of) {
    return start_mixed(of, add_in_batches, query_in_batches);
}

// Batches of queries on this thread while another adds one and the same key for ever, or keeps its core busy without
// touching the filter: the pair to compare. A chunk during which the other thread got no core is done again.
running start_beside(const trial& of, bool adds) {
    const auto& pool = of.pools.queries(of.what.keys, of.what.hits);
    subject& filter = of.filter;
    return {[&pool, &filter, adds](unsigned round) {
        std::atomic<std::uint64_t> turns{0};
        std::atomic<bool> stop{false};
        std::thread other([&] {
            const std::vector<std::uint64_t> hot(64,
                                                 scrambled(0)); // present: nothing changes but the traffic
            while (!stop.load(std::memory_order_relaxed)) {
                if (adds) filter.add(hot);
                turns.fetch_add(1, std::memory_order_relaxed);
            }
        });
        while (turns.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
        const chunk part = chunk_of(pool, filter.size_bytes(), round, 0, 2);
        double taken = 0;
        for (int attempt = 0; attempt < 5; ++attempt) {
            query_in_batches(filter, part.warm);
            touch(part.timed);
            const std::uint64_t before = turns.load(std::memory_order_relaxed);
            const stopwatch watch;
            query_in_batches(filter, part.timed);
            taken = watch.elapsed_ns();
            if (turns.load(std::memory_order_relaxed) - before >= part.timed.size() / 1000) break;
        }
        stop = true;
        other.join();
        return taken / static_cast<double>(part.timed.size());
    }};
}
running start_hot(const trial& of) {
    return start_beside(of, true);
}
running start_busy(const trial& of) {
    return start_beside(of, false);
}

} // namespace

std::span<const operation_type> shared_operations() {
    static constexpr operation_type list[] = {
        {"mix", can_query | can_add, true, true, start_mix},
        {"mix_batch", can_query_batch | can_add_batch, true, true, start_mix_batch},
        {"query_batch_hot", can_query_batch | can_add | can_share, true, false, start_hot},
        {"query_batch_busy", can_query_batch | can_add | can_share, true, false, start_busy},
    };
    return list;
}

} // namespace bench
