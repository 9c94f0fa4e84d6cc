// SIMD kernels for query batches, chosen at run time from what the processor can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bouncer::detail {

// BOUNCER_ISA=scalar|avx2|avx512 in the environment forces one, for tests; one that the processor lacks, or a word
// that is not in this list, is passed over.
enum class isa : std::uint8_t { scalar, avx2, avx512 };

// answers[i] = whether the block of hashes[i] covers its mask; returns how many do. `words` is 64-byte aligned.
using query_kernel = std::size_t (*)(const std::uint64_t* words, std::uint64_t blocks,
                                     const std::uint64_t* hashes, std::size_t count, bool* answers) noexcept;

// A null entry: no kernel, the scalar loop over the specification serves.
struct kernel_table {
    query_kernel lanes8 = nullptr;      // 8 lanes x 64 in a line
    query_kernel lanes16 = nullptr;     // 16 lanes x 64 in two adjacent lines
    query_kernel split_block = nullptr; // Parquet's 8 lanes x 32
};

// [any-thread] The table in use: decided at the first call, the same ever after.
const kernel_table& active_kernels() noexcept;
isa active_isa() noexcept;

// [any-thread] The table of one instruction set; null when this processor, or this build, lacks it.
const kernel_table* kernels_of(isa which) noexcept;

constexpr std::string_view name_of(isa which) noexcept {
    switch (which) {
    case isa::scalar: return "scalar";
    case isa::avx2: return "avx2";
    case isa::avx512: return "avx512";
    }
    return "unknown";
}

} // namespace bouncer::detail
