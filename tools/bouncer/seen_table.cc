#include "seen_table.h"

#include <bouncer/detail/bits.h>

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

namespace bouncer::tool {

seen_table::seen_table(unsigned tag_bits) : tags_((std::uint64_t{1} << tag_bits) - 1) {
    if (::getrandom(&odd_, sizeof odd_, 0) != sizeof odd_)
        odd_ = detail::mix64(static_cast<std::uint64_t>(::getpid()));
    odd_ |= 1;
    inverse_ = odd_; // right in the lowest 3 bits; every step doubles them
    for (int step = 0; step < 5; ++step) inverse_ *= 2 - odd_ * inverse_;
    for (partition& one : partitions_) resize(one, first_slots);
}

void seen_table::expect(std::uint64_t hashes) noexcept {
    const std::uint64_t each = hashes / partitions_.size();
    expected_slots_ = (each + each / 32) / 24 * 32; // a little more: partitions are not equally full
}

void seen_table::resize(partition& which, std::uint64_t slots) {
    which.words.grow(slots + spare);
    which.slots = slots;
    which.most = slots / 4 * 3;
}

std::uint64_t seen_table::place(const partition& in, std::uint64_t slot) noexcept {
    return detail::fast_range(slot << partition_bits, in.slots);
}

bool seen_table::put(partition& in, std::uint64_t slot) noexcept {
    std::uint64_t* const table = in.table();
    const std::uint64_t end = in.slots + spare - 1; // the last stays empty: searches end there
    for (std::uint64_t at = place(in, slot); at < end; ++at) {
        if (table[at] != empty) continue;
        table[at] = slot;
        return true;
    }
    return false;
}

// Slot i goes to place p >= i, or as far behind as the next empty one. Those above i have moved already, and those that move
// later leave slots below i: no hole comes between a slot and its place. Near the start a slot may lie further behind its old
// place than the new one is ahead, so the first few thousand are taken out and put in again at the end.
bool seen_table::spread(partition& which, std::uint64_t before) {
    constexpr std::uint64_t first_part = 1024;
    std::uint64_t* const table = which.table();
    const std::uint64_t end = which.slots + spare - 1;
    for (std::uint64_t i = before + spare; i-- > first_part;) {
        const std::uint64_t slot = table[i];
        if (slot == empty) continue;
        std::uint64_t at = place(which, slot);
        if (at < i) return false;
        table[i] = empty;
        while (at < end && table[at] != empty) ++at;
        table[at] = slot; // at the end itself, too, so that nothing is lost
        if (at == end) return false;
    }
    std::uint64_t taken[first_part];
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < first_part; ++i) {
        if (table[i] != empty) taken[count++] = table[i];
        table[i] = empty;
    }
    for (std::uint64_t i = 0; i < count; ++i)
        if (!put(which, taken[i])) {
            // Into any hole: refill() looks at all slots.
            for (std::uint64_t at = 0; i < count; ++at)
                if (table[at] == empty) table[at] = taken[i++];
            return false;
        }
    return true;
}

void seen_table::refill(partition& which, std::uint64_t slots, const std::vector<std::uint64_t>& content) {
    for (;; slots *= 2) {
        which.words.reset(slots + spare);
        resize(which, slots);
        which.used = content.size();
        if (std::all_of(content.begin(), content.end(), [&](std::uint64_t slot) { return put(which, slot); }))
            return;
    }
}

void seen_table::grow(partition& which) {
    const std::uint64_t before = which.slots;
    // The steps of a table that knows where it goes are an even share of that, so that the last is no small one.
    std::uint64_t slots = expected_slots_;
    while (slots / 4 > before) slots = slots / 4 / 8 * 8;
    resize(which, std::max(slots, before + before / 2 / 8 * 8));
    if (spread(which, before)) return;
    std::vector<std::uint64_t> content; // crowded as random numbers are not: anew, in memory enough for both
    for (std::uint64_t i = 0; i < which.words.size(); ++i)
        if (which.table()[i] != empty) content.push_back(which.table()[i]);
    refill(which, which.slots, content);
}

void seen_table::test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> seen,
                              std::uint64_t tag) {
    constexpr std::size_t ahead = 24;
    constexpr unsigned shift = 64 - partition_bits;
    const std::uint64_t tags = tags_;
    const std::uint64_t odd = odd_;
    const std::size_t count = hashes.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (i + ahead < count) {
            const std::uint64_t later = (hashes[i + ahead] & ~tags) * odd;
            const partition& in = partitions_[later >> shift];
            __builtin_prefetch(in.table() + place(in, later), 1);
        }
        std::uint64_t hash = (hashes[i] & ~tags) * odd;
        if (hash == empty) hash = tags + 1; // kept as its neighbour
        partition& in = partitions_[hash >> shift];
        std::uint64_t* at = in.table() + place(in, hash);
        while ((*at & ~tags) != hash && *at != empty) ++at;
        seen[i] = *at != empty;
        if (seen[i]) {
            if (tags != 0) *at = hash | tag;
            continue;
        }
        if (in.used >= in.most || at == in.table() + in.slots + spare - 1) {
            do grow(in);
            while (!put(in, hash | tag));
            ++in.used;
        } else {
            *at = hash | tag;
            ++in.used;
        }
        ++size_;
    }
}

void seen_table::restore(std::uint64_t hash_and_tag) {
    bool there = false;
    test_and_add({&hash_and_tag, 1}, {&there, 1}, hash_and_tag & tags_);
}

std::uint64_t seen_table::size_bytes() const noexcept {
    std::uint64_t out = 0;
    for (const partition& one : partitions_) out += one.words.size() * sizeof(std::uint64_t);
    return out;
}

} // namespace bouncer::tool
