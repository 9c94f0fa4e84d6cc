// One key or one hash.
#include "c_api/handle.h"

#include <cstddef>

using namespace bouncer;
using namespace bouncer::c_api;

result<std::uint64_t> c_api::hash_of(const bouncer_filter* filter, const void* key, std::size_t size) {
    if (filter == nullptr) return no_handle();
    if (key == nullptr && size != 0) return bad_argument("the key is NULL");
    if (auto ok = check_takes_keys(*filter); !ok) return ok.error();
    return (*filter->hasher)(std::span(static_cast<const std::byte*>(key), size));
}

int bouncer_hash_key(const bouncer_filter* filter, const void* key, size_t size, uint64_t* hash) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(hash, 1); !ok) return ok;
        auto hashed = hash_of(filter, key, size);
        if (!hashed) return hashed.error();
        *hash = *hashed;
        return {};
    });
}

int bouncer_add(bouncer_filter* filter, const void* key, size_t size) {
    return guarded([&]() -> result<void> {
        auto hash = hash_of(filter, key, size);
        if (!hash) return hash.error();
        if (auto ok = check_changeable(filter); !ok) return ok;
        if (auto ok = filter->filter.add(*hash); !ok) return ok.error();
        return {};
    });
}

int bouncer_add_hash(bouncer_filter* filter, uint64_t hash) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_changeable(filter); !ok) return ok;
        if (auto ok = filter->filter.add(hash); !ok) return ok.error();
        return {};
    });
}

int bouncer_contains(const bouncer_filter* filter, const void* key, size_t size, uint8_t* answer) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answer, 1); !ok) return ok;
        auto hash = hash_of(filter, key, size);
        if (!hash) return hash.error();
        *answer = filter->filter.may_contain(*hash);
        return {};
    });
}

int bouncer_contains_hash(const bouncer_filter* filter, uint64_t hash, uint8_t* answer) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answer, 1); !ok) return ok;
        if (filter == nullptr) return no_handle();
        *answer = filter->filter.may_contain(hash);
        return {};
    });
}

int bouncer_test_and_add(bouncer_filter* filter, const void* key, size_t size, uint8_t* answer) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answer, 1); !ok) return ok;
        auto hash = hash_of(filter, key, size);
        if (!hash) return hash.error();
        if (auto ok = check_changeable(filter); !ok) return ok;
        auto there = filter->filter.test_and_add(*hash);
        if (!there) return there.error();
        *answer = *there;
        return {};
    });
}

int bouncer_test_and_add_hash(bouncer_filter* filter, uint64_t hash, uint8_t* answer) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answer, 1); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        auto there = filter->filter.test_and_add(hash);
        if (!there) return there.error();
        *answer = *there;
        return {};
    });
}
