#include <bouncer/stable_bloom.h>

#include <bouncer/detail/format.h>

#include "filters/solve.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace bouncer::detail {

namespace {

constexpr std::uint32_t solve_k_most = 10; // at 1e-4 the best would be 12, and 1.2 % smaller
constexpr std::uint64_t control_bytes = 8 * stable_layout::control_words;
constexpr std::uint64_t line_bytes = 64;

struct candidate {
    stable_bloom_parameters parameters;
    double forgotten; // of what was added at the horizon
};

// What (mean fill)^k may be, so that the mean of fill^k is `rate`. The fill varies: at the stable point by a variance that
// measured 0.46 to 0.97 of what independent cells have, fill (1 - fill) / cells. That makes the rate larger by k (k-1) / 2
// times the relative variance, to second order: 1.13 with 512 cells and k = 10, nothing with 10^5.
double rate_of_mean_fill(double rate, std::uint64_t cells, std::uint32_t k) {
    const double fill = std::pow(rate, 1.0 / k);
    const double pairs = k * (k - 1.0) / 2;
    return rate / std::exp(pairs * (1 - fill) / (fill * static_cast<double>(cells)));
}

// So many lines of cells with the decrements that keep the rate; nullopt where none do.
std::optional<candidate> with_lines(const goal& wanted, std::uint64_t lines, std::uint32_t k,
                                    std::uint32_t cell_bits) {
    const std::uint64_t cells = lines * (8 * line_bytes / cell_bits);
    const std::uint32_t max = (1u << cell_bits) - 1;
    const double rate = rate_of_mean_fill(*wanted.false_positive_rate, cells, k);
    const auto decrements = math::stable_decrements(rate, cells, k, max);
    if (!decrements || *decrements > stable_layout::decrements_most) return std::nullopt;
    return candidate{
        {cells, k, cell_bits, static_cast<std::uint32_t>(*decrements)},
        math::stable_false_negative_rate(static_cast<double>(wanted.keys), cells, k, max, *decrements)};
}

// The fewest lines, at most `most`, that remember enough. More lines never remember less: they need no more decrements,
// and each cell is touched less often.
std::optional<std::uint64_t> fewest_lines(const goal& wanted, std::uint64_t most, std::uint32_t k,
                                          std::uint32_t cell_bits) {
    const auto enough = [&](std::uint64_t lines) {
        const auto found = with_lines(wanted, lines, k, cell_bits);
        return found && found->forgotten <= stable_layout::forgotten_most;
    };
    if (!enough(most)) return std::nullopt;
    std::uint64_t low = 0;
    while (most - low > 1) {
        const std::uint64_t middle = low + (most - low) / 2;
        (enough(middle) ? most : low) = middle;
    }
    return most;
}

template <class Visit>
void every_form(Visit visit) {
    for (const std::uint32_t cell_bits : {1u, 2u, 4u})
        for (std::uint32_t k = 1; k <= solve_k_most; ++k) visit(k, cell_bits);
}

result<stable_bloom_parameters> smallest(const goal& wanted) {
    std::optional<candidate> best;
    std::uint64_t most = words_most / 8;
    every_form([&](std::uint32_t k, std::uint32_t cell_bits) {
        const auto lines = fewest_lines(wanted, most, k, cell_bits);
        if (!lines) return;
        const auto found = with_lines(wanted, *lines, k, cell_bits);
        if (*lines < most || !best || found->forgotten < best->forgotten) best = found;
        most = *lines;
    });
    if (best) return best->parameters;
    return failure{error_code::too_large,
                   "to remember " + std::to_string(wanted.keys) + " keys at a rate of " +
                       scientific(*wanted.false_positive_rate) + " takes more than this kind's limit of " +
                       std::to_string(8 * words_most) + " bytes"};
}

result<stable_bloom_parameters> best_in_size(const goal& wanted) {
    const std::uint64_t size = *wanted.size_bytes;
    if (size < control_bytes + line_bytes)
        return failure{error_code::invalid_argument, "size_bytes must be at least " +
                                                         std::to_string(control_bytes + line_bytes) +
                                                         ", and is " + std::to_string(size)};
    const std::uint64_t lines = std::min((size - control_bytes) / line_bytes, words_most / 8);
    std::optional<candidate> best;
    every_form([&](std::uint32_t k, std::uint32_t cell_bits) {
        const auto found = with_lines(wanted, lines, k, cell_bits);
        if (found && (!best || found->forgotten < best->forgotten)) best = found;
    });
    if (best) return best->parameters;
    return failure{error_code::invalid_argument,
                   std::to_string(size) + " bytes cannot keep a false_positive_rate of " +
                       scientific(*wanted.false_positive_rate) + ": an add would have to clear every cell"};
}

} // namespace

result<stable_bloom_parameters> stable_layout::solve(const goal& wanted) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (!wanted.false_positive_rate)
        return failure{error_code::invalid_argument,
                       "a stable_bloom needs a false_positive_rate: any size can have any rate"};
    return wanted.size_bytes ? best_in_size(wanted) : smallest(wanted);
}

result<void> stable_layout::check(const parameters& chosen) {
    if (chosen.cell_bits != 1 && chosen.cell_bits != 2 && chosen.cell_bits != 4)
        return failure{error_code::invalid_argument,
                       "cell_bits must be 1, 2 or 4, and is " + std::to_string(chosen.cell_bits)};
    if (auto ok = stable_layout(chosen).where().check("cells"); !ok) return ok;
    return check_range("decrements", chosen.decrements,
                       std::min<std::uint64_t>(chosen.cells - 1, decrements_most));
}

std::string stable_layout::describe(const parameters& chosen) {
    return "cells " + std::to_string(chosen.cells) + ", k " + std::to_string(chosen.k) + ", bits " +
           std::to_string(chosen.cell_bits) + ", decrements " + std::to_string(chosen.decrements);
}

} // namespace bouncer::detail
