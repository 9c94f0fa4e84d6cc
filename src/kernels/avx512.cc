// The kernels for AVX512: the text of include/bouncer/detail and batch.inl once more, compiled for it.
#if defined(__x86_64__)

#include "kernels/tables.h"

#include <bouncer/words.h>

#include <array>
#include <bit>
#include <cstring>
#include <immintrin.h>

#define BOUNCER_VECTOR
#define BOUNCER_TARGET_AVX512
#include "base/target_begin.h"

namespace bouncer::detail {
namespace for_avx512 {
namespace {

#include <bouncer/detail/load_block.inl>
#include <bouncer/detail/pipeline.inl>

#include <bouncer/detail/lines_pair.inl>

#include <bouncer/detail/lines_avx512.inl>

#include <bouncer/detail/probes.inl>

#include "kernels/batch.inl"
#include "kernels/cells.inl"

} // namespace
} // namespace for_avx512

constinit const bit_ops_table avx512_ops = for_avx512::table_of(all_forms{});
constinit const cell_ops_table avx512_cell_ops = for_avx512::cell_table();

} // namespace bouncer::detail

#include "base/target_end.h"

#endif
