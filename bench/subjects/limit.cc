// The loops of the memory limit. Whole lines are read through the compiler's own vectors: one load of 64 bytes with
// AVX-512, two with AVX2, four for the baseline.
#include "../limit.h"

#include "../hashes.h"

#include <algorithm>
#include <iterator>

namespace bench {
namespace {

constexpr std::size_t words_per_line = 8;
using line_vector [[gnu::vector_size(64), gnu::may_alias]] = std::uint64_t;

const std::uint64_t* line_of(const std::uint64_t* words, std::uint64_t lines, std::uint64_t hash) {
    return words + below(hash, lines) * words_per_line;
}

template <std::size_t Depth>
std::uint64_t prefetched(const std::uint64_t* words, std::uint64_t lines, const std::uint64_t* hashes,
                         std::size_t count, bool*) {
    std::uint64_t sum = 0;
    const std::size_t head = std::min(count, Depth);
    for (std::size_t i = 0; i < head; ++i) __builtin_prefetch(line_of(words, lines, hashes[i]));
    std::size_t i = 0;
    for (; i + Depth < count; ++i) {
        __builtin_prefetch(line_of(words, lines, hashes[i + Depth]));
        sum += *line_of(words, lines, hashes[i]);
    }
    for (; i < count; ++i) sum += *line_of(words, lines, hashes[i]);
    return sum;
}

// Nothing but loads that do not wait for each other: the processor finds the overlap itself.
std::uint64_t plain(const std::uint64_t* words, std::uint64_t lines, const std::uint64_t* hashes,
                    std::size_t count, bool*) {
    std::uint64_t sums[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (std::size_t j = 0; j < 8; ++j) sums[j] += *line_of(words, lines, hashes[i + j]);
    for (; i < count; ++i) sums[0] += *line_of(words, lines, hashes[i]);
    std::uint64_t sum = 0;
    for (const std::uint64_t s : sums) sum += s;
    return sum;
}

std::uint64_t whole_lines(const std::uint64_t* words, std::uint64_t lines, const std::uint64_t* hashes,
                          std::size_t count, bool*) {
    line_vector a{}, b{}, c{}, d{};
    const auto line = [&](std::size_t i) {
        return reinterpret_cast<const line_vector*>(line_of(words, lines, hashes[i]));
    };
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        a |= *line(i);
        b |= *line(i + 1);
        c |= *line(i + 2);
        d |= *line(i + 3);
    }
    for (; i < count; ++i) a |= *line(i);
    a |= b | c | d;
    std::uint64_t all = 0;
    for (std::size_t w = 0; w < words_per_line; ++w) all |= a[w];
    return all;
}

// The library's batch with its bit test removed: prefetch as far ahead as it does, one load, an answer per key.
std::uint64_t own(const std::uint64_t* words, std::uint64_t lines, const std::uint64_t* hashes,
                  std::size_t count, bool* answers) {
    constexpr std::size_t depth = 64;
    std::uint64_t found = 0;
    const auto step = [&](std::size_t i) {
        const bool answer = (*line_of(words, lines, hashes[i]) & 1) != 0;
        answers[i % limit_answers] = answer;
        found += answer;
    };
    const std::size_t head = std::min(count, depth);
    for (std::size_t i = 0; i < head; ++i) __builtin_prefetch(line_of(words, lines, hashes[i]));
    std::size_t i = 0;
    for (; i + depth < count; ++i) {
        __builtin_prefetch(line_of(words, lines, hashes[i + depth]));
        step(i);
    }
    for (; i < count; ++i) step(i);
    return found;
}

constexpr limit_loop loops[] = {
    {"prefetch8", prefetched<8>},
    {"prefetch16", prefetched<16>},
    {"prefetch24", prefetched<24>},
    {"prefetch32", prefetched<32>},
    {"prefetch48", prefetched<48>},
    {"prefetch64", prefetched<64>},
    {"plain", plain},
    {"vector", whole_lines},
    {"own", own},
};

} // namespace
} // namespace bench

extern "C" __attribute__((visibility("default"))) const bench::limit_list* bouncer_bench_limits() {
    static const bench::limit_list list{bench::loops, std::size(bench::loops)};
    return &list;
}
