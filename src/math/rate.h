// The FPR of a geometry, with the tables that do not depend on the number of blocks or keys kept.
#pragma once

#include "bouncer/math.h"
#include "math/occupancy.h"

#include <vector>

namespace bouncer::math::detail {

class rate_of {
  public:
    explicit rate_of(const geometry& shape);

    // [exclusive] The FPR of the shape with another number of blocks.
    double operator()(double blocks, double keys);

  private:
    double of_block(double load); // FPR of a block that holds `load` keys

    geometry shape_;
    occupancy sector_;
    std::vector<double> of_block_; // the first values; negative where not computed yet
};

} // namespace bouncer::math::detail
