// What a handle is, and what every function asks of it.
#pragma once

#include "c_api/error.h"
#include "c_api/shared_file.h"

#include <bouncer/any_filter.h>
#include <bouncer/any_hasher.h>
#include <bouncer/bouncer.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

struct bouncer_filter {
    explicit bouncer_filter(bouncer::any_filter made) : filter(std::move(made)) {}

    std::unique_ptr<bouncer::c_api::shared_file> file; // of a shared one; outlives the mapping in `filter`
    bouncer::any_filter filter;
    std::optional<bouncer::any_hasher> hasher; // none: hashes only
    std::atomic<bool> sealed = false;          // an add would break the checksums
    std::mutex rotating;                       // a step on reads the epoch and then rotates
    // For the header of a saved file; 0: not told.
    std::uint64_t keys_designed = 0;
    double fpr_promised = 0;
    std::chrono::nanoseconds window{0};
};

namespace bouncer::c_api {

inline failure no_handle() {
    return bad_argument("the filter is NULL");
}

// [any-thread] The hash of a key. Errors: invalid_argument, unsupported (the filter takes hashes only).
result<std::uint64_t> hash_of(const bouncer_filter* filter, const void* key, std::size_t size);

// [any-thread] There is a filter, and it may be changed.
inline result<void> check_changeable(const bouncer_filter* filter) {
    if (filter == nullptr) return no_handle();
    if (filter->sealed.load(std::memory_order_relaxed))
        return failure{error_code::unsupported,
                       "the filter was sealed, and is read-only: open the file again"};
    return {};
}

// [any-thread] unsupported: the filter takes hashes only.
inline result<void> check_takes_keys(const bouncer_filter& filter) {
    if (filter.hasher) return {};
    return any_hasher::make(filter.filter.hash()).error();
}

// [any-thread] A place for so many answers.
inline result<void> check_answers(const void* answers, std::size_t count) {
    if (answers == nullptr && count != 0) return bad_argument("the place for the answer is NULL");
    return {};
}

// A byte per answer, 0 or 1, is what a bool is here.
static_assert(sizeof(bool) == 1);
inline std::span<bool> as_bools(std::uint8_t* answers, std::size_t count) {
    return {reinterpret_cast<bool*>(answers), count};
}

// [any-thread] The 16 bytes of a secret key, or none.
std::optional<secret_key> key_at(const void* bytes) noexcept;

} // namespace bouncer::c_api
