#include "line_guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace bouncer::tool {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

struct sample {
    std::vector<std::size_t> distinct; // hashes, ascending
    double lines = 0;
    double bytes = 0;
};

sample whole_lines(std::string_view piece, char end) {
    sample out;
    const std::size_t begin = piece.find(end); // the first line may be half of one
    if (begin == std::string_view::npos) return out;
    std::size_t from = begin + 1;
    for (std::size_t to; (to = piece.find(end, from)) != std::string_view::npos; from = to + 1)
        out.distinct.push_back(std::hash<std::string_view>()(piece.substr(from, to - from)));
    out.lines = static_cast<double>(out.distinct.size());
    out.bytes = static_cast<double>(from - begin - 1);
    std::sort(out.distinct.begin(), out.distinct.end());
    out.distinct.erase(std::unique(out.distinct.begin(), out.distinct.end()), out.distinct.end());
    return out;
}

double in_both(const sample& a, const sample& b) {
    double out = 0;
    for (auto i = a.distinct.begin(), j = b.distinct.begin();
         i != a.distinct.end() && j != b.distinct.end();) {
        const auto [left, right] = std::pair(*i, *j);
        out += left == right;
        if (left <= right) ++i;
        if (right <= left) ++j;
    }
    return out;
}

} // namespace

std::optional<std::uint64_t> guess_distinct_lines(const record_reader& reader, framing how) {
    const auto total = reader.total_bytes();
    const byte_input* const first = reader.input();
    if (!total || first == nullptr || !first->seekable() || first->compressed() ||
        how == framing::length_prefixed || first->size_bytes() < 4 * piece_bytes)
        return std::nullopt;
    std::vector<char> piece(piece_bytes);
    std::array<sample, 3> samples;
    double sampled = 0;
    double bytes = 0;
    double new_ones = 0; // not in their own piece before
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::uint64_t at = (first->size_bytes() - piece_bytes) / 2 * i;
        samples[i] =
            whole_lines({piece.data(), first->read_at(at, piece.data(), piece.size())}, terminator_of(how));
        sampled += samples[i].lines;
        bytes += samples[i].bytes;
        new_ones += static_cast<double>(samples[i].distinct.size());
    }
    if (sampled < 100) return std::nullopt;
    // Two samples of a and b kinds of lines out of k share a b / k of them (Lincoln and Petersen), and of n lines drawn
    // from k kinds k (1 - e^(-n/k)) are distinct. Duplicates that stand together are known from one piece alone. Too
    // small where some lines are much more frequent than others, too large for a file that repeats itself as a whole.
    const double lines = static_cast<double>(*total) / bytes * sampled;
    double products = 0;
    double shared = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const sample& a = samples[i];
        const sample& b = samples[(i + 1) % samples.size()];
        products += static_cast<double>(a.distinct.size()) * static_cast<double>(b.distinct.size());
        shared += in_both(a, b);
    }
    const double kinds = products / std::max(shared, 0.5);
    const double distinct = kinds * -std::expm1(-lines * new_ones / sampled / kinds);
    return static_cast<std::uint64_t>(std::min(distinct, lines));
}

} // namespace bouncer::tool
