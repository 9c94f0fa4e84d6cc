// The numbers behind every Bloom layout: exact false-positive rates (FPR) and the sizes that follow from
// them. docs/math.md derives each formula.
//
// One geometry describes all layouts, so one formula serves them all; no published shortcut is used, because
// those of blocked layouts promise too much (0.0081 % where 0.0101 % is true).
//
// All functions are pure. None returns NaN for finite input: no keys give a rate of 0, too many give 1. For the
// layouts in the table below none takes more than milliseconds; absurd sectors (thousands of large ones) may take
// seconds. Callers validate what users typed.
#pragma once

#include <cstdint>
#include <optional>

namespace bouncer::math {

// Where the bits of one key go.
//
//   layout                             blocks  groups  sectors  sector_bits  bits_per_group
//   flat                                    1       1        1            m               k
//   flat, partitioned                       1       k        1          m/k               1
//   512-bit block, any k                    b       1        1          512               k
//   512-bit block, 8 lanes x 64             b       8        1           64               1
//   the same, 2 bits a lane                 b       8        1           64               2
//   two adjacent lines, 16 x 64             b      16        1           64               1
//   Parquet's split block, 8 x 32           b       8        1           32               1
//   cache-sectorised, 2 x (4 x 64)          b       2        4           64             k/2
//   cache-sectorised, 4 x (2 x 64)          b       4        2           64             k/4
//   64-bit register                         b       1        1           64               k
struct geometry {
    std::uint64_t blocks = 1;         // a key goes to one block, chosen uniformly;
    std::uint32_t groups = 1;         // in each group of that block
    std::uint32_t sectors = 1;        // it picks one sector, uniformly,
    std::uint64_t sector_bits = 0;    // of that many bits,
    std::uint32_t bits_per_group = 1; // and throws that many bits into it, with replacement

    // [immutable] Wraps beyond 2^64; sizing never returns a geometry that does.
    constexpr std::uint64_t total_bits() const noexcept { return blocks * groups * sectors * sector_bits; }
    // [immutable] Bits thrown per key.
    constexpr std::uint64_t k() const noexcept { return std::uint64_t{groups} * bits_per_group; }

    friend constexpr bool operator==(const geometry&, const geometry&) = default;
};

// ---- the rate --------------------------------------------------------------------------------------------

// [any-thread] The expected FPR with `keys` distinct keys added (rounded to a whole number), including the
// chance that the query's 64-bit hash equals a stored one. Exact for sectors of at most 1024 bits, for at
// most 1024 bits thrown, and for one bit per group; elsewhere the relative error is below 1e-5 for k <= 32.
// More than 1024 bits per group count as 1024. Costs 1 us to 1 ms, some ms for overfilled blocks.
double fpr(const geometry& shape, double keys);

// [any-thread] The chance that a new key's hash equals one of `keys` stored hashes: 1 - exp(-keys / 2^bits).
double hash_collision_rate(double keys, unsigned hash_bits = 64);

// [any-thread] The bits that say which `listed` of listed + others keys are meant, log2 of how many choices there are: no
// exact set over a closed universe can do with less.
double exact_set_bits(std::uint64_t listed, std::uint64_t others);

// [any-thread] log2(1 / rate): no filter for sets of any size does with fewer bits per key.
double lower_bound_bits_per_key(double rate);

// ---- the fill --------------------------------------------------------------------------------------------

// [any-thread] The expected fraction of set bits. Exact.
double expected_fill(const geometry& shape, double keys);
// [any-thread] The variance of the fraction of set bits, between filters. Exact.
double fill_variance(const geometry& shape, double keys);
// [any-thread] The most that chance does to the fill of a filter with `keys` keys: 5 sigma above the expected fill, which one
// filter in 3 million exceeds. More than that says that there are more keys.
double fill_limit(const geometry& shape, double keys, double sigmas = 5);
// [any-thread] The number of keys at which `zero_fraction` of the bits is expected to be zero: an estimate of
// the cardinality. Infinity for a full filter, which says nothing.
double keys_for_zero_fraction(const geometry& shape, double zero_fraction);

// ---- sizing ----------------------------------------------------------------------------------------------

// Which number of a geometry sizing may change.
enum class growth : std::uint8_t { blocks, sector_bits };

// [any-thread] The shape with the smallest blocks or sector_bits, a multiple of `granule` and at most `most`,
// whose exact FPR at `keys` keys is at most `rate`: one granule less is above it. nullopt when none is.
std::optional<geometry> smallest(geometry shape, growth what, std::uint64_t granule, std::uint64_t keys,
                                 double rate, std::uint64_t most);

// [any-thread] The most keys at which the FPR is at most `rate`; 0 when one key is too many, 2^63 when there is
// no limit below that.
std::uint64_t capacity(const geometry& shape, double rate);

} // namespace bouncer::math
