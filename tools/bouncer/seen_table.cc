#include "seen_table.h"

#include "text.h"
#include "tool_error.h"

#include <bouncer/detail/bits.h>

#include <sys/random.h>
#include <unistd.h>

#include <utility>

namespace bouncer::tool {

seen_table::seen_table(unsigned tag_bits) : tags_((std::uint64_t{1} << tag_bits) - 1) {
    if (::getrandom(&odd_, sizeof odd_, 0) != sizeof odd_)
        odd_ = detail::mix64(static_cast<std::uint64_t>(::getpid()));
    odd_ |= 1;
    inverse_ = odd_; // right in the lowest 3 bits; every step doubles them
    for (int step = 0; step < 5; ++step) inverse_ *= 2 - odd_ * inverse_;
    for (partition& one : partitions_) one = make(first_slots);
}

seen_table::partition seen_table::make(std::uint64_t slots) {
    const std::uint64_t bytes = (slots + spare) * sizeof(std::uint64_t);
    auto memory = region::allocate(bytes);
    if (!memory)
        throw tool_error("no memory for a part of the table, " + bytes_text(bytes) + ": " +
                         memory.error().message + "; --filter needs less");
    partition out;
    out.memory = std::move(*memory);
    out.slots = slots;
    out.most = slots / 4 * 3;
    return out;
}

std::uint64_t seen_table::place(const partition& in, std::uint64_t hash) noexcept {
    return detail::fast_range(hash << partition_bits, in.slots);
}

bool seen_table::put(partition& in, std::uint64_t hash) noexcept {
    std::uint64_t* const table = in.table();
    const std::uint64_t end = in.slots + spare - 1; // the last stays empty: searches end there
    for (std::uint64_t at = place(in, hash); at < end; ++at) {
        if (table[at] != empty) continue;
        table[at] = hash;
        ++in.used;
        return true;
    }
    return false;
}

void seen_table::grow(partition& which) {
    rebuild(which, which.slots / 4 * 3, [](std::uint64_t) { return true; });
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
            grow(in);
            while (!put(in, hash | tag)) grow(in);
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
    for (const partition& one : partitions_) out += one.memory.size_bytes();
    return out;
}

} // namespace bouncer::tool
