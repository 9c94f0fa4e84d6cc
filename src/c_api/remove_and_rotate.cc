// What one kind has of its own: a counting_bloom removes, a windowed_bloom has epochs.
#include "c_api/handle.h"

#include <mutex>
#include <string>

using namespace bouncer;
using namespace bouncer::c_api;

namespace {

result<void> remove_hash(bouncer_filter* filter, std::uint64_t hash, std::uint8_t* removed) {
    if (auto ok = check_changeable(filter); !ok) return ok;
    auto done = filter->filter.try_remove(hash);
    if (!done) return done.error();
    *removed = *done;
    return {};
}

result<std::uint64_t> epoch_of(const any_filter& filter) {
    return filter.visit([&](const auto& f) -> result<std::uint64_t> {
        if constexpr (requires { f.epoch(); })
            return f.epoch();
        else
            return failure{error_code::unsupported,
                           "a " + std::string(filter.kind_name()) + " has no epoch: a windowed_bloom has"};
    });
}

} // namespace

int bouncer_remove(bouncer_filter* filter, const void* key, size_t size, uint8_t* removed) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(removed, 1); !ok) return ok;
        auto hash = hash_of(filter, key, size);
        if (!hash) return hash.error();
        return remove_hash(filter, *hash, removed);
    });
}

int bouncer_remove_hash(bouncer_filter* filter, uint64_t hash, uint8_t* removed) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(removed, 1); !ok) return ok;
        return remove_hash(filter, hash, removed);
    });
}

int bouncer_rotate_to(bouncer_filter* filter, uint64_t epoch) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_changeable(filter); !ok) return ok;
        const std::lock_guard held(filter->rotating);
        return filter->filter.rotate_to(epoch);
    });
}

int bouncer_rotate(bouncer_filter* filter, uint64_t* epoch) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(epoch, 1); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        const std::lock_guard held(filter->rotating);
        const auto now = epoch_of(filter->filter);
        if (!now) return now.error();
        if (auto ok = filter->filter.rotate_to(*now + 1); !ok) return ok;
        *epoch = *now + 1;
        return {};
    });
}

int bouncer_epoch(const bouncer_filter* filter, uint64_t* epoch) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(epoch, 1); !ok) return ok;
        if (filter == nullptr) return no_handle();
        const auto now = epoch_of(filter->filter);
        if (!now) return now.error();
        *epoch = *now;
        return {};
    });
}
