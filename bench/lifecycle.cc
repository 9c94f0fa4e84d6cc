// What hot<F> adds to a query, alone and beside a thread that swaps; and the tail of queries during a rebuild.
#include "figure_support.h"
#include "histogram.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/hot.h>
#include <bouncer/rebuilder.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace bench {
namespace {

bouncer::atomic_blocked_bloom filled(std::uint64_t keys) {
    auto out = value_of(bouncer::atomic_blocked_bloom::create(
        bouncer::goal{.keys = keys, .false_positive_rate = usual_rate}));
    for (std::uint64_t first = 0; first < keys; first += million)
        out.add_batch(some_present(first, static_cast<std::size_t>(std::min(million, keys - first))));
    return out;
}

template <class F>
double ns_of_query(const F& filter, const std::vector<std::uint64_t>& queries) {
    std::size_t found = 0;
    const double ns = time_of([&] {
        for (const std::uint64_t hash : queries) found += filter.may_contain(hash);
    });
    __asm__ volatile("" : : "r"(found));
    return ns / static_cast<double>(queries.size());
}

// Swaps a view of the filter for another view of it, a thousand times a second, while work() runs: what a swap costs, not
// what the cold cache of another filter does.
template <class Work>
void beside_swaps(bouncer::hot<bouncer::blocked_bloom_view>& served,
                  const bouncer::atomic_blocked_bloom& filter, std::uint64_t& swaps, Work work) {
    std::atomic<bool> done = false;
    std::jthread swapper([&] {
        auto next = std::chrono::steady_clock::now();
        while (!done.load(std::memory_order_relaxed)) {
            check(served.swap(filter.view()));
            ++swaps;
            next += std::chrono::milliseconds(1);
            std::this_thread::sleep_until(next);
        }
    });
    work();
    done.store(true);
}

void hot_rows(const options& chosen, const figure_filter& wanted, figure_set& out) {
    if (!wanted("hot.query_ns") && !wanted("hot.query_ns_swapping")) return;
    const auto a = filled(million);
    const auto bare = a.view();
    bouncer::hot<bouncer::blocked_bloom_view> served(a.view());
    const auto queries = half_hits(million, 1'000'000);
    const unsigned rounds = std::min(chosen.repeat, 15u);
    const auto measure = [&](const std::string& name) {
        const two_times times = in_turns(
            rounds, [&] { return ns_of_query(served, queries); }, [&] { return ns_of_query(bare, queries); });
        out.values[name] = paired(times.first, times.second, [](double x, double y) { return x - y; });
        out.rows.push_back(figure_row(name, "blocked_bloom", million, times.first));
        out.rows.push_back(figure_row(name + "_bare", "blocked_bloom", million, times.second));
    };
    if (wanted("hot.query_ns")) measure("hot.query_ns");
    if (wanted("hot.query_ns_swapping")) {
        std::uint64_t swaps = 0;
        double wall = 0;
        beside_swaps(served, a, swaps, [&] { wall = wall_of([&] { measure("hot.query_ns_swapping"); }); });
        out.rows.back().note =
            std::to_string(static_cast<std::uint64_t>(static_cast<double>(swaps) / wall * 1e9)) + " swaps/s";
    }
}

// The 99th percentile of single queries through hot<F> while work() runs on another thread.
template <class Work>
double p99_beside(const bouncer::hot<bouncer::atomic_blocked_bloom>& served,
                  const std::vector<std::uint64_t>& queries, Work work) {
    histogram times;
    std::atomic<bool> done = false;
    std::jthread other([&] {
        work();
        done.store(true);
    });
    for (std::size_t i = 0; !done.load(std::memory_order_relaxed); i = i + 1 == queries.size() ? 0 : i + 1) {
        const double before = wall_ns();
        const bool found = served.may_contain(queries[i]);
        __asm__ volatile("" : : "r"(found));
        times.record(static_cast<std::uint64_t>(wall_ns() - before));
    }
    return static_cast<double>(times.percentile(0.99));
}

void rebuild_rows(const options& chosen, figure_set& out) {
    constexpr std::uint64_t keys = 10 * million;
    using filter = bouncer::atomic_blocked_bloom;
    bouncer::hot<filter> served(filled(keys));
    bouncer::rebuilder<filter> again(served);
    const auto plan = value_of(
        bouncer::rebuild_plan<filter>::of(bouncer::goal{.keys = keys, .false_positive_rate = usual_rate}));
    const auto queries = half_hits(keys, 1'000'000);
    const auto rebuild = [&] {
        value_of(again.rebuild(plan, [&](bouncer::rebuild_sink<filter>& sink) -> bouncer::result<void> {
            for (std::uint64_t first = 0; first < keys; first += 10'000)
                if (!sink.add_batch(some_present(first, 10'000))) break;
            return {};
        }));
    };
    // The same work on memory of its own: what any neighbour costs that fills a cache.
    const auto neighbour = [&] {
        auto own = value_of(filter::create(bouncer::goal{.keys = keys, .false_positive_rate = usual_rate}));
        for (std::uint64_t first = 0; first < keys; first += 10'000)
            own.add_batch(some_present(first, 10'000));
    };
    const two_times times = in_turns(
        std::min(chosen.repeat, 9u), [&] { return p99_beside(served, queries, rebuild); },
        [&] { return p99_beside(served, queries, neighbour); });
    out.values["rebuild.p99"] = paired_ratio(times.first, times.second);
    out.rows.push_back(figure_row("rebuild.p99", "blocked_bloom", keys, times.first));
    out.rows.push_back(figure_row("rebuild.p99_beside_neighbour", "blocked_bloom", keys, times.second));
}

} // namespace

figure_set lifecycle_figures(const options& chosen, const figure_filter& wanted) {
    figure_set out;
    hot_rows(chosen, wanted, out);
    if (wanted("rebuild.p99")) rebuild_rows(chosen, out);
    return out;
}

} // namespace bench
