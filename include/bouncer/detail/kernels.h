// SIMD kernels, chosen at run time from what the processor can do.
#pragma once

#include <bouncer/detail/isa.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

// answers[i] = whether the block of hashes[i] covers its mask; returns how many do. `words` is 64-byte aligned.
using query_kernel = std::size_t (*)(const std::uint64_t* words, std::uint64_t blocks,
                                     const std::uint64_t* hashes, std::size_t count, bool* answers) noexcept;
// [exclusive] Sets the bits of all; returns how many saw a zero bit, each after those before it.
using add_kernel = std::size_t (*)(std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                                   std::size_t count) noexcept;
// [exclusive] The same without a count: a quarter to a third less time while the filter is in a cache.
using put_kernel = void (*)(std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                            std::size_t count) noexcept;
// Whether one block covers the mask of a hash.
using cover_function = bool (*)(const std::uint64_t* block, std::uint64_t hash) noexcept;
// [exclusive] Sets the bits of one hash in its block; returns whether one was zero.
using set_function = bool (*)(std::uint64_t* block, std::uint64_t hash) noexcept;

// Cells in two adjacent lines (cell_of), `each` of them per line (1 to 8): answers[i] = whether the cells of hashes[i] are
// all other than zero; or whether one bit of `live` is in all of them.
using cell_kernel = std::size_t (*)(const std::uint64_t* words, std::uint64_t blocks, std::uint32_t each,
                                    std::uint8_t live, const std::uint64_t* hashes, std::size_t count,
                                    bool* answers) noexcept;

// A null entry: no kernel, the scalar loop over the specification serves.
struct kernel_table {
    query_kernel lanes8 = nullptr;      // 8 lanes x 64 in a line
    query_kernel lanes16 = nullptr;     // 16 lanes x 64 in two adjacent lines
    query_kernel split_block = nullptr; // Parquet's 8 lanes x 32
    add_kernel add_lanes8 = nullptr;
    add_kernel add_lanes16 = nullptr;
    add_kernel add_split_block = nullptr;
    put_kernel put_lanes8 = nullptr;
    put_kernel put_lanes16 = nullptr;
    put_kernel put_split_block = nullptr;
    std::array<query_kernel, 9> registers = {}; // by k; [0] is null
    std::array<query_kernel, 9> sectors2 = {};  // by bits per group, k / 2
    std::array<query_kernel, 5> sectors4 = {};  // by bits per group, k / 4
    cell_kernel nonzero_halves = nullptr;       // cells of 4 bits; of 8
    cell_kernel nonzero_bytes = nullptr;
    cell_kernel common_halves = nullptr;
    cell_kernel common_bytes = nullptr;
    cover_function lanes8_covers = nullptr; // these four are never null in a table that is in use
    cover_function lanes16_covers = nullptr;
    set_function lanes8_set = nullptr;
    set_function lanes16_set = nullptr;
};

// [any-thread] The table in use: decided at the first call, the same ever after.
const kernel_table& active_kernels() noexcept;

// The single-key functions of the table in use, for code that is not compiled for AVX2 itself. Each begins as a function
// that looks up the table and puts the right one in its own place, which leaves a relaxed load and an indirect call.
extern constinit std::atomic<cover_function> active_lanes8_covers;
extern constinit std::atomic<cover_function> active_lanes16_covers;
extern constinit std::atomic<set_function> active_lanes8_set;
extern constinit std::atomic<set_function> active_lanes16_set;

// [any-thread] The table of one instruction set; null when this processor, or this build, lacks it.
const kernel_table* kernels_of(isa which) noexcept;

} // namespace bouncer::detail
