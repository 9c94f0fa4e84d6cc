// Adds. Fresh ones fill the filter from empty to its design count, because adding set bits again hides the cost.
#include "chunks.h"
#include "clock.h"
#include "operations.h"
#include "team.h"

namespace bench {
namespace {

void add_single(subject& filter, std::span<const std::uint64_t> hashes) {
    filter.add(hashes);
}

template <class Add>
running start_fresh(const trial& of, Add add) {
    const auto& keys = of.pools.present(of.what.keys);
    subject& filter = of.filter;
    const unsigned threads = of.what.threads;
    return {[&keys, &filter, threads, add](unsigned) {
        filter.clear();
        const std::size_t each = keys.size() / threads;
        const double ns = timed_team(
            threads, each, [](unsigned) {},
            [&](unsigned thread) { add(filter, std::span(keys).subspan(thread * each, each)); });
        add(filter, std::span(keys).subspan(threads * each)); // what does not divide
        return ns;
    }};
}

template <class Add>
running start_again(const trial& of, Add add) {
    const auto& pool = of.pools.queries(of.what.keys, 1);
    subject& filter = of.filter;
    const unsigned threads = of.what.threads;
    return {[&pool, &filter, threads, add](unsigned round) {
        const auto part = [&](unsigned thread) {
            return chunk_of(pool, filter.size_bytes(), round, thread, threads);
        };
        return timed_team(
            threads, part(0).timed.size(),
            [&](unsigned thread) {
                add(filter, part(thread).warm);
                touch(part(thread).timed);
            },
            [&](unsigned thread) { add(filter, part(thread).timed); });
    }};
}

running start_add(const trial& of) {
    return start_fresh(of, add_single);
}
running start_add_batch(const trial& of) {
    return start_fresh(of, add_in_batches);
}
running start_add_again(const trial& of) {
    return start_again(of, add_single);
}
running start_add_again_batch(const trial& of) {
    return start_again(of, add_in_batches);
}

// The subject starts the threads itself, so no thread's own clock sees all: the CPU time of the process for one
// thread, the wall clock for more. ns are as of a team: threads x wall / keys.
running start_add_all(const trial& of) {
    const auto& keys = of.pools.present(of.what.keys);
    subject& filter = of.filter;
    const unsigned threads = of.what.threads;
    return {[&keys, &filter, threads](unsigned) {
        filter.clear();
        const double wall = wall_ns();
        const double cpu = process_cpu_ns();
        filter.add_all(keys, threads);
        const double taken = threads == 1 ? process_cpu_ns() - cpu : wall_ns() - wall;
        return threads * taken / static_cast<double>(keys.size());
    }};
}

} // namespace

std::span<const operation_type> add_operations() {
    static constexpr operation_type list[] = {
        {"add", can_add, false, true, start_add},
        {"add_batch", can_add_batch, false, true, start_add_batch},
        {"add_again", can_add, false, true, start_add_again},
        {"add_again_batch", can_add_batch, false, true, start_add_again_batch},
        {"add_all", can_add_all, false, false, start_add_all},
    };
    return list;
}

} // namespace bench
