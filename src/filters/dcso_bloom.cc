#include <bouncer/dcso_bloom.h>

#include "filters/dcso_size.h"
#include "filters/solve.h"

#include <bouncer/detail/format.h>

#include <cmath>
#include <numbers>

namespace bouncer::detail {

result<void> dcso_layout::check_hash(const hash_spec& spec) {
    if (spec == default_hash()) return {};
    return failure{error_code::mismatch, "DCSO's filter fixes the hash, " + to_string(default_hash()) +
                                             ", and not " + to_string(spec)};
}

result<dcso_bloom_parameters> dcso_layout::solve(const goal& wanted) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (wanted.false_positive_rate) {
        const parameters chosen = dcso_size(wanted.keys, *wanted.false_positive_rate);
        if (auto ok = check(chosen); !ok) return ok.error();
        const std::uint64_t bytes = dcso_layout(chosen).word_count() * 8;
        if (wanted.size_bytes && bytes > *wanted.size_bytes)
            return failure{error_code::too_large, std::to_string(wanted.keys) + " keys at a rate of " +
                                                      scientific(*wanted.false_positive_rate) + " need " +
                                                      std::to_string(bytes) + " bytes, above size_bytes, " +
                                                      std::to_string(*wanted.size_bytes)};
        return chosen;
    }
    std::vector<math::geometry> shapes;
    for (const std::uint32_t k : k_candidates(wanted, usual_form::k_max))
        shapes.push_back({.bits_per_group = k});
    auto sized = size_shapes(wanted, shapes, math::growth::sector_bits, 64, words_most * 64);
    if (!sized) return sized.error();
    const math::geometry& best = cheapest(*sized).shape;
    // One bit less than whole words: an odd m, whose positions depend on all bits of the hash.
    return parameters{best.sector_bits - 1, best.bits_per_group};
}

result<void> dcso_layout::check(const parameters& chosen) {
    if (auto ok = check_range("k", chosen.k, usual_form::k_max); !ok) return ok;
    if (chosen.bits == 0) return failure{error_code::invalid_argument, "bits must be at least 1, and is 0"};
    if (chosen.bits > words_most * 64)
        return failure{error_code::too_large,
                       "bits must be at most 2^50, and is " + std::to_string(chosen.bits)};
    return {};
}

// The formula's number of keys; a twentieth more, and twice the sigmas that other kinds allow. The bits of a key hang together,
// and those of similar keys: of 10,000 filters of decimal numbers, 20 to 400,000 of them at rates of 0.5 to 1e-9, 396 were
// above 5 sigma. With this none was.
double dcso_layout::fill_limit(double rate) const {
    constexpr double slack = 1.05;
    constexpr double sigmas = 10;
    const double keys = slack * static_cast<double>(params_.bits + 1) * std::numbers::ln2 *
                        std::numbers::ln2 / -std::log(rate);
    return math::fill_limit(shape(), keys, sigmas);
}

} // namespace bouncer::detail
