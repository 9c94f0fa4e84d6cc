// Tail latency: every single call timed by itself, in a log-linear histogram. The cost of an empty measurement is
// taken off; what remains below it reads as 0.
#include "chunks.h"
#include "clock.h"
#include "histogram.h"
#include "operations.h"

#include <algorithm>
#include <memory>
#include <thread>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace bench {
namespace {

// Ticks of the steadiest clock that costs least; 20 ns where there is only the system's.
std::uint64_t ticks() {
#if defined(__x86_64__)
    _mm_lfence();
    const std::uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
#else
    return static_cast<std::uint64_t>(wall_ns());
#endif
}

struct tick_scale {
    double ns_per_tick = 1;
    std::uint64_t empty = 0; // ticks of measuring nothing

    tick_scale() {
        const double wall = wall_ns();
        const std::uint64_t first = ticks();
        while (wall_ns() - wall < 20e6) {
        }
        ns_per_tick = (wall_ns() - wall) / static_cast<double>(ticks() - first);
        empty = ~std::uint64_t{0};
        for (int i = 0; i < 10000; ++i) {
            const std::uint64_t before = ticks();
            empty = std::min(empty, ticks() - before);
        }
    }
};

// Tenths of a nanosecond, so that slots below 3 ns are fine enough.
constexpr double tenths = 10;

template <class Act>
double record_all(std::span<const std::uint64_t> hashes, histogram& into, Act act) {
    static const tick_scale scale;
    std::uint64_t sum = 0;
    for (const std::uint64_t& hash : hashes) {
        const std::uint64_t before = ticks();
        act(std::span(&hash, 1));
        const std::uint64_t taken = ticks() - before;
        const std::uint64_t net = taken > scale.empty ? taken - scale.empty : 0;
        sum += net;
        into.record(static_cast<std::uint64_t>(static_cast<double>(net) * scale.ns_per_tick * tenths));
    }
    return static_cast<double>(sum) * scale.ns_per_tick / static_cast<double>(hashes.size());
}

template <class Warm, class Act>
running start_latency(const trial& of, Warm warm, Act act) {
    const auto& pool = of.pools.queries(of.what.keys, of.what.hits);
    subject& filter = of.filter;
    const unsigned threads = of.what.threads;
    const auto all = std::make_shared<histogram>();
    return {[&pool, &filter, threads, warm, act, all](unsigned round) {
                std::vector<histogram> parts(threads);
                std::vector<double> ns(threads);
                const auto member = [&](unsigned thread) {
                    const chunk part = chunk_of(pool, filter.size_bytes(), round, thread, threads);
                    const auto timed = part.timed.first(std::min(part.timed.size(), std::size_t{1} << 18));
                    warm(filter, part.warm);
                    ns[thread] = record_all(timed, parts[thread],
                                            [&](std::span<const std::uint64_t> one) { act(filter, one); });
                };
                std::vector<std::thread> others;
                for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(member, thread);
                member(0);
                for (std::thread& other : others) other.join();
                double sum = 0;
                for (unsigned thread = 0; thread < threads; ++thread) {
                    all->merge(parts[thread]);
                    sum += ns[thread];
                }
                return sum / threads;
            },
            [all](row& out) {
                for (const double fraction : {0.5, 0.99, 0.999, 0.9999})
                    out.percentiles.push_back(static_cast<double>(all->percentile(fraction)) / tenths);
            }};
}

running start_latency_query(const trial& of) {
    const auto ask = [](const subject& filter, std::span<const std::uint64_t> hashes) {
        const std::size_t found = filter.query(hashes);
        __asm__ volatile("" : : "r"(found));
    };
    return start_latency(of, ask, ask);
}
// Of keys that are there and keys that are not, as the hit ratio says; the filter is filled anew afterwards.
running start_latency_add(const trial& of) {
    running made = start_latency(
        of, [](const subject& filter, std::span<const std::uint64_t> hashes) { filter.query(hashes); },
        [](subject& filter, std::span<const std::uint64_t> hashes) { filter.add(hashes); });
    auto measure = std::move(made.round);
    made.round = [measure, &filter = of.filter, &type = of.type, keys = of.what.keys](unsigned round) {
        const double ns = measure(round);
        filter.clear();
        fill(filter, type, keys);
        return ns;
    };
    return made;
}

} // namespace

std::span<const operation_type> latency_operations() {
    static constexpr operation_type list[] = {
        {"latency_query", can_query, true, false, start_latency_query},
        {"latency_add", can_add, true, true, start_latency_add},
    };
    return list;
}

} // namespace bench
