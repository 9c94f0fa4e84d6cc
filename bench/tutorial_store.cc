// What a filter is for: lookups of keys that are not there, before a store that takes 50 us to say so.
#include "tutorial_support.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>

#include <algorithm>

namespace bench::tutorial {

namespace {

constexpr double store_ns = 50'000;

// Waits without sleeping: a sleep of 50 us takes 100 on a busy machine.
bool ask_store() {
    const double until = wall_ns() + store_ns;
    while (wall_ns() < until) {
    }
    return false;
}

} // namespace

void store_rows(sheet& rows) {
    row without = row_of("tutorial.store.without_filter", "store", "lookup", rows.keys());
    without.note = "every absent key costs the store's 50 us; wall clock";

    if (rows.wants(without.name)) {
        constexpr std::uint64_t asked = 500;
        rows.measure(without, asked, nullptr, [] {
            const double start = wall_ns();
            std::size_t found = 0;
            for (std::uint64_t i = 0; i < asked; ++i) found += ask_store();
            use(found);
            return wall_ns() - start;
        });
    }

    row with = row_of("tutorial.store.with_filter", "blocked_bloom", "lookup", rows.keys());
    with.note = "only false positives, 1 % of them, reach the store; wall clock";

    if (!rows.wants(with.name)) return;
    auto filter = bouncer::keyed<bouncer::plain_blocked_bloom>::create(
        {.keys = rows.keys(), .false_positive_rate = rate});
    if (!filter) return rows.unmeasured(with, filter.error().message);
    const text_keys present(0, rows.keys());
    const text_keys absent(rows.keys(), std::max<std::uint64_t>(100'000, rows.keys()));
    filter->add_batch(present.all());
    with.page_size = page_size_of(filter->filter().memory());
    with.bits_per_key = bits_per_key(filter->size_bytes(), rows.keys());
    with.fpr_promised = filter->filter().fpr_at(rows.keys());
    with.fpr_measured = rate_of([&](auto key) { return filter->may_contain(key); }, absent.all());
    const auto asked = absent.all().first(100'000);
    rows.measure(with, asked.size(), nullptr, [&] {
        const double start = wall_ns();
        std::size_t found = 0;
        for (const auto key : asked)
            if (filter->may_contain(key)) found += ask_store();
        use(found);
        return wall_ns() - start;
    });
}

} // namespace bench::tutorial
