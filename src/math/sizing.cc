// Sizes from rates: bisection on the exact FPR.
#include "bouncer/math.h"
#include "math/rate.h"
#include "math/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bouncer::math {

namespace {

using detail::clamped;
using detail::first_good;

constexpr std::uint64_t most_keys = std::uint64_t{1} << 63;

// Keys per bit of a flat filter of that k and rate: where to start looking.
double asymptotic_load(const geometry& shape, double rate) {
    const double k = std::max(1.0, static_cast<double>(shape.k()));
    return -std::log1p(-std::pow(std::clamp(rate, 1e-300, 0.999), 1 / k)) / k;
}

// One sizing question, asked of several sizes. With growth::blocks the table of the block serves them all.
class question {
  public:
    question(const geometry& shape, growth what, std::uint64_t granule, std::uint64_t keys, double rate,
             std::uint64_t most)
        : shape_(shape), what_(what), granule_(std::max<std::uint64_t>(1, granule)),
          keys_(static_cast<double>(keys)), target_(rate), rate_(shape) {
        (what == growth::blocks ? shape_.blocks : shape_.sector_bits) = 1;
        const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
        // total_bits() of what is returned must not wrap.
        const double unit = static_cast<double>(shape_.blocks) * shape_.groups * shape_.sectors *
                            static_cast<double>(shape_.sector_bits);
        const double fits = std::ldexp(1.0, 63) / std::max(1.0, unit);
        most_ = std::min({most, clamped(fits, limit), limit - 1}) / granule_;
    }

    std::uint64_t most() const { return most_; }

    geometry at(std::uint64_t granules) const {
        geometry shape = shape_;
        (what_ == growth::blocks ? shape.blocks : shape.sector_bits) = granules * granule_;
        return shape;
    }

    bool meets(std::uint64_t granules) {
        const geometry shape = at(granules);
        // By Jensen's inequality no layout is better than fill^k: most bad sizes need no table.
        const double bound = std::pow(expected_fill(shape, keys_), static_cast<double>(shape.k()));
        if (bound > target_ * (1 + 1e-9)) return false;
        if (what_ == growth::sector_bits) rate_ = detail::rate_of(shape);
        return rate_(static_cast<double>(shape.blocks), keys_) <= target_;
    }

    // Granules of a flat filter of this k.
    double estimate() const {
        const double unit = static_cast<double>(at(1).total_bits());
        return unit > 0 ? keys_ / asymptotic_load(shape_, target_) / unit : 0;
    }

    // At most `limit` granules.
    std::optional<geometry> solve(std::uint64_t limit) {
        if (limit == 0) return std::nullopt;
        const std::uint64_t found = first_good(clamped(std::ceil(estimate()), limit), limit,
                                               [&](std::uint64_t x) { return meets(x); });
        if (found > limit) return std::nullopt;
        return at(found);
    }

  private:
    geometry shape_;
    growth what_;
    std::uint64_t granule_;
    double keys_;
    double target_;
    std::uint64_t most_ = 0;
    detail::rate_of rate_;
};

} // namespace

std::optional<geometry> smallest(geometry shape, growth what, std::uint64_t granule, std::uint64_t keys,
                                 double rate, std::uint64_t most) {
    question q(shape, what, granule, keys, rate, most);
    return q.solve(q.most());
}

std::uint64_t capacity(const geometry& shape, double rate) {
    detail::rate_of rate_at(shape);
    const auto breaks = [&](std::uint64_t keys) {
        return !(rate_at(static_cast<double>(shape.blocks), static_cast<double>(keys)) <= rate);
    };
    const double bits = static_cast<double>(shape.blocks) * shape.groups * shape.sectors *
                        static_cast<double>(shape.sector_bits);
    return first_good(clamped(bits * asymptotic_load(shape, rate), most_keys), most_keys, breaks) - 1;
}

} // namespace bouncer::math
