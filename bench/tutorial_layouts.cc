// Flat against blocked at 100 MB, and the latency of one query by the size of the filter.
#include "tutorial_filled.h"
#include "tutorial_support.h"

#include <memory>

namespace bench::tutorial {

namespace {

constexpr std::uint64_t hundred_mb = std::uint64_t{100} << 20;
constexpr std::uint64_t asked_per_round = 200'000;

// Every round has keys of its own, or the lines of the round before would still be in the cache.
class rounds_of_hashes {
  public:
    explicit rounds_of_hashes(unsigned repeat) : all_(hashes(0, asked_per_round * repeat)) {}
    std::span<const std::uint64_t> next() {
        const auto round = std::span<const std::uint64_t>(all_).subspan(at_, asked_per_round);
        at_ = (at_ + asked_per_round) % all_.size();
        return round;
    }

  private:
    std::vector<std::uint64_t> all_;
    std::size_t at_ = 0;
};

template <class Filter>
void one_at_a_time(sheet& rows, const row& made, const Filter& filter) {
    rounds_of_hashes asked(rows.repeat());
    rows.measure(made, asked_per_round, nullptr, [&] {
        const auto round = asked.next();
        return timed([&] {
            std::size_t found = 0;
            for (const std::uint64_t hash : round) {
                found += filter.may_contain(hash);
                wait_for_all_loads();
            }
            use(found);
        });
    });
}

template <class Filter>
void in_a_loop(sheet& rows, const row& made, const Filter& filter) {
    rounds_of_hashes asked(rows.repeat());
    rows.measure(made, asked_per_round, nullptr, [&] {
        const auto round = asked.next();
        return timed([&] {
            std::size_t found = 0;
            for (const std::uint64_t hash : round) found += filter.may_contain(hash);
            use(found);
        });
    });
}

template <class Filter>
void in_a_batch(sheet& rows, const row& made, const Filter& filter) {
    rounds_of_hashes asked(rows.repeat());
    const auto answers = std::make_unique<bool[]>(asked_per_round);
    rows.measure(made, asked_per_round, nullptr, [&] {
        const auto round = asked.next();
        return timed([&] { use(filter.may_contain(round, std::span(answers.get(), asked_per_round))); });
    });
}

template <class Filter>
void layout_rows_of(sheet& rows, const char* name, const typename Filter::parameters& size, answers asked,
                    const char* note) {
    const std::string prefix = std::string("tutorial.layout.") + name + '.' +
                               (asked == answers::present ? "present" : "absent") + '.';
    const bool wants_latency = rows.wants(prefix + "latency");
    const bool wants_loop = rows.wants(prefix + "loop");
    const bool wants_batch = rows.wants(prefix + "batch");
    if (!wants_latency && !wants_loop && !wants_batch) return;
    row made = row_of(prefix + "latency", std::string(Filter::kind_name), "query", 0);

    const auto filter = filled<Filter>(size, asked);
    if (!filter) return rows.unmeasured(made, filter.error().message);
    made.keys = filter->capacity(0.01);
    made.page_size = page_size_of(filter->memory());
    made.bits_per_key = bits_per_key(filter->size_bytes(), made.keys);
    made.hit_ratio = asked == answers::present ? 1 : 0;
    if (asked == answers::absent)
        made.fpr_measured = rate_of([&](std::uint64_t hash) { return filter->may_contain(hash); },
                                    hashes(0, asked_per_round));
    made.note = std::string(note) + "; a fence after every query, so that none overlaps with the next";
    if (wants_latency) one_at_a_time(rows, made, *filter);
    made.name = prefix + "loop";
    made.note = "the processor overlaps the queries of a loop";
    if (wants_loop) in_a_loop(rows, made, *filter);
    made.name = prefix + "batch";
    made.op = "query_batch";
    made.note = "a batch is prefetched";
    if (wants_batch) in_a_batch(rows, made, *filter);
}

template <class Filter>
void latency_row(sheet& rows, const char* kind, const typename Filter::parameters& size,
                 std::uint64_t bytes) {
    row made = row_of(std::string("tutorial.latency.") + kind + '.' + size_name(bytes),
                      std::string(Filter::kind_name), "query_latency", 0);

    if (!rows.wants(made.name)) return;
    const auto filter = filled<Filter>(size, answers::present);
    if (!filter) return rows.unmeasured(made, filter.error().message);
    made.keys = filter->capacity(0.01);
    made.page_size = page_size_of(filter->memory());
    made.bits_per_key = bits_per_key(filter->size_bytes(), made.keys);
    made.hit_ratio = 1;
    made.note = "a present key, and a fence after every query";
    one_at_a_time(rows, made, *filter);
}

} // namespace

void layout_rows(sheet& rows) {
    for (const answers asked : {answers::present, answers::absent}) {
        layout_rows_of<bouncer::atomic_bloom>(rows, "flat", flat_size(hundred_mb), asked, "texts say 800 ns");
        layout_rows_of<bouncer::atomic_blocked_bloom>(rows, "blocked", blocked_size(hundred_mb), asked,
                                                      "texts say 120 ns");
    }
    constexpr std::uint64_t kib = 1024;
    constexpr std::uint64_t mib = 1024 * kib;
    constexpr std::uint64_t gib = 1024 * mib;
    for (const std::uint64_t bytes : {4 * kib, 32 * kib, 256 * kib, 1 * mib, 4 * mib, 16 * mib, 64 * mib,
                                      256 * mib, 1 * gib, 4 * gib, 10 * gib}) {
        if (bytes > rows.max_bytes()) break;
        latency_row<bouncer::atomic_blocked_bloom>(rows, "blocked", blocked_size(bytes), bytes);
        latency_row<bouncer::atomic_bloom>(rows, "flat", flat_size(bytes), bytes);
    }
}

} // namespace bench::tutorial
