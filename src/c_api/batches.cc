// Arrays of keys or hashes.
#include "c_api/arrays.h"

using namespace bouncer;
using namespace bouncer::c_api;

namespace {

// The two sorts of arrays: their checks, and work(first, hashes) for pieces of them.
struct key_array {
    const bouncer_key* keys;
    std::size_t count;

    result<void> check(const bouncer_filter* filter) const {
        if (filter == nullptr) return no_handle();
        if (auto ok = check_keys(keys, count); !ok) return ok;
        return check_takes_keys(*filter);
    }
    template <class Work>
    result<void> each(const bouncer_filter& filter, Work work) const {
        return in_chunks(*filter.hasher, {keys, count}, work);
    }
};
struct hash_array {
    const std::uint64_t* hashes;
    std::size_t count;

    result<void> check(const bouncer_filter* filter) const {
        if (auto ok = check_hashes(hashes, count); !ok) return ok;
        if (filter == nullptr) return no_handle();
        return {};
    }
    template <class Work>
    result<void> each(const bouncer_filter&, Work work) const {
        if (auto ok = work(0, std::span(hashes, count)); !ok) return ok.error();
        return {};
    }
};

template <class Array>
int add_array(bouncer_filter* filter, const Array& from) {
    return guarded([&]() -> result<void> {
        if (auto ok = from.check(filter); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        return from.each(*filter, [&](std::size_t, auto hashes) { return filter->filter.add_batch(hashes); });
    });
}

template <class Array>
int contains_array(const bouncer_filter* filter, const Array& from, std::uint8_t* answers) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answers, from.count); !ok) return ok;
        if (auto ok = from.check(filter); !ok) return ok;
        return from.each(*filter, [&](std::size_t first, auto hashes) {
            filter->filter.may_contain(hashes, as_bools(answers + first, hashes.size()));
            return result<void>();
        });
    });
}

template <class Array>
int test_and_add_array(bouncer_filter* filter, const Array& from, std::uint8_t* answers) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_answers(answers, from.count); !ok) return ok;
        if (auto ok = from.check(filter); !ok) return ok;
        if (auto ok = check_changeable(filter); !ok) return ok;
        return from.each(*filter, [&](std::size_t first, auto hashes) {
            return filter->filter.test_and_add(hashes, as_bools(answers + first, hashes.size()));
        });
    });
}

} // namespace

int bouncer_add_batch(bouncer_filter* filter, const bouncer_key* keys, size_t count) {
    return add_array(filter, key_array{keys, count});
}
int bouncer_add_hashes(bouncer_filter* filter, const uint64_t* hashes, size_t count) {
    return add_array(filter, hash_array{hashes, count});
}

int bouncer_contains_batch(const bouncer_filter* filter, const bouncer_key* keys, size_t count,
                           uint8_t* answers) {
    return contains_array(filter, key_array{keys, count}, answers);
}
int bouncer_contains_hashes(const bouncer_filter* filter, const uint64_t* hashes, size_t count,
                            uint8_t* answers) {
    return contains_array(filter, hash_array{hashes, count}, answers);
}

int bouncer_test_and_add_batch(bouncer_filter* filter, const bouncer_key* keys, size_t count,
                               uint8_t* answers) {
    return test_and_add_array(filter, key_array{keys, count}, answers);
}
int bouncer_test_and_add_hashes(bouncer_filter* filter, const uint64_t* hashes, size_t count,
                                uint8_t* answers) {
    return test_and_add_array(filter, hash_array{hashes, count}, answers);
}
