// One key or one hash. A key whose hash failed is passed on as that failure.
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

namespace {

result<bool> add(bouncer_filter* filter, const result<std::uint64_t>& hash) {
    if (!hash) return hash.error();
    if (auto ok = check_changeable(filter); !ok) return ok.error();
    return filter->filter.add(*hash);
}

result<bool> contains(const bouncer_filter* filter, const result<std::uint64_t>& hash) {
    if (!hash) return hash.error();
    if (filter == nullptr) return no_handle();
    return filter->filter.may_contain(*hash);
}

result<bool> test_and_add(bouncer_filter* filter, const result<std::uint64_t>& hash) {
    if (!hash) return hash.error();
    if (auto ok = check_changeable(filter); !ok) return ok.error();
    return filter->filter.test_and_add(*hash);
}

result<bool> remove(bouncer_filter* filter, const result<std::uint64_t>& hash) {
    if (!hash) return hash.error();
    if (auto ok = check_changeable(filter); !ok) return ok.error();
    return filter->filter.try_remove(*hash);
}

} // namespace

int bouncer_hash_key(const bouncer_filter* filter, const void* key, size_t size, uint64_t* hash) {
    return answered(hash, [&] { return hash_of(filter, key, size); });
}

int bouncer_add(bouncer_filter* filter, const void* key, size_t size) {
    return guarded([&] { return add(filter, hash_of(filter, key, size)); });
}
int bouncer_add_hash(bouncer_filter* filter, uint64_t hash) {
    return guarded([&] { return add(filter, hash); });
}

int bouncer_contains(const bouncer_filter* filter, const void* key, size_t size, uint8_t* answer) {
    return answered(answer, [&] { return contains(filter, hash_of(filter, key, size)); });
}
int bouncer_contains_hash(const bouncer_filter* filter, uint64_t hash, uint8_t* answer) {
    return answered(answer, [&] { return contains(filter, hash); });
}

int bouncer_test_and_add(bouncer_filter* filter, const void* key, size_t size, uint8_t* answer) {
    return answered(answer, [&] { return test_and_add(filter, hash_of(filter, key, size)); });
}
int bouncer_test_and_add_hash(bouncer_filter* filter, uint64_t hash, uint8_t* answer) {
    return answered(answer, [&] { return test_and_add(filter, hash); });
}

int bouncer_remove(bouncer_filter* filter, const void* key, size_t size, uint8_t* removed) {
    return answered(removed, [&] { return remove(filter, hash_of(filter, key, size)); });
}
int bouncer_remove_hash(bouncer_filter* filter, uint64_t hash, uint8_t* removed) {
    return answered(removed, [&] { return remove(filter, hash); });
}
