// Every way to read a stored filter, as one list: each must refuse what is damaged.
#pragma once

#include "corrupt/damaged_file.h"
#include "corrupt/stored_bytes.h"

#include <bouncer/any_filter.h>
#include <bouncer/snapshot.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bouncer::test {

using refusal = std::optional<failure>; // none: it was accepted

template <class T>
refusal refusal_of(const result<T>& got) {
    return got ? refusal() : refusal(got.error());
}

struct reader {
    std::string name;
    bool reads_payload; // else header and footer only
    bool is_shared;     // marks what it accepts as live
    std::function<refusal(const std::string& path)> read;
};

inline std::vector<reader> readers(const kind& k) {
    std::vector<reader> out;
    const auto add = [&](std::string name, bool payload, std::function<refusal(const std::string&)> read) {
        out.push_back({std::move(name), payload, false, std::move(read)});
    };
    add("load", true, [&k](const std::string& path) { return refusal_of(k.load(path)); });
    add("open", true, [](const std::string& path) { return refusal_of(open(path)); });
    add("verify", true, [](const std::string& path) { return refusal_of(verify(path)); });
    add("inspect", false, [](const std::string& path) { return refusal_of(inspect(path)); });
    if (k.is.mappable) {
        add("map lazily", false, [&k](const std::string& path) { return refusal_of(k.map(path)); });
        add("map eagerly", true,
            [&k](const std::string& path) { return refusal_of(k.map(path, verification::eager)); });
        add("open as a map", true,
            [](const std::string& path) { return refusal_of(open(path, access::map)); });
    }
    if (k.is.shareable)
        out.push_back({"open_shared", true, true,
                       [&k](const std::string& path) { return refusal_of(k.open_shared(path)); }});
    return out;
}

// The two that take a source.
inline refusal load_streamed(const kind& k, std::span<const std::byte> bytes, std::size_t piece = SIZE_MAX) {
    byte_supply supply(bytes, piece);
    return refusal_of(k.load(supply.source()));
}
inline refusal open_streamed(std::span<const std::byte> bytes, std::size_t piece = SIZE_MAX) {
    byte_supply supply(bytes, piece);
    return refusal_of(open(supply.source()));
}

// Refused as damage, with a sentence that has `cause` in it, and the path where there is one.
inline ::testing::AssertionResult is_damage(const refusal& got, const std::string& path = "",
                                            const std::string& cause = "") {
    if (!got) return ::testing::AssertionFailure() << "was accepted";
    if (got->code != error_code::corrupt)
        return ::testing::AssertionFailure() << name_of(got->code) << ": " << got->message;
    if (got->message.find(path) == std::string::npos)
        return ::testing::AssertionFailure() << "does not name the file: " << got->message;
    // A cause is at least a few words beside the path and ": ".
    if (got->message.size() < path.size() + 10 || got->message.find(cause) == std::string::npos)
        return ::testing::AssertionFailure() << "does not say \"" << cause << "\": " << got->message;
    return ::testing::AssertionSuccess();
}

// Every kind that can be stored; those that can be opened shared; those whose files can be merged and folded as bytes.
inline auto stored_kinds() {
    return atomic_subjects_that(&facts::loadable);
}
inline auto shareable_kinds() {
    return atomic_subjects_that(&facts::shareable);
}
inline auto derivable_kinds() {
    return atomic_subjects_that([](const facts& is) { return is.bits && is.foldable; });
}

inline std::string short_kind_names(const ::testing::TestParamInfo<const kind*>& info) {
    return std::string(info.param->is.name);
}

} // namespace bouncer::test
