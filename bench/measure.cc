#include "measure.h"

#include "clock.h"
#include "statistics.h"

#include <algorithm>
#include <thread>

namespace bench {
namespace {

constexpr double limit_is_wrong = 1.05;
// What is quick runs several times in a round, in turns with the others. On one thread the least counts: what disturbs a
// machine comes in bursts that would fall on one side of a pair. Where several threads run the median counts: the least
// would be the time at which they did not meet. By the keys alone, so that both sides of a pair are treated alike.
constexpr unsigned quick_repeats = 5;

bool is_quick(const variant& what) {
    const bool fills =
        what.op.starts_with("mix") || (what.op.starts_with("add") && !what.op.starts_with("add_again"));
    return !what.op.starts_with("latency") && what.keys <= (fills ? 2'000'000u : 50'000'000u);
}

row describe(const variant& what) {
    row out;
    out.name = name_of(what);
    out.op = what.op;
    out.keys = what.keys;
    out.threads = what.threads;
    out.page_size = text_of(what.pages);
    out.fpr_promised = what.fpr;
    out.hit_ratio = what.hits;
    out.build = what.build;
    return out;
}

struct contender {
    measured* of;
    running run;
    limit_set* limit;
    double spent_ns = 0;
    std::vector<double> samples = {}; // of this round

    bool enough() const {
        const std::size_t done = of->result.rounds.size();
        return (spent_ns > 4e9 && done >= 5) || (spent_ns > 20e9 && done >= 3);
    }

    // Whether it runs again in a round that it has begun.
    bool repeats() const { return !samples.empty() && is_quick(of->what); }

    void take(unsigned number) {
        const double before = wall_ns();
        samples.push_back(run.round(number));
        spent_ns += wall_ns() - before;
    }
    void end_round() {
        if (samples.empty()) return;
        of->typical.push_back(median_of(samples));
        of->result.rounds.push_back(of->crowded() ? median_of(samples) : least_of(samples));
        samples.clear();
    }
};

void finish(contender& one) {
    row& out = one.of->result;
    out.ns_min = least_of(out.rounds);
    out.ns_median = median_of(out.rounds);
    out.mops = out.ns_median > 0 ? out.threads * 1e3 / out.ns_median : 0;
    if (one.run.finish) one.run.finish(out);
    if (one.limit == nullptr) return;
    one.of->limit_rounds = one.limit->rounds(one.of->what.pages);
    out.limit_ratio = least_of(one.of->limit_rounds) / out.ns_min;
    // Fresh adds and mixes read only a part of the filter while it fills: no line of theirs need come from memory.
    const operation_type* const op = find_operation(out.op);
    if (out.limit_ratio > limit_is_wrong && op != nullptr && !op->writes && op->asks) {
        one.of->limit_is_wrong = true;
        out.note += (out.note.empty() ? "" : "; ") + std::string("the limit is wrong");
    }
}

} // namespace

void group::add(const variant& what) {
    for (const measured& known : results_)
        if (known.what == what) return;
    results_.push_back({.what = what, .result = describe(what)});
}

// Unmeasured ones get a note and no round function.
running group::start(measured& of) {
    row& out = of.result;
    const auto from = std::find_if(plugins_.begin(), plugins_.end(),
                                   [&](const plugin& one) { return one.build == of.what.build; });
    if (from == plugins_.end()) {
        out.note = "unmeasured: no build called " + of.what.build;
        return {};
    }
    if (const keyed_type* const keyed = from->find_keyed(of.what.name)) {
        out.kind = "keyed";
        return start_keyed(*keyed, of.what, out);
    }
    if (of.what.threads > std::max(1u, std::thread::hardware_concurrency())) {
        out.note = "unmeasured: more threads than cores";
        return {};
    }
    const operation_type* const op = find_operation(of.what.op);
    if (op == nullptr) {
        out.note = "unmeasured: no operation called " + of.what.op;
        return {};
    }
    if (const subject_type* const type = from->find(of.what.name)) {
        out.kind = type->kind;
        out.peer = type->peer;
        const unsigned needs = op->needs | (op->writes && of.what.threads > 1 ? can_share : 0u);
        if (type->can != 0 && (type->can & needs) != needs) {
            out.note = "unmeasured: " + of.what.name + " cannot";
            return {};
        }
    } else {
        out.peer = true; // ours are always in the build
    }
    instance& made = filters_.get(of.what);
    out.bits_per_key = made.bits_per_key;
    out.fpr_measured = made.fpr_measured;
    out.note = made.note;
    of.fpr_wrong = made.fpr_wrong;
    // The library takes less than one huge page from the heap.
    if (made.filter && !out.peer && made.filter->size_bytes() < (std::uint64_t{2} << 20))
        out.page_size = "4K";
    if (made.fpr_wrong) out.note += (out.note.empty() ? "" : "; ") + std::string("FPR out of bounds");
    if (!made.filter) return {};
    return op->start({of.what, *made.filter, *made.type, pools_});
}

limit_set* group::limit_for(std::uint64_t bytes, const variant& what) {
    for (limit_set& known : limits_)
        if (known.serves(bytes)) return &known;
    return &limits_.emplace_back(*plugins_.front().limits, bytes, pools_.queries(what.keys, 0.5));
}

void group::run(unsigned rounds) {
    std::vector<contender> contenders;
    for (measured& one : results_) {
        running made = start(one);
        if (!made.round) continue;
        const auto bytes =
            static_cast<std::uint64_t>(one.result.bits_per_key * static_cast<double>(one.what.keys) / 8);
        contenders.push_back({&one, std::move(made), limit_for(bytes, one.what)});
    }
    struct turn {
        contender* one;
        limit_set* limit;
        std::size_t loop;
    };
    std::vector<turn> turns;
    for (contender& one : contenders) turns.push_back({&one, nullptr, 0});
    for (limit_set& limit : limits_)
        for (std::size_t loop = 0; loop < limit.size(); ++loop) turns.push_back({nullptr, &limit, loop});

    for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned again = 0; again < quick_repeats; ++again) {
            for (std::size_t i = 0; i < turns.size(); ++i) {
                const turn& now = turns[(i + round) % turns.size()];
                const unsigned number = round * quick_repeats + again;
                if (now.limit != nullptr)
                    now.limit->run(now.loop, number, again == 0);
                else if (again == 0 ? !now.one->enough() : now.one->repeats())
                    now.one->take(number);
            }
        }
        for (contender& one : contenders) one.end_round();
    }
    for (contender& one : contenders) finish(one);
    if (contenders.empty()) return;
    for (const limit_set& limit : limits_)
        for (row& made : limit.rows(contenders.front().of->what.keys)) limit_rows_.push_back(std::move(made));
}

} // namespace bench
