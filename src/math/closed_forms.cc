// Bounds that hold for every filter.
#include "bouncer/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bouncer::math {

double hash_collision_rate(double keys, unsigned hash_bits) {
    return -std::expm1(-std::ldexp(std::max(keys, 0.0), -static_cast<int>(std::min(hash_bits, 4096u))));
}

namespace {

// From any thread: std::lgamma writes the global signgam.
double log_gamma(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

} // namespace

double exact_set_bits(std::uint64_t listed, std::uint64_t others) {
    const auto in = static_cast<double>(listed);
    const auto out = static_cast<double>(others);
    const double nats = log_gamma(in + out + 1) - log_gamma(in + 1) - log_gamma(out + 1);
    return std::max(0.0, nats / std::log(2.0));
}

double lower_bound_bits_per_key(double rate) {
    if (rate >= 1) return 0;
    if (!(rate > 0)) return std::numeric_limits<double>::infinity();
    return -std::log2(rate);
}

} // namespace bouncer::math
