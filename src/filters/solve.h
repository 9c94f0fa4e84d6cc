// From a goal to a geometry: what all kinds that are sized by the math layer share.
#pragma once

#include <bouncer/goal.h>
#include <bouncer/math.h>
#include <bouncer/result.h>

#include <cstdint>
#include <span>
#include <vector>

namespace bouncer::detail {

// A shape made large enough for a goal. The cost is its bits where the goal names a rate, its rate where it does not.
struct sized_shape {
    math::geometry shape;
    double cost;
};

// Every shape that can serve the goal, in the order given; never empty. `what` is the number that may grow, in
// multiples of `granule`, so that the whole filter has at most `most_bits`. Fails with invalid_argument for values
// that make no sense, and with too_large when every shape would be too large. Shapes that need an eighth more bits than
// an earlier one may be left out.
result<std::vector<sized_shape>> size_shapes(const goal& wanted, std::span<const math::geometry> shapes,
                                             math::growth what, std::uint64_t granule,
                                             std::uint64_t most_bits);

// The cheapest of them.
const sized_shape& cheapest(std::span<const sized_shape> sized) noexcept;

// Every number of bits per key from 1 to k_most, those near the classic optimum first, so that sizing them in this
// order soon has a bound for the rest. The exact optimum may be far away: at n = 10 and 10^-6 a partitioned filter is
// smallest with k = 8, not 20.
std::vector<std::uint32_t> k_candidates(const goal& wanted, std::uint32_t k_most);

// `units` made divisible by a power of two (at most 64), so that the filter can be folded; costs under 0.1 % and
// nothing for small filters. Rounds up where the goal names a rate, unless that breaks its size; down otherwise.
std::uint64_t foldable_units(const goal& wanted, std::uint64_t units, std::uint64_t bits_per_unit) noexcept;

// Whether `units` can be folded by `factor`: it must be at least 1 and divide.
result<void> check_fold(std::uint64_t units, std::uint64_t factor, const char* unit_name);

// Whether `value` is in [1, most].
result<void> check_range(const char* name, std::uint64_t value, std::uint64_t most);

} // namespace bouncer::detail
