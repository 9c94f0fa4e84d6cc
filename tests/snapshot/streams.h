// Sinks and sources over a buffer, in pieces of any size.
#pragma once

#include <bouncer/snapshot.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace bouncer::test {

inline byte_sink into(std::vector<std::byte>& buffer) {
    return [&buffer](std::span<const std::byte> bytes) -> result<void> {
        buffer.insert(buffer.end(), bytes.begin(), bytes.end());
        return {};
    };
}

// At most `piece` bytes at a time, as a socket gives them.
inline byte_source out_of(const std::vector<std::byte>& buffer, std::size_t piece) {
    return [&buffer, piece, at = std::size_t{0}](std::span<std::byte> wanted) mutable -> result<std::size_t> {
        const std::size_t some = std::min({piece, wanted.size(), buffer.size() - at});
        std::copy_n(buffer.begin() + static_cast<std::ptrdiff_t>(at), some, wanted.begin());
        at += some;
        return some;
    };
}

} // namespace bouncer::test
