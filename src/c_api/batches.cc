// Arrays of keys or hashes.
#include "c_api/handle.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

using namespace bouncer;
using namespace bouncer::c_api;

namespace {

result<void> check_hashes(const std::uint64_t* hashes, std::size_t count) {
    if (hashes == nullptr && count != 0) return bad_argument("the array of hashes is NULL");
    return {};
}

// Every key, before the first is used: a batch is not done by half.
result<void> check_keys(const bouncer_filter* filter, const bouncer_key* keys, std::size_t count) {
    if (filter == nullptr) return no_handle();
    if (keys == nullptr && count != 0) return bad_argument("the array of keys is NULL");
    for (std::size_t i = 0; i < count; ++i)
        if (keys[i].data == nullptr && keys[i].size != 0)
            return failure{error_code::invalid_argument, "key " + std::to_string(i) + " is NULL"};
    return check_takes_keys(*filter);
}

// work(first, hashes) for pieces of the array: 24 KiB of stack, long enough to fill the prefetch pipeline.
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

} // namespace

int bouncer_add_batch(bouncer_filter* filter, const bouncer_key* keys, size_t count) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_keys(filter, keys, count); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        return in_chunks(*filter->hasher, {keys, count},
                         [&](std::size_t, auto hashes) { return filter->filter.add_batch(hashes); });
    });
}

int bouncer_add_hashes(bouncer_filter* filter, const uint64_t* hashes, size_t count) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_hashes(hashes, count); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        if (auto ok = filter->filter.add_batch({hashes, count}); !ok) return ok.error();
        return {};
    });
}

int bouncer_contains_batch(const bouncer_filter* filter, const bouncer_key* keys, size_t count,
                           uint8_t* answers) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answers, count); !ok) return ok;
        if (auto ok = check_keys(filter, keys, count); !ok) return ok;
        return in_chunks(*filter->hasher, {keys, count}, [&](std::size_t first, auto hashes) {
            filter->filter.may_contain(hashes, as_bools(answers + first, hashes.size()));
            return result<void>();
        });
    });
}

int bouncer_contains_hashes(const bouncer_filter* filter, const uint64_t* hashes, size_t count,
                            uint8_t* answers) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answers, count); !ok) return ok;
        if (auto ok = check_hashes(hashes, count); !ok) return ok;
        if (filter == nullptr) return no_handle();
        filter->filter.may_contain({hashes, count}, as_bools(answers, count));
        return {};
    });
}

int bouncer_test_and_add_batch(bouncer_filter* filter, const bouncer_key* keys, size_t count,
                               uint8_t* answers) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answers, count); !ok) return ok;
        if (auto ok = check_keys(filter, keys, count); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        return in_chunks(*filter->hasher, {keys, count}, [&](std::size_t first, auto hashes) {
            return filter->filter.test_and_add(hashes, as_bools(answers + first, hashes.size()));
        });
    });
}

int bouncer_test_and_add_hashes(bouncer_filter* filter, const uint64_t* hashes, size_t count,
                                uint8_t* answers) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answers, count); !ok) return ok;
        if (auto ok = check_hashes(hashes, count); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        if (auto ok = filter->filter.test_and_add({hashes, count}, as_bools(answers, count)); !ok)
            return ok.error();
        return {};
    });
}
