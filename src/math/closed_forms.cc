// The textbook forms for flat filters, and bounds that hold for every filter.
#include "bouncer/math.h"

#include "math/log_gamma.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bouncer::math {

double hash_collision_rate(double keys, unsigned hash_bits) {
    return -std::expm1(-std::ldexp(std::max(keys, 0.0), -static_cast<int>(std::min(hash_bits, 4096u))));
}

double exact_set_bits(std::uint64_t listed, std::uint64_t others) {
    const auto in = static_cast<double>(listed);
    const auto out = static_cast<double>(others);
    const double nats =
        detail::log_gamma(in + out + 1) - detail::log_gamma(in + 1) - detail::log_gamma(out + 1);
    return std::max(0.0, nats / std::log(2.0));
}

double asymptotic_fpr(double bits, unsigned k, double keys) {
    if (!(keys > 0)) return 0;
    if (!(bits > 0)) return 1;
    return std::pow(-std::expm1(-(k * keys) / bits), k);
}

double classic_fpr(double bits, unsigned k, double keys) {
    if (!(keys > 0)) return 0;
    if (!(bits > 1) || k == 0) return 1;
    return std::pow(-std::expm1(k * keys * std::log1p(-1 / bits)), k);
}

// sum over d of P(k throws of the query hit d different bits) * P(d given bits are all set), the second by
// inclusion and exclusion over which of the d are missed.
std::optional<double> inclusion_exclusion_fpr(double bits, unsigned k, double keys) {
    constexpr unsigned most = 12;
    if (k > most) return std::nullopt;
    if (!(keys > 0)) return 0.0;
    if (!(bits > 1) || k == 0) return 1.0;
    const long double m = bits;
    const long double throws = static_cast<long double>(k) * keys;

    std::array<long double, most + 1> different{}; // P(d different bits) after some throws
    different[0] = 1;
    for (unsigned t = 0; t < k; ++t) {
        for (unsigned d = k; d != 0; --d)
            different[d] = different[d] * d / m + different[d - 1] * std::max(0.0L, m - d + 1) / m;
        different[0] = 0;
    }

    long double sum = 0;
    for (unsigned d = 1; d <= k && d <= m; ++d) {
        long double all_set = 0;
        long double choose = 1;
        for (unsigned missed = 0; missed <= d; ++missed) {
            const long double term =
                missed < m ? choose * std::exp(throws * std::log1p(-static_cast<long double>(missed) / m))
                           : 0;
            all_set += missed % 2 == 0 ? term : -term;
            choose = choose * (d - missed) / (missed + 1);
        }
        sum += different[d] * all_set;
    }
    return static_cast<double>(std::clamp(sum, 0.0L, 1.0L));
}

double lower_bound_bits_per_key(double rate) {
    if (rate >= 1) return 0;
    if (!(rate > 0)) return std::numeric_limits<double>::infinity();
    return -std::log2(rate);
}

} // namespace bouncer::math
