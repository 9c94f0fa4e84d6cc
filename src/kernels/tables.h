// The kernel tables, of each instruction set in its file.
#pragma once

#include <bouncer/detail/bit_ops.h>
#include <bouncer/detail/cell_ops.h>

namespace bouncer::detail {

extern const bit_ops_table scalar_ops;
extern const cell_ops_table scalar_cell_ops;
#if defined(__x86_64__)
extern const bit_ops_table avx2_ops;
extern const bit_ops_table avx512_ops;
extern const cell_ops_table avx2_cell_ops;
extern const cell_ops_table avx512_cell_ops;
#endif

} // namespace bouncer::detail
