// Which hashes a variant gets in a round. All variants of a round get the same ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

// Hashes handed over in one call of a batch: long enough to hide the call and the pipeline's start, short enough that
// the answers stay in L1.
inline constexpr std::size_t batch_size = 4096;

struct chunk {
    std::span<const std::uint64_t> timed;
    std::span<const std::uint64_t> warm; // others, to be run first
};

// Four times the lines of a filter, from 64K to the pool's share of a thread (4M), so that big filters do not measure
// cold page tables; half as many to warm up, which touch six lines of seven.
chunk chunk_of(std::span<const std::uint64_t> pool, std::uint64_t filter_bytes, unsigned round,
               unsigned thread, unsigned threads);

// Reads hashes that are about to be timed into the cache when they fit there: it is the filter that is measured.
void touch(std::span<const std::uint64_t> hashes);

} // namespace bench
