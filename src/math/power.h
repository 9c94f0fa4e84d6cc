// Whole powers.
#pragma once

#include <cstdint>

namespace bouncer::math::detail {

// Exact at 0 and 1, and for small exponents several times as fast as std::pow.
constexpr double power(double x, std::uint32_t n) noexcept {
    double out = 1;
    for (; n != 0; n >>= 1, x *= x)
        if ((n & 1) != 0) out *= x;
    return out;
}

} // namespace bouncer::math::detail
