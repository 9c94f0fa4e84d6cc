// Sizes from rates: bisection on the exact FPR.
#include "bouncer/math.h"
#include "math/rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bouncer::math {

namespace {

constexpr std::uint64_t most_keys = std::uint64_t{1} << 63;

// A double as a whole number within [1, most].
std::uint64_t clamped(double value, std::uint64_t most) {
    if (!(value > 1)) return 1;
    if (value >= static_cast<double>(most)) return most;
    return std::min(most, static_cast<std::uint64_t>(value));
}

// Keys per bit of a flat filter of that k and rate: where to start looking.
double asymptotic_load(const geometry& shape, double rate) {
    const double k = std::max(1.0, static_cast<double>(shape.k()));
    return -std::log1p(-std::pow(std::clamp(rate, 1e-300, 0.999), 1 / k)) / k;
}

// The smallest x in [1, most] with good(x), which is monotone; most + 1 when there is none. Starts at a guess,
// because good() costs more the further x is from the answer.
template <class Good>
std::uint64_t first_good(std::uint64_t guess, std::uint64_t most, Good&& good) {
    std::uint64_t bad = 0;      // below: known to be bad, or 0
    std::uint64_t fine = guess; // above: known to be good
    double stretch = 1.0625;
    if (good(guess)) {
        while (fine > 1) {
            const auto lower = std::min(fine - 1, clamped(static_cast<double>(fine) / stretch, most));
            if (!good(lower)) {
                bad = lower;
                break;
            }
            fine = lower;
            stretch *= stretch;
        }
    } else {
        do {
            bad = fine;
            if (bad >= most) return most + 1;
            fine = std::max(bad + 1, clamped(static_cast<double>(bad) * stretch, most));
            stretch *= stretch;
        } while (!good(fine));
    }
    while (fine - bad > 1) {
        const std::uint64_t middle = std::midpoint(bad, fine);
        (good(middle) ? fine : bad) = middle;
    }
    return fine;
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

std::optional<geometry> smallest_of(std::span<const geometry> shapes, growth what, std::uint64_t granule,
                                    std::uint64_t keys, double rate, std::uint64_t most) {
    // The likely best first: the others then only have to be refused, by one evaluation each.
    struct candidate {
        double bits;
        std::size_t index;
    };
    std::vector<candidate> order;
    order.reserve(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i)
        order.push_back({1 / asymptotic_load(shapes[i], rate), i});
    std::sort(order.begin(), order.end(), [](const candidate& a, const candidate& b) {
        return a.bits != b.bits ? a.bits < b.bits : a.index < b.index;
    });

    std::optional<geometry> best;
    std::size_t best_index = 0;
    for (const candidate& next : order) {
        question q(shapes[next.index], what, granule, keys, rate, most);
        std::uint64_t limit = q.most();
        if (best) {
            // It has to be smaller than the best, or as small and earlier.
            const std::uint64_t room = best->total_bits() - (next.index < best_index ? 0 : 1);
            const std::uint64_t unit = q.at(1).total_bits();
            limit = unit == 0 ? 0 : std::min(limit, room / unit);
            if (limit == 0 || !q.meets(limit)) continue;
        }
        if (const auto found = q.solve(limit)) {
            best = found;
            best_index = next.index;
        }
    }
    return best;
}

std::size_t best_of(std::span<const geometry> shapes, double keys) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const double rate = fpr(shapes[i], keys);
        if (rate < least) {
            least = rate;
            best = i;
        }
    }
    return best;
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
