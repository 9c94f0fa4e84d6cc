#include "chunks.h"

#include <algorithm>
#include <bit>

namespace bench {

chunk chunk_of(std::span<const std::uint64_t> pool, std::uint64_t filter_bytes, unsigned round,
               unsigned thread, unsigned threads) {
    const std::size_t lines = std::max<std::uint64_t>(1, filter_bytes / 64);
    const std::size_t most = std::bit_floor(std::min(pool.size() / threads, std::size_t{1} << 22));
    const std::size_t alone =
        std::clamp(std::bit_ceil(4 * lines), std::min(most, std::size_t{1} << 16), most);
    const std::size_t count = threads == 1 ? alone : most; // long, so that the threads run at the same time
    const std::size_t slots = pool.size() / count;
    const std::size_t slot = (std::size_t{round} * threads + thread) % slots;
    const std::size_t other = (slot + slots / 2) % slots;
    return {pool.subspan(slot * count, count), pool.subspan(other * count, count / 2)};
}

void touch(std::span<const std::uint64_t> hashes) {
    constexpr std::size_t most = (std::size_t{1} << 20) / sizeof(std::uint64_t);
    if (hashes.size() > most) return;
    std::uint64_t sum = 0;
    for (const std::uint64_t hash : hashes) sum += hash;
    __asm__ volatile("" : : "r"(sum));
}

} // namespace bench
