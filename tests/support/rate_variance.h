// How far the false-positive rate of one filter lies from that of the next with the same number of other keys.
#pragma once

#include <bouncer/detail/bit_scan.h>
#include <bouncer/math.h>

#include "support/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace bouncer::test {

// The variance of expected_fpr() between filters of this shape with so many keys, from one of them.
//   One block (flat, partitioned): the rate is p = fill^k up to second order, so dp = k p / fill * d(fill).
//   Many blocks: were the number of keys itself Poisson, blocks were independent and the variance that of one block's
//   rate over their number (taken from this filter's blocks). Fixing the number takes keys * (dp/dkeys)^2 away.
// rate_of_block(b): the probability that block b has all bits of a hash that falls into it.
template <class RateOfBlock>
double rate_variance(const math::geometry& shape, std::uint64_t keys, RateOfBlock rate_of_block) {
    const auto n = static_cast<double>(keys);
    if (shape.blocks == 1) {
        const double slope =
            static_cast<double>(shape.k()) * math::fpr(shape, n) / math::expected_fill(shape, n);
        return slope * slope * math::fill_variance(shape, n);
    }
    const double step = std::max(1.0, std::round(n / 100));
    const double slope = (math::fpr(shape, n + step) - math::fpr(shape, n - step)) / (2 * step);
    sample rates;
    for (std::uint64_t b = 0; b < shape.blocks; ++b) rates.add(rate_of_block(b));
    return std::max(0.0, rates.variance() / static_cast<double>(shape.blocks) - n * slope * slope);
}
inline double rate_variance(const math::geometry& shape, const std::uint64_t* words, std::uint64_t keys) {
    math::geometry block = shape;
    block.blocks = 1;
    const std::uint64_t block_words = block.total_bits() / 64;
    return rate_variance(shape, keys, [&](std::uint64_t b) {
        return bouncer::detail::answer_rate(block, {words + b * block_words});
    });
}
template <class F>
double rate_variance(const F& f, std::uint64_t keys) {
    return rate_variance(f.shape(), f.data(), keys);
}

} // namespace bouncer::test
