// The filters of the golden files, of whatever kind.
#pragma once

#include "golden/golden_file.h"
#include "support/subject.h"

#include <bouncer/any_hasher.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bouncer::test {

// visit(the plain form of the file's kind); false for a kind that the list does not have.
template <class Visit>
bool with_kind_of(const golden& file, Visit visit) {
    for (const kind* each : all_subjects()) {
        if (each->is.access != words_access::plain || each->is.name != file.kind) continue;
        visit(*each);
        return true;
    }
    return false;
}

inline choice parameters_of(const kind& k, const golden& file) {
    return k.loaded(file.fields, k.default_hash(), {}).value().params();
}

// The hashes of the decimal strings of first .. first + count - 1.
inline std::vector<std::uint64_t> decimal_hashes(const any_hasher& hasher, std::uint64_t first,
                                                 std::uint64_t count) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = first; i < first + count; ++i) {
        const std::string key = std::to_string(i);
        out.push_back(hasher(std::as_bytes(std::span(key))));
    }
    return out;
}
inline std::vector<std::uint64_t> added_hashes(const kind& k, const golden& file) {
    return decimal_hashes(any_hasher::make(k.default_hasher()).value(), 0, file.keys);
}
inline std::vector<std::uint64_t> asked_hashes(const kind& k, const golden& file) {
    return decimal_hashes(any_hasher::make(k.default_hasher()).value(), file.keys, file.asked);
}

inline subject empty_filter(const kind& k, const golden& file) {
    return k.create(parameters_of(k, file), {.hash = k.default_hasher()}).value();
}

// The filter of a file, by the simplest way there is.
inline subject filter_of(const kind& k, const golden& file, const std::vector<std::uint64_t>& added,
                         const std::vector<std::uint64_t>& asked, const hash_spec& spec) {
    if (k.is.buildable) return k.build(added, file.wanted.value(), {.hash = spec}).value();
    if (k.is.built_exactly) return k.build_exactly(added, asked, {.hash = spec}).value();
    auto out = k.create(parameters_of(k, file), {.hash = spec}).value();
    for (const std::uint64_t hash : added) out.add(hash);
    return out;
}
inline subject filter_of(const kind& k, const golden& file) {
    return filter_of(k, file, added_hashes(k, file), asked_hashes(k, file), k.default_hasher());
}

} // namespace bouncer::test
