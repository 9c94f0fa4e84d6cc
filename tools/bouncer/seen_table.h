// What `bouncer dedup` remembers by default: 64-bit fingerprints in an open table that grows by partition.
#pragma once

#include <bouncer/region.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bouncer::tool {

// A growing set of 64-bit hashes. 32 partitions by the highest bits; in each, a hash is looked for from where its other
// bits point (in the order of the hashes, so that a partition grows by one sequential pass) up to an empty slot. A
// partition grows alone, by half, when it is three quarters full: 11 to 16 bytes a hash at any moment, and a search for a
// new hash reads 2.5 to 8.5 slots in the mean. While a partition moves, 1/32 of the table is there twice. (To double the
// whole at 13/16 would be 10 to 20 bytes, and 30 while it moves.)
// [exclusive]
//
// With `tag_bits` the lowest bits of a slot are not the hash's: they say when it was last seen, for who forgets. Such a
// fingerprint has 61 bits.
class seen_table {
  public:
    explicit seen_table(unsigned tag_bits = 0);

    // seen[i]: was hashes[i] there? It is, afterwards. In order, so that of two equal ones the first is new. Throws
    // tool_error when there is no memory.
    void test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> seen) {
        test_and_add(hashes, seen, 0);
    }
    // The same of a table with tags: whatever was there gets the tag.
    void test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> seen, std::uint64_t tag);
    // What for_each() gave.
    void restore(std::uint64_t hash_and_tag);
    // Keeps what keep(tag) says, in tables that fit what stays.
    template <class Keep>
    void sweep(Keep keep) {
        for (partition& one : partitions_) {
            std::uint64_t stay = 0;
            for (std::uint64_t i = 0; i < one.slots + spare; ++i) {
                const std::uint64_t slot = one.table()[i];
                if (slot != empty && keep(slot & tags_)) ++stay;
            }
            size_ -= one.used - stay;
            rebuild(one, stay, [&](std::uint64_t slot) { return keep(slot & tags_); });
        }
    }
    std::uint64_t size() const noexcept { return size_; }
    std::uint64_t size_bytes() const noexcept;

    // visit(hash) for each; of a table with tags, with the tag in its place.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const partition& one : partitions_)
            for (std::uint64_t i = 0; i < one.slots + spare; ++i)
                if (const std::uint64_t slot = one.table()[i]; slot != empty)
                    visit(((slot & ~tags_) * inverse_) | (slot & tags_));
    }

  private:
    static constexpr unsigned partition_bits = 5;
    static constexpr std::uint64_t first_slots = 512;
    static constexpr std::uint64_t spare = 64; // slots behind the last that a hash can point to
    static constexpr std::uint64_t empty =
        0; // a slot that would be 0 is kept as another: one collision more in 2^64

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
    // A new partition, half full with the `stay` slots that are kept.
    template <class Keep>
    void rebuild(partition& which, std::uint64_t stay, Keep keep) {
        // Hostile input may crowd the end of a partition: then larger again.
        for (std::uint64_t slots = std::max(first_slots, stay * 2 / 8 * 8);; slots *= 2) {
            partition other = make(slots);
            bool whole = true;
            for (std::uint64_t i = 0; i < which.slots + spare && whole; ++i)
                if (const std::uint64_t slot = which.table()[i]; slot != empty && keep(slot))
                    whole = put(other, slot);
            if (!whole) continue;
            which = std::move(other);
            return;
        }
    }
    // False where the slots ended before an empty one came.
    static bool put(partition& in, std::uint64_t hash) noexcept;
    static std::uint64_t place(const partition& in, std::uint64_t hash) noexcept;

    std::array<partition, std::size_t{1} << partition_bits> partitions_;
    std::uint64_t tags_; // the bits of a slot that are a tag
    // Slots hold hash * odd_, of which nobody outside knows the factor: hashes that were chosen to be neighbours are not,
    // and neither memory nor time can be made to explode. An odd factor loses nothing, and leaves low zeros (the tag) zero.
    std::uint64_t odd_;
    std::uint64_t inverse_;
    std::uint64_t size_ = 0;
};

} // namespace bouncer::tool
