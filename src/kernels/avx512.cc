// Query kernels for AVX-512 (F and DQ): a line is one register.
#if defined(__x86_64__)

#include "kernels/tables.h"

#include <bouncer/detail/block_mask.h>

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#if defined(__GNUC__) && !defined(__clang__) // g++ 12's own headers trip over these
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define BOUNCER_TARGET_AVX512
#include "kernels/target_begin.h"

namespace bouncer::detail {
namespace {

#include "memory/load_block.h"
#include <bouncer/detail/pipeline.inl>

#include "kernels/avx512_blocks.inl"
#include "kernels/split_block.inl"

#include "kernels/block_batch.inl"

} // namespace

constinit const kernel_table avx512_kernels{query_batch<lanes8_block>, query_batch<lanes16_block>,
                                            query_batch<split_block>};

} // namespace bouncer::detail

#include "kernels/target_end.h"

#endif
