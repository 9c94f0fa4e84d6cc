// Arrays of keys or hashes.
#include "c_api/arrays.h"

using namespace bouncer;
using namespace bouncer::c_api;

namespace {

result<void> check_keys(const bouncer_filter* filter, const bouncer_key* keys, std::size_t count) {
    if (filter == nullptr) return no_handle();
    if (auto ok = c_api::check_keys(keys, count); !ok) return ok;
    return check_takes_keys(*filter);
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
