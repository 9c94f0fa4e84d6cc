// Pages: what the first touch of fresh memory costs, with and without prefault, and small against huge pages.
#include "tutorial_filled.h"
#include "tutorial_support.h"

#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace bench::tutorial {

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

long page_faults() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

// The first adds to a new filter. Without prefault each that meets a new page pays for the kernel's zeroing of it, which
// thread CPU time counts.
void first_touch_row(sheet& rows, bool huge_pages, bool prefault) {
    constexpr std::uint64_t bytes = 256 * mib;
    constexpr std::uint64_t adds = 200'000;
    row made = row_of(std::string("tutorial.first_touch.") + (huge_pages ? "2M." : "4K.") +
                          (prefault ? "prefault" : "lazy"),
                      "blocked_bloom", "add", 0);
    made.page_size = huge_pages ? "2M" : "4K";

    if (!rows.wants(made.name)) return;
    if (bytes > rows.max_bytes())
        return rows.unmeasured(made, "256 MiB are above the largest filter allowed");
    const auto fresh = hashes(0, adds);
    std::optional<bouncer::atomic_blocked_bloom> filter;
    double created_ns = 0;
    long faults = 0;
    const auto create = [&] {
        filter.reset();
        const stopwatch watch;
        auto next = bouncer::atomic_blocked_bloom::create(
            blocked_size(bytes), {.memory = {.huge_pages = huge_pages, .prefault = prefault}});
        created_ns = watch.elapsed_ns();
        if (next) filter.emplace(std::move(*next));
    };
    create();
    if (!filter) return rows.unmeasured(made, "no memory");
    made.keys = adds;
    const long before = page_faults();
    for (const std::uint64_t hash : fresh) filter->add(hash);
    faults = page_faults() - before;
    made.note = "the first 200 000 adds to 256 MiB: " + std::to_string(faults) + " page faults, after " +
                std::to_string(static_cast<long>(created_ns / 1e6)) + " ms to create it";
    rows.measure(made, adds, create, [&] {
        return timed([&] {
            for (const std::uint64_t hash : fresh) filter->add(hash);
        });
    });
}

void page_size_rows(sheet& rows, bool huge_pages, std::uint64_t bytes) {
    const std::string prefix =
        std::string("tutorial.pages.") + size_name(bytes) + (huge_pages ? ".2M." : ".4K.");
    const bool wants_loop = rows.wants(prefix + "loop");
    const bool wants_batch = rows.wants(prefix + "batch");
    if (!wants_loop && !wants_batch) return;
    row made = row_of(prefix + "loop", "blocked_bloom", "query", 0);

    if (bytes > rows.max_bytes()) return rows.unmeasured(made, "above the largest filter allowed");
    const auto filter = filled<bouncer::atomic_blocked_bloom>(blocked_size(bytes), answers::absent,
                                                              {.huge_pages = huge_pages});
    if (!filter) return rows.unmeasured(made, filter.error().message);
    made.keys = filter->capacity(0.01);
    made.page_size = page_size_of(filter->memory());
    made.bits_per_key = bits_per_key(filter->size_bytes(), made.keys);
    made.note = "absent keys, page tables warm";
    // Enough of them that the page tables, 2 MiB for each GiB, are in the cache as in a program that runs for long.
    const auto asked = hashes(0, 2'000'000);
    const auto answers = std::make_unique<bool[]>(asked.size());
    use(filter->may_contain(asked, std::span(answers.get(), asked.size())));
    if (wants_loop)
        rows.measure(made, asked.size(), nullptr, [&] {
            return timed([&] {
                std::size_t found = 0;
                for (const std::uint64_t hash : asked) found += filter->may_contain(hash);
                use(found);
            });
        });
    made.name = prefix + "batch";
    made.op = "query_batch";
    if (wants_batch)
        rows.measure(made, asked.size(), nullptr, [&] {
            return timed([&] { use(filter->may_contain(asked, std::span(answers.get(), asked.size()))); });
        });
}

} // namespace

void page_rows(sheet& rows) {
    for (const bool huge_pages : {false, true})
        for (const bool prefault : {false, true}) first_touch_row(rows, huge_pages, prefault);
    for (const std::uint64_t bytes : {128 * mib, 1024 * mib})
        for (const bool huge_pages : {false, true}) page_size_rows(rows, huge_pages, bytes);
}

} // namespace bench::tutorial
