// The kernels for AVX2: the text of include/bouncer/detail and batch.inl once more, compiled for it.
#if defined(__x86_64__)

#include "kernels/tables.h"

#include <bouncer/words.h>

#include <array>
#include <bit>
#include <cstring>
#include <immintrin.h>

#define BOUNCER_VECTOR
#define BOUNCER_TARGET_AVX2
#include "base/target_begin.h"

namespace bouncer::detail {
namespace for_avx2 {
namespace {

#include <bouncer/detail/load_block.inl>
#include <bouncer/detail/pipeline.inl>

#include <bouncer/detail/lines_pair.inl>

#include <bouncer/detail/lines_avx2.inl>

#include <bouncer/detail/probes.inl>

#include "kernels/batch.inl"
#include "kernels/cells.inl"

} // namespace
} // namespace for_avx2

constinit const bit_ops_table avx2_ops = for_avx2::table_of(all_forms{});
constinit const cell_ops_table avx2_cell_ops = for_avx2::cell_table();

} // namespace bouncer::detail

#include "base/target_end.h"

#endif
