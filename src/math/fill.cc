// How many bits are set: mean, variance, and the cardinality that follows.
#include "bouncer/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bouncer::math {

namespace {

// log P(one key leaves a given bit of its sector alone).
double log_kept(const geometry& shape) {
    return shape.bits_per_group * std::log1p(-1 / static_cast<double>(shape.sector_bits));
}

// P(one key sets a given bit): it must pick the block and the sector first.
double set_by_a_key(const geometry& shape) {
    return -std::expm1(log_kept(shape)) / (static_cast<double>(shape.blocks) * shape.sectors);
}

bool empty(const geometry& shape) {
    return shape.blocks == 0 || shape.groups == 0 || shape.sectors == 0 || shape.sector_bits == 0 ||
           shape.bits_per_group == 0;
}

} // namespace

double expected_fill(const geometry& shape, double keys) {
    if (!(keys > 0) || empty(shape)) return 0;
    return -std::expm1(keys * std::log1p(-set_by_a_key(shape)));
}

// The mean over all pairs of bits of the covariance of "is zero"; by symmetry over the partners of one bit.
// A partner's P(both zero after n keys) is (1 - 2a + extra)^n, a = set_by_a_key and extra = P(a key sets both),
// and (1 - 2a + extra) / (1 - a)^2 = 1 + (extra - a^2) / (1 - a)^2, which loses no digits.
double fill_variance(const geometry& shape, double keys) {
    if (!(keys > 0) || empty(shape)) return 0;
    const double blocks = static_cast<double>(shape.blocks);
    const double groups = shape.groups;
    const double sectors = shape.sectors;
    const double bits = static_cast<double>(shape.sector_bits);
    const double a = set_by_a_key(shape);
    if (a >= 1) return 0;
    const double zero = std::exp(keys * std::log1p(-a));
    const auto covariance = [&](double extra_less_square) {
        const double ratio = std::max(-1.0, extra_less_square / ((1 - a) * (1 - a)));
        return zero * zero * std::expm1(keys * std::log1p(ratio));
    };

    double sum = zero * expected_fill(shape, keys); // the bit itself
    if (bits > 1) {                                 // in the same sector
        const double kept = std::exp(log_kept(shape));
        const double gone = -std::expm1(log_kept(shape));
        const double other = 1 / (bits - 1);
        const double both =
            gone * gone +
            kept * kept * std::expm1(shape.bits_per_group * std::log1p(-std::min(1.0, other * other)));
        sum += (bits - 1) * covariance(both / (blocks * sectors) - a * a);
    }
    // In another sector of the group, or another block: never both.
    sum += bits * ((sectors - 1) + (blocks - 1) * groups * sectors) * covariance(-a * a);
    // In another group of the same block: both, independently.
    sum += bits * (groups - 1) * sectors * covariance(a * a * (blocks - 1));
    return std::max(0.0, sum / (blocks * groups * sectors * bits));
}

double fill_limit(const geometry& shape, double keys, double sigmas) {
    return expected_fill(shape, keys) + sigmas * std::sqrt(fill_variance(shape, keys));
}

double keys_for_zero_fraction(const geometry& shape, double zero_fraction) {
    if (zero_fraction >= 1) return 0;
    if (!(zero_fraction > 0) || empty(shape)) return std::numeric_limits<double>::infinity();
    // A key of many bits sets all of a tiny filter almost surely; rounded to surely it would count for no key at all.
    constexpr double almost = 1 - std::numeric_limits<double>::epsilon() / 2;
    return std::log(zero_fraction) / std::log1p(-std::min(almost, set_by_a_key(shape)));
}

} // namespace bouncer::math
