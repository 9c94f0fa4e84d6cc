// Kernels for AVX-512 (F and DQ): a line is one register.
#if defined(__x86_64__)

#include "kernels/tables.h"

#include <bouncer/detail/block_mask.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#define BOUNCER_TARGET_AVX512
#include "base/target_begin.h"

namespace bouncer::detail {
namespace {

#include <bouncer/detail/load_block.h>
#include <bouncer/detail/pipeline.inl>

#include <bouncer/detail/avx512_lines.inl>

#include "kernels/block_batch.inl"
#include "kernels/cell_batch.inl"
#include "kernels/register_batch.inl"

} // namespace

constinit const kernel_table avx512_kernels{
#include "kernels/entries.inl"
};

} // namespace bouncer::detail

#include "base/target_end.h"

#endif
