// What `bouncer dedup` remembers by default: 64-bit fingerprints in an open table that grows by partition.
#pragma once

#include <bouncer/region.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bouncer::tool {

// A growing set of 64-bit hashes. 32 partitions by the highest bits; in each, a hash is looked for from where its other
// bits point (in the order of the hashes, so that a partition grows by one sequential pass) up to an empty slot. A
// partition grows alone, by half, when it is three quarters full: 11 to 16 bytes a hash at any moment, and a search for a
// new hash reads 2.5 to 8.5 slots in the mean. While a partition moves, 1/32 of the table is there twice. (To double the
// whole at 13/16 would be 10 to 20 bytes, and 30 while it moves.)
// [exclusive]
class seen_table {
  public:
    seen_table();

    // seen[i]: was hashes[i] there? It is, afterwards. In order, so that of two equal ones the first is new. Throws
    // tool_error when there is no memory.
    void test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> seen);
    std::uint64_t size() const noexcept { return size_; }
    std::uint64_t size_bytes() const noexcept;

    // visit(hash) for each.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const partition& one : partitions_)
            for (std::uint64_t i = 0; i < one.slots + spare; ++i)
                if (one.table()[i] != empty) visit(one.table()[i]);
    }

  private:
    static constexpr unsigned partition_bits = 5;
    static constexpr std::uint64_t spare = 64; // slots behind the last that a hash can point to
    static constexpr std::uint64_t empty = 0;  // the hash 0 is kept as 1: one collision more in 2^64

    struct partition {
        region memory;
        std::uint64_t slots = 0; // that hashes point to
        std::uint64_t used = 0;
        std::uint64_t most = 0;
        std::uint64_t* table() const noexcept {
            return static_cast<std::uint64_t*>(const_cast<void*>(memory.data()));
        }
    };
    static partition make(std::uint64_t slots);
    void grow(partition& which);
    // False where the slots ended before an empty one came.
    static bool put(partition& in, std::uint64_t hash) noexcept;
    static std::uint64_t place(const partition& in, std::uint64_t hash) noexcept;

    std::array<partition, std::size_t{1} << partition_bits> partitions_;
    std::uint64_t size_ = 0;
};

} // namespace bouncer::tool
