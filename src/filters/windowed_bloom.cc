#include <bouncer/windowed_bloom.h>

#include <bouncer/detail/format.h>

#include "filters/solve.h"

#include <cmath>

namespace bouncer::detail {

namespace {

constexpr std::uint64_t control_bytes = windowed_layout::control_words * sizeof(std::uint64_t);

result<void> check_live(std::uint32_t live) {
    if (live < 2 || live > windowed_layout::live_most)
        return failure{error_code::invalid_argument,
                       "live must be 2 to 7 generations, and is " + std::to_string(live)};
    return {};
}

} // namespace

result<windowed_bloom_parameters> windowed_layout::solve(const goal& wanted) {
    return solve(wanted, live_most, wanted.prefer == prefer::space ? cell_form::flat : cell_form::two_lines);
}

result<windowed_bloom_parameters> windowed_layout::solve(const goal& wanted, std::uint32_t live,
                                                         cell_form form) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (auto ok = check_live(live); !ok) return ok.error();
    if (auto ok = check({512, 8, live, form}); !ok) return ok.error();
    // Of one generation, when all of them are as full as they may become.
    goal of_one = wanted;
    of_one.keys = (wanted.keys + live - 2) / (live - 1);
    if (wanted.false_positive_rate)
        of_one.false_positive_rate = -std::expm1(std::log1p(-*wanted.false_positive_rate) / live);
    of_one.size_bytes.reset();
    if (wanted.size_bytes && *wanted.size_bytes <= control_bytes)
        return failure{error_code::invalid_argument,
                       "size_bytes is too small for one block, at " + std::to_string(*wanted.size_bytes)};
    if (!wanted.false_positive_rate) of_one.size_bytes = *wanted.size_bytes - control_bytes;
    auto found = solve_cells(of_one, windowed_layout({1, 2, live, form}).where().cell_bits(), form);
    if (!found) return found.error();
    if (const std::uint64_t bytes = 8 * found->word_count() + control_bytes;
        wanted.size_bytes && bytes > *wanted.size_bytes)
        return failure{error_code::too_large,
                       std::to_string(wanted.keys) + " keys in a window at a rate of " +
                           scientific(*wanted.false_positive_rate) + " need " + std::to_string(bytes) +
                           " bytes, above size_bytes, " + std::to_string(*wanted.size_bytes)};
    return parameters{found->units(), static_cast<std::uint32_t>(found->shape().k()), live, form};
}

result<void> windowed_layout::check(const parameters& chosen) {
    if (auto ok = check_live(chosen.live); !ok) return ok;
    return windowed_layout(chosen).where().check("units");
}

std::string windowed_layout::describe(const parameters& chosen) {
    return windowed_layout(chosen).where().describe() + ", live " + std::to_string(chosen.live);
}

} // namespace bouncer::detail
