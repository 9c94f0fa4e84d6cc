#include "filters/dcso_size.h"

#include <algorithm>
#include <cmath>

namespace bouncer::detail {

namespace {

// ln x as Go's library has it, to the last bit: a last bit that differs moves m by one now and then, and two filters that
// differ in m cannot be joined. That is the method of Sun's fdlibm: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)),
// s = f / (2 + f), ln(1 + f) = f - f^2/2 + s (f^2/2 + r(s^2)), with fdlibm's minimax coefficients of r and its ln 2 in
// two parts. std::log differs from machine to machine. This file is compiled without fused multiply-adds.
double go_log(double x) noexcept {
    int exponent = 0;
    double fraction = std::frexp(x, &exponent);
    if (fraction < 0.70710678118654752440) {
        fraction *= 2;
        --exponent;
    }
    constexpr double odd[] = {6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01,
                              1.479819860511658591e-01};
    constexpr double even[] = {3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01};
    const double f = fraction - 1;
    const double e = exponent;
    const double s = f / (2 + f);
    const double z = s * s;
    const double w = z * z;
    const double r =
        z * (odd[0] + w * (odd[1] + w * (odd[2] + w * odd[3]))) + w * (even[0] + w * (even[1] + w * even[2]));
    const double half_square = 0.5 * f * f;
    constexpr double ln2_high = 6.93147180369123816490e-01;
    constexpr double ln2_low = 1.90821492927058770002e-10;
    return e * ln2_high - ((half_square - (s * (half_square + r) + e * ln2_low)) - f);
}

} // namespace

dcso_bloom_parameters dcso_size(std::uint64_t n, double p) noexcept {
    const double keys = static_cast<double>(n);
    const double ln2 = go_log(2);
    const double bits = std::floor(-(keys * go_log(p) / (ln2 * ln2)));
    const double k = std::ceil(ln2 * bits / keys);
    return {static_cast<std::uint64_t>(std::max(1.0, bits)), static_cast<std::uint32_t>(std::max(1.0, k))};
}

} // namespace bouncer::detail
