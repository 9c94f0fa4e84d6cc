#include <bouncer/register_bloom.h>

#include "filters/solve.h"

namespace bouncer::detail {

result<register_bloom_parameters> register_layout::solve(const goal& wanted) {
    std::vector<math::geometry> shapes;
    for (std::uint32_t k = 1; k <= usual_form::k_max; ++k)
        shapes.push_back({.sector_bits = 64, .bits_per_group = k});
    auto sized = size_shapes(wanted, shapes, math::growth::blocks, 1, words_most * 64);
    if (!sized) return sized.error();
    const math::geometry& best = cheapest(*sized).shape;
    return parameters{foldable_units(wanted, best.blocks, 64), best.bits_per_group};
}

result<void> register_layout::check(const parameters& chosen) {
    if (auto ok = check_range("k", chosen.k, usual_form::k_max); !ok) return ok;
    if (chosen.words == 0) return failure{error_code::invalid_argument, "words must be at least 1, and is 0"};
    if (chosen.words > words_most)
        return failure{error_code::too_large,
                       "words must be at most 2^44, and is " + std::to_string(chosen.words)};
    return {};
}

result<void> register_layout::check_stored(const std::uint64_t* fields) {
    if (fields[1] != 9 && fields[1] != 10) return {};
    return failure{error_code::unknown_version, "a register_bloom of k " + std::to_string(fields[1]) +
                                                    " is no more: build the filter anew from its keys"};
}

result<register_bloom_parameters> register_layout::folded(std::uint64_t factor) const {
    if (auto ok = check_fold(params_.words, factor, "words"); !ok) return ok.error();
    return parameters{params_.words / factor, params_.k};
}

} // namespace bouncer::detail
