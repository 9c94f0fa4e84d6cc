// The ladder that texts climb: one mutex, a shared mutex, atomic words, shards; all cores at 80 % writes.
#include "tutorial_support.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/locked.h>
#include <bouncer/sharded.h>

#include <mutex>
#include <shared_mutex>
#include <utility>

namespace bench::tutorial {

namespace {

template <class Filter>
void rung(sheet& rows, const char* name, bouncer::prefer prefer, const char* note) {
    row made = row_of(std::string("tutorial.ladder.") + name, "blocked_bloom", "mix_80_20", rows.keys());
    made.threads = rows.threads();
    made.hit_ratio = 1;

    if (!rows.wants(made.name)) return;
    auto filter = Filter::create({.keys = rows.keys(), .false_positive_rate = rate, .prefer = prefer});
    if (!filter) return rows.unmeasured(made, filter.error().message);
    const auto fresh = hashes(0, rows.keys());
    const auto absent = hashes(rows.keys(), rows.keys());
    for (const std::uint64_t hash : fresh) filter->add(hash);
    made.bits_per_key = bits_per_key(filter->size_bytes(), rows.keys());
    made.fpr_promised = rate;
    made.fpr_measured = rate_of([&](std::uint64_t hash) { return filter->may_contain(hash); }, absent);
    made.note =
        std::string(note) + "; four fresh adds, one query of an earlier key; wall clock times threads";
    const std::uint64_t each = rows.keys() / rows.threads() / 4 * 4;
    rows.measure(
        made, each / 4 * 5 * rows.threads(), [&] { filter->clear(); },
        [&] {
            return timed_together(rows.threads(), [&](unsigned thread) {
                const std::uint64_t* const mine = fresh.data() + thread * each;
                std::size_t found = 0;
                for (std::uint64_t i = 0; i < each; i += 4) {
                    for (std::uint64_t j = i; j < i + 4; ++j) filter->add(mine[j]);
                    found += filter->may_contain(mine[i / 2]);
                }
                use(found);
            });
        });
}

} // namespace

void lock_rows(sheet& rows) {
    using bouncer::atomic_blocked_bloom;
    using bouncer::plain_blocked_bloom;
    using bouncer::prefer;
    rung<bouncer::locked<plain_blocked_bloom, std::mutex>>(rows, "mutex", prefer::reads, "a lock per call");
    rung<bouncer::locked<plain_blocked_bloom, std::shared_mutex>>(
        rows, "shared_mutex", prefer::reads,
        "a lock per call, which queries share: one more counter to fight for");
    rung<bouncer::sharded<plain_blocked_bloom>>(rows, "sharded", prefer::reads,
                                                "four shards per core, a mutex each");
    rung<atomic_blocked_bloom>(rows, "atomic", prefer::reads, "no lock");
    rung<atomic_blocked_bloom>(rows, "atomic_for_adds", prefer::adds, "no lock, the layout for adds");
}

} // namespace bench::tutorial
