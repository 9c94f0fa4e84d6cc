#include "limits.h"

#include "chunks.h"
#include "clock.h"
#include "statistics.h"
#include "variant.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr std::uint64_t quick_bytes = std::uint64_t{64} << 20; // above, a chunk takes too long to repeat

} // namespace

limit_set::limit_set(const limit_list& loops, std::uint64_t bytes, std::span<const std::uint64_t> pool)
    : bytes_(bytes), pool_(pool), small_(std::make_unique<line_buffer>(bytes, page_size::small)),
      huge_(std::make_unique<line_buffer>(bytes, page_size::huge)) {
    constexpr unsigned tries = 3;
    constexpr std::size_t kept = 3;
    for (const page_size pages : {page_size::small, page_size::huge}) {
        std::vector<candidate> probed;
        for (std::size_t i = 0; i < loops.count; ++i)
            probed.push_back(
                {&loops.loops[i], (pages == page_size::small ? small_ : huge_).get(), pages, {}});
        for (unsigned round = 0; round < tries; ++round)
            for (candidate& one : probed) one.rounds.push_back(time(one, round));
        std::sort(probed.begin(), probed.end(), [](const candidate& a, const candidate& b) {
            return least_of(a.rounds) < least_of(b.rounds);
        });
        probed.resize(std::min(probed.size(), kept));
        for (candidate& one : probed) one.rounds.clear();
        candidates_.insert(candidates_.end(), probed.begin(), probed.end());
    }
}

bool limit_set::serves(std::uint64_t bytes) const {
    return std::abs(static_cast<double>(bytes) / static_cast<double>(bytes_) - 1) < 0.03;
}

double limit_set::time(const candidate& of, unsigned round) const {
    alignas(64) static bool answers[limit_answers];
    const chunk part = chunk_of(pool_, bytes_, round, 0, 1);
    const auto run = [&](std::span<const std::uint64_t> hashes) {
        const std::uint64_t sum =
            of.loop->run(of.buffer->words(), of.buffer->lines(), hashes.data(), hashes.size(), answers);
        __asm__ volatile("" : : "r"(sum));
    };
    run(part.warm);
    touch(part.timed);
    const stopwatch watch;
    run(part.timed);
    return watch.elapsed_ns() / static_cast<double>(part.timed.size());
}

void limit_set::run(std::size_t which, unsigned chunk_number, bool first) {
    candidate& one = candidates_[which];
    if (!first && bytes_ > quick_bytes) return;
    const double ns = time(one, chunk_number);
    if (first)
        one.rounds.push_back(ns);
    else
        one.rounds.back() = std::min(one.rounds.back(), ns);
}

const std::vector<double>& limit_set::rounds(page_size pages) const {
    const candidate* best = nullptr;
    for (const candidate& one : candidates_)
        if ((pages == page_size::huge || one.pages == page_size::small) &&
            (best == nullptr || least_of(one.rounds) < least_of(best->rounds)))
            best = &one;
    return best->rounds;
}

std::vector<row> limit_set::rows(std::uint64_t keys) const {
    std::vector<row> out;
    for (const candidate& one : candidates_) {
        row made;
        made.name = std::string("limit.") + one.loop->name;
        made.kind = "limit";
        made.op = "read";
        made.keys = keys;
        made.page_size = text_of(one.pages);
        made.build = "native";
        made.bits_per_key = static_cast<double>(bytes_) * 8 / static_cast<double>(keys);
        made.ns_min = least_of(one.rounds);
        made.ns_median = median_of(one.rounds);
        made.mops = made.ns_median > 0 ? 1e3 / made.ns_median : 0;
        made.limit_ratio = made.ns_min > 0 ? least_of(rounds(one.pages)) / made.ns_min : 0;
        made.rounds = one.rounds;
        if (!one.buffer->as_asked()) made.note = "the kernel did not give these pages";
        out.push_back(std::move(made));
    }
    return out;
}

} // namespace bench
