#include <bouncer/detail/ordered_hashes.h>

#include <array>
#include <new>
#include <utility>

namespace bouncer::detail {

namespace {

// 2048 runs: a slice of 1/2048 of a filter of 1 GiB fits into a second-level cache of 512 KiB, and so do the lines that
// the runs are written to.
constexpr unsigned order_bits = 11;

constexpr std::size_t run_of(std::uint64_t hash) noexcept {
    return static_cast<std::size_t>(hash >> (64 - order_bits));
}

} // namespace

ordered_hashes::ordered_hashes(region memory, std::size_t count) noexcept
    : memory_(std::move(memory)), hashes_(static_cast<std::uint64_t*>(memory_.data()), count),
      places_(reinterpret_cast<std::uint32_t*>(static_cast<std::uint64_t*>(memory_.data()) + count)) {}

std::optional<ordered_hashes> ordered_hashes::of(std::span<const std::uint64_t> hashes) noexcept {
    if (hashes.empty() || hashes.size() > most) return std::nullopt;
    auto memory = region::allocate(hashes.size() * (sizeof(std::uint64_t) + sizeof(std::uint32_t)));
    if (!memory) return std::nullopt;
    ordered_hashes out(std::move(*memory), hashes.size());
    std::array<std::uint32_t, std::size_t{1} << order_bits>
        next{}; // first how many, then where the next one goes
    for (const std::uint64_t hash : hashes) ++next[run_of(hash)];
    std::uint32_t first = 0;
    for (std::uint32_t& each : next) first += std::exchange(each, first);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const std::uint32_t at = next[run_of(hashes[i])]++;
        out.hashes_[at] = hashes[i];
        out.places_[at] = static_cast<std::uint32_t>(i);
    }
    return out;
}

} // namespace bouncer::detail
