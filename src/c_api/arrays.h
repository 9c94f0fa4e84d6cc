// Arrays of keys or hashes, as functions are given them.
#pragma once

#include "c_api/handle.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bouncer::c_api {

// [any-thread]
inline result<void> check_hashes(const std::uint64_t* hashes, std::size_t count) {
    if (hashes == nullptr && count != 0) return bad_argument("the array of hashes is NULL");
    return {};
}

// [any-thread] Every key, before the first is used: a batch is not done by half.
inline result<void> check_keys(const bouncer_key* keys, std::size_t count) {
    if (keys == nullptr && count != 0) return bad_argument("the array of keys is NULL");
    for (std::size_t i = 0; i < count; ++i)
        if (keys[i].data == nullptr && keys[i].size != 0)
            return failure{error_code::invalid_argument, "key " + std::to_string(i) + " is NULL"};
    return {};
}

// [any-thread] work(first, hashes) for pieces of the array: 24 KiB of stack, long enough to fill the prefetch pipeline.
template <class Work>
result<void> in_chunks(const any_hasher& hasher, std::span<const bouncer_key> keys, Work work) {
    constexpr std::size_t most = 1024;
    std::array<std::string_view, most> texts;
    std::array<std::uint64_t, most> hashes;
    for (std::size_t first = 0; first < keys.size(); first += most) {
        const auto chunk = keys.subspan(first, std::min(most, keys.size() - first));
        std::transform(chunk.begin(), chunk.end(), texts.begin(), [](const bouncer_key& key) {
            return std::string_view(static_cast<const char*>(key.data), key.size);
        });
        hasher.batch(std::span(texts).first(chunk.size()), hashes);
        if (auto ok = work(first, std::span<const std::uint64_t>(hashes).first(chunk.size())); !ok)
            return ok.error();
    }
    return {};
}

} // namespace bouncer::c_api
