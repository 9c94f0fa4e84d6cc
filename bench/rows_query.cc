// Queries of a full filter: one call after the other, in batches, and each waiting for the one before.
#include "chunks.h"
#include "operations.h"
#include "team.h"

namespace bench {
namespace {

template <class Ask>
running start_query(const trial& of, Ask ask) {
    const auto& pool = of.pools.queries(of.what.keys, of.what.hits);
    const subject& filter = of.filter;
    const unsigned threads = of.what.threads;
    return {[&pool, &filter, threads, ask](unsigned round) {
        const auto part = [&](unsigned thread) {
            return chunk_of(pool, filter.size_bytes(), round, thread, threads);
        };
        return timed_team(
            threads, part(0).timed.size(),
            [&](unsigned thread) {
                ask(filter, part(thread).warm);
                touch(part(thread).timed);
            },
            [&](unsigned thread) { ask(filter, part(thread).timed); });
    }};
}

running start_single(const trial& of) {
    return start_query(of, [](const subject& filter, std::span<const std::uint64_t> hashes) {
        return filter.query(hashes);
    });
}
running start_batch(const trial& of) {
    return start_query(of, query_in_batches);
}
running start_dependent(const trial& of) {
    return start_query(of, [](const subject& filter, std::span<const std::uint64_t> hashes) {
        return filter.query_dependent(hashes);
    });
}

} // namespace

std::span<const operation_type> query_operations() {
    static constexpr operation_type list[] = {
        {"query", can_query, true, false, start_single},
        {"query_batch", can_query_batch, true, false, start_batch},
        {"query_dependent", can_query, true, false, start_dependent},
    };
    return list;
}

} // namespace bench
