// Query kernels for AVX2: a line is two registers.
#if defined(__x86_64__)

#include "kernels/tables.h"

#include <bouncer/detail/block_mask.h>

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#define BOUNCER_TARGET_AVX2
#include "kernels/target_begin.h"

namespace bouncer::detail {
namespace {

#include "memory/load_block.h"
#include <bouncer/detail/pipeline.inl>

#include "kernels/avx2_blocks.inl"
#include "kernels/split_block.inl"

#include "kernels/block_batch.inl"

} // namespace

constinit const kernel_table avx2_kernels{query_batch<lanes8_block>, query_batch<lanes16_block>,
                                          query_batch<split_block>};

} // namespace bouncer::detail

#include "kernels/target_end.h"

#endif
