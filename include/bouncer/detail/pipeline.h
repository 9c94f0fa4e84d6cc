// The batch loop for baseline code; see pipeline.inl.
#pragma once

#include <cstddef>

namespace bouncer::detail {
#include <bouncer/detail/pipeline.inl>
} // namespace bouncer::detail
