#include "bench_run.h"

#include "signals.h"
#include "stored_filter.h"

#include <bouncer/detail/bits.h>
#include <bouncer/region.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <thread>

namespace bouncer::tool {

namespace {

using clock = std::chrono::steady_clock;

// Weyl sequence and a finaliser: 1 ns a hash, all 64 bits good.
class random_hashes {
  public:
    explicit random_hashes(std::uint64_t seed) noexcept : state_(detail::mix64(seed + 1)) {}
    std::uint64_t next() noexcept { return detail::mix64(state_ += 0x9e3779b97f4a7c15u); }
    void fill(std::span<std::uint64_t> out) noexcept {
        for (std::uint64_t& each : out) each = next();
    }

  private:
    std::uint64_t state_;
};

// What a thread asks, and where it writes the answers.
struct asker {
    explicit asker(std::uint64_t seed, std::size_t count)
        : random(seed), hashes(count), answers(std::make_unique<bool[]>(count)) {}
    random_hashes random;
    std::vector<std::uint64_t> hashes;
    std::unique_ptr<bool[]> answers;
    std::uint64_t found = 0;
};

// Wall nanoseconds per query: all threads start together, and the last one to end ends it.
double timed(std::span<asker> askers, const std::function<void(asker&)>& ask) {
    const auto share = [](clock::duration took, std::uint64_t asked) {
        return std::chrono::duration<double, std::nano>(took).count() / static_cast<double>(asked);
    };
    std::uint64_t asked = 0;
    for (const asker& each : askers) asked += each.hashes.size();
    std::atomic<unsigned> waiting{0};
    std::atomic<bool> go{false};
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < askers.size(); ++i)
        others.emplace_back([&, i] {
            waiting.fetch_add(1);
            while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
            ask(askers[i]);
        });
    while (waiting.load() + 1 < askers.size()) std::this_thread::yield();
    const auto start = clock::now();
    go.store(true, std::memory_order_release);
    ask(askers.front());
    others.clear();
    return share(clock::now() - start, asked);
}

void ask_single(const any_filter& filter, asker& by) {
    // One dispatch outside the loop: what a program that knows its kind pays.
    by.found = filter.visit([&](const auto& f) {
        std::uint64_t found = 0;
        for (const std::uint64_t hash : by.hashes) found += f.may_contain(hash);
        return found;
    });
}
void ask_batch(const any_filter& filter, asker& by) {
    by.found = filter.may_contain(by.hashes, {by.answers.get(), by.hashes.size()});
}

// Random reads of as many lines as a query reads: nothing that looks at memory is faster. Beyond the caches prefetched
// ones are, within them plain ones: both are measured, and the faster counts.
class line_reads {
  public:
    line_reads(const region& memory, const bench_plan& plan)
        : words_(static_cast<const std::uint64_t*>(memory.data())), lines_(memory.size_bytes() / 64),
          reads_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::lround(plan.lines)))),
          adjacent_(plan.lines_adjacent) {}

    void plain(asker& by) const {
        std::uint64_t sum = 0;
        for (const std::uint64_t hash : by.hashes)
            each_word(hash, [&](const std::uint64_t* word) { sum += *word; });
        by.found = sum; // so that it is read
    }
    void prefetched(asker& by) const {
        constexpr std::size_t group = 32;
        std::uint64_t sum = 0;
        const std::size_t count = by.hashes.size();
        prefetch(by, 0, group);
        for (std::size_t first = 0; first < count; first += group) {
            prefetch(by, first + group, group);
            for (std::size_t i = first; i < std::min(first + group, count); ++i)
                each_word(by.hashes[i], [&](const std::uint64_t* word) { sum += *word; });
        }
        by.found = sum;
    }

  private:
    template <class Visit>
    void each_word(std::uint64_t hash, Visit visit) const {
        const std::uint64_t first = detail::fast_range(hash, lines_);
        visit(words_ + 8 * first);
        for (std::uint64_t i = 1; i < reads_; ++i)
            visit(words_ + 8 * (adjacent_ ? std::min(first + i, lines_ - 1)
                                          : detail::fast_range(detail::mix64(hash + i), lines_)));
    }
    void prefetch(const asker& by, std::size_t first, std::size_t count) const {
        for (std::size_t i = first; i < std::min(first + count, by.hashes.size()); ++i)
            each_word(by.hashes[i], [](const std::uint64_t* word) { __builtin_prefetch(word); });
    }

    const std::uint64_t* words_;
    std::uint64_t lines_;
    std::uint64_t reads_;
    bool adjacent_;
};

double quantile(std::vector<double> of, double q) {
    std::sort(of.begin(), of.end());
    const double place = q * static_cast<double>(of.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, of.size() - 1);
    return of[low] + (place - static_cast<double>(low)) * (of[high] - of[low]);
}

// Hashes that the filter answers "maybe": it works as hard for them as for keys that were added.
std::vector<std::uint64_t> find_present(const any_filter& filter, std::uint64_t most, double seconds) {
    std::vector<std::uint64_t> out;
    asker by(77, std::size_t{1} << 16);
    for (const auto end = clock::now() + std::chrono::duration<double>(seconds);
         out.size() < most && clock::now() < end && !interrupted();) {
        by.random.fill(by.hashes);
        ask_batch(filter, by);
        for (std::size_t i = 0; i < by.hashes.size() && out.size() < most; ++i)
            if (by.answers[i]) out.push_back(by.hashes[i]);
    }
    return out;
}

struct measurement {
    std::string what;
    unsigned threads;
    bool present;
    bool memory;
    std::function<void(asker&)> ask;
    std::vector<double> ns = {};
};

} // namespace

bench_result run_bench(const any_filter& filter, const bench_plan& plan) {
    bench_result out;
    constexpr std::uint64_t present_least =
        1000; // fewer stay in the nearest cache, whatever the filter's size
    const std::vector<std::uint64_t> present = find_present(filter, plan.keys, plan.seconds / 5);
    if (present.size() >= present_least) out.present_hashes = present.size();

    region memory;
    if (filter.size_bytes() >= 64 && filter.size_bytes() < free_memory_bytes()) {
        if (auto made = region::allocate(filter.size_bytes()); made) {
            memory = std::move(*made);
            // Pages that nobody wrote may all be one page of zeros.
            random_hashes(5).fill({static_cast<std::uint64_t*>(memory.data()), memory.size_bytes() / 8});
            out.memory_measured = true;
        }
    }

    const line_reads reads(memory, plan);
    std::vector<unsigned> widths{1};
    if (plan.threads > 1) widths.push_back(plan.threads);
    std::vector<measurement> all;
    for (const unsigned threads : widths) {
        if (out.memory_measured) {
            all.push_back({"memory", threads, false, true, [&](asker& by) { reads.plain(by); }});
            all.push_back({"memory", threads, false, true, [&](asker& by) { reads.prefetched(by); }});
        }
        all.push_back({"absent, batch", threads, false, false, [&](asker& by) { ask_batch(filter, by); }});
        all.push_back({"absent, single", threads, false, false, [&](asker& by) { ask_single(filter, by); }});
        if (out.present_hashes == 0) continue;
        all.push_back({"present, batch", threads, true, false, [&](asker& by) { ask_batch(filter, by); }});
        all.push_back({"present, single", threads, true, false, [&](asker& by) { ask_single(filter, by); }});
    }

    const unsigned most_threads = widths.back();
    std::vector<asker> askers;
    for (unsigned i = 0; i < most_threads; ++i)
        askers.emplace_back(1000 + i,
                            static_cast<std::size_t>(std::max<std::uint64_t>(1, plan.keys / most_threads)));
    random_hashes pick(3);
    constexpr unsigned least_rounds = 3;
    const auto end = clock::now() + std::chrono::duration<double>(plan.seconds * 0.8);
    while (out.rounds < least_rounds || clock::now() < end) {
        if (interrupted()) break;
        for (measurement& each : all) {
            const std::span<asker> by = std::span(askers).first(each.threads);
            for (asker& one : by) {
                if (each.present)
                    for (std::uint64_t& hash : one.hashes)
                        hash = present[detail::fast_range(pick.next(), present.size())];
                else
                    one.random.fill(one.hashes);
            }
            each.ns.push_back(timed(by, each.ask));
            if (each.present || each.memory) continue;
            for (const asker& one : by) {
                out.absent_asked += one.hashes.size();
                out.absent_found += one.found;
            }
        }
        ++out.rounds;
    }
    if (out.rounds == 0) return out;
    std::optional<double> memory_ns;
    unsigned memory_of = 0; // threads
    for (const measurement& each : all) {
        const double median = quantile(each.ns, 0.5);
        if (each.memory) {
            const bool second = memory_of == each.threads;
            memory_ns = second ? std::min(*memory_ns, median) : median;
            memory_of = each.threads;
            continue;
        }
        out.rows.push_back({each.what, each.threads, median,
                            median > 0 ? (quantile(each.ns, 0.75) - quantile(each.ns, 0.25)) / median : 0,
                            memory_ns});
    }
    return out;
}

rate_interval interval_of(std::uint64_t found, std::uint64_t asked) {
    if (asked == 0) return {};
    constexpr double z = 1.959964;
    const auto n = static_cast<double>(asked);
    const double p = static_cast<double>(found) / n;
    const double middle = p + z * z / (2 * n);
    const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    const double whole = 1 + z * z / n;
    return {found == 0 ? 0 : std::max(0.0, (middle - half) / whole), std::min(1.0, (middle + half) / whole)};
}

} // namespace bouncer::tool
