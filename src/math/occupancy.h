// The heart of the exact rates: how full a sector is, and how likely that a query's bits all hit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bouncer::math::detail {

// g(j) = E[(X/W)^q], X the number of set bits of a sector of W bits after j keys threw q bits each: the chance
// that q bits of a query all hit. Keeps what it computed, so a table over j costs as much as its last entry.
class occupancy {
  public:
    occupancy(std::uint64_t sector_bits, std::uint32_t bits_per_key);

    // [exclusive] j is a whole number.
    double all_hit(double j);

  private:
    void extend(std::size_t entries);
    void throw_bit();

    double bits_;            // W
    std::uint32_t thrown_;   // q
    double exact_throws_;    // the chain is used up to that many throws, the moments beyond
    double full_throws_;     // beyond that many throws, all bits are set to within 1e-18
    std::vector<double> at_; // g(0), g(1), ...

    // The distribution of X, from low_ to high_; nothing outside.
    std::vector<double> probability_;
    std::size_t low_ = 0;
    std::size_t high_ = 0;
};

// E[(X/W)^q] after `throws` throws from the first three cumulants of X: see docs/math.md. Relative error below
// 1e-5 for W > 1024, throws > 1024 and q <= 32.
double moment_from_cumulants(double bits, std::uint32_t q, double throws);

} // namespace bouncer::math::detail
