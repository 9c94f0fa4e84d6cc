// Placement on NUMA nodes through libnuma, loaded at run time so that nothing links to it.
#pragma once

#include <cstdint>

#include "bouncer/region.h"

namespace bouncer::detail {

// Whether the policy can be asked for: the library is there and the node exists. For use before allocating.
result<void> check_numa(numa_policy policy, int node);

// Sets the policy of page-aligned memory that nobody has touched yet. Precondition: check_numa succeeded.
result<void> apply_numa(void* data, std::uint64_t bytes, numa_policy policy, int node);

} // namespace bouncer::detail
