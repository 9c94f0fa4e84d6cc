#include <bouncer/partitioned_bloom.h>

#include "filters/solve.h"

#include <algorithm>

namespace bouncer::detail {

result<partitioned_bloom_parameters> partitioned_layout::solve(const goal& wanted) {
    std::vector<math::geometry> shapes;
    // A slice has at least one word, so a size bounds k.
    const auto slices = std::clamp<std::uint64_t>(wanted.size_bytes.value_or(8 * usual_form::k_max) / 8, 1,
                                                  usual_form::k_max);
    for (const std::uint32_t k : k_candidates(wanted, static_cast<std::uint32_t>(slices)))
        shapes.push_back({.groups = k});
    auto sized = size_shapes(wanted, shapes, math::growth::sector_bits, 64, words_most * 64);
    if (!sized) return sized.error();
    const math::geometry& best = cheapest(*sized).shape;
    const std::uint64_t words =
        foldable_units(wanted, best.sector_bits / 64, 64 * std::uint64_t{best.groups});
    return parameters{words * 64, best.groups};
}

result<void> partitioned_layout::check(const parameters& chosen) {
    if (auto ok = check_range("k", chosen.k, usual_form::k_max); !ok) return ok;
    if (chosen.slice_bits == 0 || chosen.slice_bits % 64 != 0)
        return failure{error_code::invalid_argument, "slice_bits must be a positive multiple of 64, and is " +
                                                         std::to_string(chosen.slice_bits)};
    if (chosen.slice_bits / 64 > words_most / chosen.k)
        return failure{error_code::too_large,
                       "k slices of slice_bits must be at most 2^50 bits, and slice_bits is " +
                           std::to_string(chosen.slice_bits)};
    return {};
}

result<partitioned_bloom_parameters> partitioned_layout::folded(std::uint64_t factor) const {
    if (auto ok = check_fold(params_.slice_bits / 64, factor, "words of a slice"); !ok) return ok.error();
    return parameters{params_.slice_bits / factor, params_.k};
}

} // namespace bouncer::detail
