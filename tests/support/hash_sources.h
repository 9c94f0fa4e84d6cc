// Hashes as a stream: a build that has to spill takes them so.
#pragma once

#include <bouncer/build.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bouncer::test {

// Gives what is in the span, which must outlive it, once.
inline hash_source source_of(std::span<const std::uint64_t> hashes) {
    return [left = hashes](std::span<std::uint64_t> into) mutable -> result<std::size_t> {
        const std::size_t some = std::min(into.size(), left.size());
        std::copy_n(left.begin(), some, into.begin());
        left = left.subspan(some);
        return some;
    };
}

// A cap by which so many hashes must go to a file (up to a 37th of it they stay in memory), and a binary_fuse of one shard,
// which needs the most, can still be built.
constexpr std::uint64_t spilling_cap(std::uint64_t hashes) {
    return 36 * hashes;
}

} // namespace bouncer::test
