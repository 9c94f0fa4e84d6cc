#include <bouncer/bloom.h>

#include "filters/solve.h"

namespace bouncer::detail {

result<bloom_parameters> bloom_layout::solve(const goal& wanted) {
    std::vector<math::geometry> shapes;
    for (const std::uint32_t k : k_candidates(wanted, usual_form::k_max))
        shapes.push_back({.bits_per_group = k});
    auto sized = size_shapes(wanted, shapes, math::growth::sector_bits, 64, words_most * 64);
    if (!sized) return sized.error();
    const math::geometry& best = cheapest(*sized).shape;
    return parameters{foldable_units(wanted, best.sector_bits / 64, 64) * 64, best.bits_per_group};
}

result<void> bloom_layout::check(const parameters& chosen) {
    if (auto ok = check_range("k", chosen.k, usual_form::k_max); !ok) return ok;
    if (chosen.bits == 0 || chosen.bits % 64 != 0)
        return failure{error_code::invalid_argument,
                       "bits must be a positive multiple of 64, and is " + std::to_string(chosen.bits)};
    if (chosen.bits / 64 > words_most)
        return failure{error_code::too_large,
                       "bits must be at most 2^50, and is " + std::to_string(chosen.bits)};
    return {};
}

result<bloom_parameters> bloom_layout::folded(std::uint64_t factor) const {
    if (auto ok = check_fold(word_count(), factor, "words"); !ok) return ok.error();
    return parameters{params_.bits / factor, params_.k};
}

} // namespace bouncer::detail
