// What `bouncer dedup` remembers by default: 64-bit fingerprints in an open table that grows by partition.
#pragma once

#include "growing_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bouncer::tool {

// A growing set of 64-bit hashes. 8 partitions by the highest bits; in each, a hash is looked for from where its other
// bits point, in the order of the hashes, up to an empty slot. A partition grows alone, by half, when it is three quarters
// full, and where it is: since order is kept, its slots move up one by one, the last first, and no second copy is needed.
// 11 to 16 bytes a hash at any moment; a search for a new hash reads 2.5 to 8.5 slots in the mean. Growing takes
// half of the time, 15 ns for each slot that moves (0.25 of 0.44 s for 7M hashes from nothing): see expect().
//
// With `tag_bits` the lowest bits of a slot are not the hash's: they say when it was last seen, for who forgets. Such a
// fingerprint has 61 bits.
class seen_table {
  public:
    explicit seen_table(unsigned tag_bits = 0);
    // So many hashes may come: up to there it grows by four, and half of the time, which goes into growing otherwise, is
    // spared. Room is made for four times as many as have come at most, so that a hint which is wrong costs little: at
    // 43 bytes a hash instead of 16.
    void expect(std::uint64_t hashes) noexcept;

    // seen[i]: was hashes[i] there? It is, afterwards. In order, so that of two equal ones the first is new. Throws
    // tool_error when there is no memory.
    void test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> seen) {
        test_and_add(hashes, seen, 0);
    }
    // The same of a table with tags: whatever was there gets the tag.
    void test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> seen, std::uint64_t tag);
    // What for_each() gave.
    void restore(std::uint64_t hash_and_tag);
    // Keeps what keep(tag) says, in partitions that fit what stays.
    template <class Keep>
    void sweep(Keep keep) {
        for (partition& one : partitions_) {
            std::vector<std::uint64_t> stay;
            for (std::uint64_t i = 0; i < one.words.size(); ++i)
                if (const std::uint64_t slot = one.table()[i]; slot != empty && keep(slot & tags_))
                    stay.push_back(slot);
            size_ -= one.used - stay.size();
            refill(one, std::max(first_slots, stay.size() * 2 / 8 * 8), stay);
        }
    }

    std::uint64_t size() const noexcept { return size_; }
    std::uint64_t size_bytes() const noexcept;

    // visit(hash) for each; of a table with tags, with the tag in its place.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const partition& one : partitions_)
            for (std::uint64_t i = 0; i < one.words.size(); ++i)
                if (const std::uint64_t slot = one.table()[i]; slot != empty)
                    visit(((slot & ~tags_) * inverse_) | (slot & tags_));
    }

  private:
    static constexpr unsigned partition_bits = 3;
    static constexpr std::uint64_t first_slots = 2048;
    static constexpr std::uint64_t spare = 64; // slots behind the last that a hash can point to
    static constexpr std::uint64_t empty =
        0; // a slot that would be 0 is kept as another: one collision more in 2^64

    struct partition {
        growing_words words;
        std::uint64_t slots = 0; // that hashes point to
        std::uint64_t used = 0;
        std::uint64_t most = 0;
        std::uint64_t* table() const noexcept { return words.data(); }
    };
    static void resize(partition& which, std::uint64_t slots);
    void grow(partition& which);
    // Moves the slots of a partition that has just been resized from `before` slots. False where that cannot be done in place.
    static bool spread(partition& which, std::uint64_t before);
    // The partition with these slots and no others.
    static void refill(partition& which, std::uint64_t slots, const std::vector<std::uint64_t>& content);
    // False where the slots ended before an empty one came.
    static bool put(partition& in, std::uint64_t slot) noexcept;
    static std::uint64_t place(const partition& in, std::uint64_t slot) noexcept;

    std::array<partition, std::size_t{1} << partition_bits> partitions_;
    std::uint64_t tags_; // the bits of a slot that are a tag
    // Slots hold hash * odd_, of which nobody outside knows the factor: hashes that were chosen to be neighbours are not,
    // and neither memory nor time can be made to explode. An odd factor loses nothing, and leaves low zeros (the tag) zero.
    std::uint64_t odd_;
    std::uint64_t inverse_;
    std::uint64_t size_ = 0;
    std::uint64_t expected_slots_ = 0; // of a partition
};

} // namespace bouncer::tool
