// The filters of the golden files as their types: for the few programs that are about types. Others see golden_subject.h.
#pragma once

#include "golden/golden_file.h"
#include "support/kinds.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bouncer::test {

template <class F>
typename F::parameters parameters_of(const golden& file) {
    return detail::storage_access::for_loading<F>(file.fields, default_hash_of<F>(), {}).value().params();
}

// The hashes of the decimal strings of first .. first + count - 1.
template <class F>
std::vector<std::uint64_t> decimal_hashes(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = first; i < first + count; ++i)
        out.push_back(hash_key(typename F::default_hasher{}, std::to_string(i)));
    return out;
}
template <class F>
std::vector<std::uint64_t> added_hashes(const golden& file) {
    return decimal_hashes<F>(0, file.keys);
}
template <class F>
std::vector<std::uint64_t> asked_hashes(const golden& file) {
    return decimal_hashes<F>(file.keys, file.asked);
}

template <class F>
F empty_filter(const golden& file) {
    return F::create(parameters_of<F>(file), {.hash = spec_of(typename F::default_hasher{})}).value();
}

// The filter of a file of an incremental kind, by the simplest way there is.
template <class F>
F filter_of(const golden& file) {
    F out = empty_filter<F>(file);
    for (const std::uint64_t hash : added_hashes<F>(file)) out.add(hash);
    return out;
}

} // namespace bouncer::test
