#include "bouncer/math.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bouncer::math {

namespace {

// P(at least 3 of `count` bits were still to be set), each clear with probability 1 - fill.
double three_or_more(unsigned count, double fill) {
    const double clear = 1 - fill;
    const double n = count;
    const double none = std::pow(fill, n);
    const double one = n * std::pow(fill, n - 1) * clear;
    const double two = n * (n - 1) / 2 * std::pow(fill, n - 2) * clear * clear;
    return std::max(0.0, 1 - none - one - two);
}

} // namespace

// A stored key and a query are two arithmetic progressions mod m; where they meet is a line in the k x k grid
// of (index in one, index in the other), and each line has a chance of 1/(m (m-1)). Two common positions are as
// frequent as with independent hashing (progressions are pairwise independent); three and more are not.
double double_hashing_excess(double bits, unsigned k, double keys) {
    if (!(keys > 0) || !(bits > 1)) return 0;
    const int n = static_cast<int>(std::min(k, 1024u));
    const double fill = -std::expm1(n * std::max(0.0, keys - 1) * std::log1p(-1 / bits));

    // Lines of slope (p, q) through exactly c grid points: windows(c) counts runs of c, inside longer lines too.
    double sum = 0;
    for (int p = 1; 2 * p < n; ++p) {
        for (int q = p; 2 * q < n; ++q) {
            if (std::gcd(p, q) != 1) continue;
            const auto windows = [&](int c) {
                return static_cast<double>(std::max(0, n - (c - 1) * p)) * std::max(0, n - (c - 1) * q);
            };
            double lines_of_slope = 0;
            for (int c = 3; (c - 1) * q < n; ++c) {
                const double lines = windows(c) - 2 * windows(c + 1) + windows(c + 2);
                if (lines > 0)
                    lines_of_slope +=
                        lines * std::pow(fill, n - c) * three_or_more(static_cast<unsigned>(c), fill);
            }
            // Slopes (p, q), (p, -q) and, mirrored, (q, p), (q, -p).
            sum += (p == q ? 2 : 4) * lines_of_slope;
        }
    }
    return std::min(sum * keys / (bits * (bits - 1)), 1 - std::pow(fill, n));
}

} // namespace bouncer::math
