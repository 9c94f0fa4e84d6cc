// What the themes of figures share.
#pragma once

#include "clock.h"
#include "figures.h"
#include "hashes.h"

#include <bouncer/result.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline constexpr double usual_rate = 0.01;
inline constexpr std::uint64_t million = 1'000'000;

template <class T>
T value_of(bouncer::result<T> outcome) {
    if (!outcome) throw bad_request(outcome.error().message);
    return std::move(*outcome);
}
inline void check(const bouncer::result<void>& outcome) {
    if (!outcome) throw bad_request(outcome.error().message);
}

template <class Work>
double wall_of(Work work) {
    const double before = wall_ns();
    work();
    return wall_ns() - before;
}
// CPU time of this thread.
template <class Work>
double time_of(Work work) {
    const stopwatch watch;
    work();
    return watch.elapsed_ns();
}

// first() and second() in turns, after one of each to settle: one value of each per round.
struct two_times {
    std::vector<double> first;
    std::vector<double> second;
};
template <class First, class Second>
two_times in_turns(unsigned rounds, First first, Second second) {
    two_times out;
    first();
    second();
    for (unsigned round = 0; round < rounds; ++round) {
        if (round % 2 == 0) out.first.push_back(first());
        out.second.push_back(second());
        if (round % 2 == 1) out.first.push_back(first());
    }
    return out;
}

inline std::vector<std::uint64_t> some_present(std::uint64_t first, std::size_t count) {
    std::vector<std::uint64_t> out(count);
    present_hashes(first, out);
    return out;
}
// Every second one is among the present keys below `keys`.
inline std::vector<std::uint64_t> half_hits(std::uint64_t keys, std::size_t count) {
    std::vector<std::uint64_t> out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i] = i % 2 == 0 ? scrambled(below(scrambled(i), keys)) : scrambled(first_absent + i);
    return out;
}

// Answers that nobody reads.
class answer_space {
  public:
    explicit answer_space(std::size_t count) : count_(count), answers_(new bool[count]) {}
    std::span<bool> span() const { return {answers_.get(), count_}; }

  private:
    std::size_t count_;
    std::unique_ptr<bool[]> answers_;
};

// The share of absent keys that are found.
template <class F>
double measured_fpr(const F& filter, std::size_t queries) {
    std::vector<std::uint64_t> hashes(queries);
    absent_hashes(0, hashes);
    const answer_space answers(queries);
    return static_cast<double>(filter.may_contain(hashes, answers.span())) / static_cast<double>(queries);
}

// Rounds in ns per item.
inline row figure_row(std::string name, std::string kind, std::uint64_t keys, std::vector<double> rounds) {
    row out;
    out.op = name.substr(name.find('.') + 1);
    out.name = std::move(name);
    out.kind = std::move(kind);
    out.keys = keys;
    out.build = "baseline";
    out.page_size = "4K";
    out.ns_min = least_of(rounds);
    out.ns_median = median_of(rounds);
    out.mops = out.ns_median > 0 ? 1e3 / out.ns_median : 0;
    out.rounds = std::move(rounds);
    return out;
}

inline std::uint64_t status_kib(const std::string& field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(field + ":")) return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10);
    return 0;
}
// What resident memory grew by at most during work(), in MiB; nothing where the kernel does not tell.
template <class Work>
std::optional<double> extra_mib(Work work) {
    {
        std::ofstream reset("/proc/self/clear_refs");
        reset << "5";
        if (!reset.flush()) return std::nullopt;
    }
    const std::uint64_t before = status_kib("VmRSS");
    work();
    const std::uint64_t peak = status_kib("VmHWM");
    if (peak == 0) return std::nullopt; // not told
    return static_cast<double>(peak > before ? peak - before : 0) / 1024;
}

} // namespace bench
