// The kernel tables of the x86-64 instruction sets, one per file.
#pragma once

#include <bouncer/detail/kernels.h>

namespace bouncer::detail {

#if defined(__x86_64__)
extern const kernel_table avx2_kernels;
extern const kernel_table avx512_kernels;
#endif

} // namespace bouncer::detail
