// Builds the shards of a ribbon.
#pragma once

#include "filters/shards.h"

#include <bouncer/detail/ribbon_table.h>

#include <cstdint>
#include <memory>

namespace bouncer::detail::ribbon {

// About 30 ms of work, so that several threads find work from a million keys on. Shards of this size take 0.05 % more
// space than shards of a million keys, for the ends of their layers.
inline constexpr std::uint64_t keys_per_shard = std::uint64_t{1} << 18;
// [any-thread] Rows of 16 bytes, a copy of the hashes, those that were bumped, and the words twice.
constexpr std::uint64_t scratch_bytes_per_key(const row_shape& shape) noexcept {
    return 26 + shape.columns / 4;
}

std::unique_ptr<shard_builder> make_builder(std::uint64_t shards, const row_shape& shape);

// [any-thread] Words that a shard of so many keys may be expected to take, rather a little more.
std::uint64_t expected_words(std::uint64_t keys, const row_shape& shape) noexcept;

} // namespace bouncer::detail::ribbon
