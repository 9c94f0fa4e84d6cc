// The size of a dcso_bloom: what DCSO's program would choose for n keys at a rate of p.
#pragma once

#include <bouncer/dcso_bloom.h>

#include <cstdint>

namespace bouncer::detail {

// [any-thread] m = floor(n |ln p| / ln(2)^2) and k = ceil(ln(2) m / n), rounded step by step as the program does on x86-64;
// at least 1 each, where the program would make a filter that it cannot use. k may exceed what a filter takes.
// Preconditions: 1 <= n <= 2^48, 0 < p < 1.
dcso_bloom_parameters dcso_size(std::uint64_t n, double p) noexcept;

} // namespace bouncer::detail
