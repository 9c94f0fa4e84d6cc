// A large batch of hashes in the order of their top bits: then a filter that must ask many places for each of them asks
// neighbouring places, which are in the cache.
#pragma once

#include <bouncer/region.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bouncer::detail {

class ordered_hashes {
  public:
    // At once: 48 MiB beside the hashes.
    static constexpr std::size_t most = std::size_t{1} << 22;

    // [any-thread] Whether ordering so many is worth its time, for a filter of that size with several layers: the
    // keys must share lines. At 360 MiB, in eleven layers, an absent key took 81 to 96 ns in kernels without order, 68 in the
    // order of 256K keys, 25 of 2M.
    static constexpr bool worth_it(std::size_t hashes, std::uint64_t filter_bytes) noexcept {
        return filter_bytes >= std::uint64_t{64} << 20 && hashes >= filter_bytes / 512;
    }

    // [any-thread] Of at most `most` hashes. Nothing when there is no memory for it.
    static std::optional<ordered_hashes> of(std::span<const std::uint64_t> hashes) noexcept;

    // [immutable]
    std::span<const std::uint64_t> hashes() const noexcept { return hashes_; }
    // [immutable] Where in the batch the i-th of them was.
    std::size_t place(std::size_t i) const noexcept { return places_[i]; }

  private:
    explicit ordered_hashes(region memory, std::size_t count) noexcept;

    region memory_;
    std::span<std::uint64_t> hashes_;
    std::uint32_t* places_;
};

} // namespace bouncer::detail
