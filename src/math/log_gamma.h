// log of the gamma function for positive numbers, from any thread: std::lgamma writes the global signgam.
#pragma once

#include <cmath>

namespace bouncer::math::detail {

inline double log_gamma(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

} // namespace bouncer::math::detail
