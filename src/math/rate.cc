#include "math/rate.h"

#include "math/binomial.h"

#include <algorithm>
#include <cmath>

namespace bouncer::math {

namespace detail {

namespace {

constexpr double kept_loads = 65536; // half a megabyte at most

} // namespace

rate_of::rate_of(const geometry& shape) : shape_(shape), sector_(shape.sector_bits, shape.bits_per_group) {}

double rate_of::of_block(double load) {
    const auto compute = [&] {
        const double group = binomial_mean(load, 1 / std::max(1.0, static_cast<double>(shape_.sectors)),
                                           [&](double j) { return sector_.all_hit(j); });
        return std::pow(group, shape_.groups);
    };
    if (load >= kept_loads) return compute();
    const auto index = static_cast<std::size_t>(load);
    if (index >= of_block_.size()) of_block_.resize(index + 1, -1.0);
    if (of_block_[index] < 0) of_block_[index] = compute();
    return of_block_[index];
}

double rate_of::operator()(double blocks, double keys) {
    keys = std::round(keys);
    if (!(keys > 0)) return 0;
    if (blocks < 1 || shape_.sectors == 0 || shape_.sector_bits == 0) return 1; // no bits: always "maybe"
    if (!std::isfinite(keys)) return 1;
    const double bits = binomial_mean(keys, 1 / blocks, [&](double load) { return of_block(load); });
    // Either the hash is one of the stored, or its bits are all set: the two are independent.
    return std::min(1.0, bits + (1 - bits) * hash_collision_rate(keys));
}

} // namespace detail

double fpr(const geometry& shape, double keys) {
    return detail::rate_of(shape)(static_cast<double>(shape.blocks), keys);
}

} // namespace bouncer::math
