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

template <class F>
std::vector<reader> readers() {
    using view = view_form<F>;
    std::vector<reader> out;
    const auto add = [&](std::string name, bool payload, std::function<refusal(const std::string&)> read) {
        out.push_back({std::move(name), payload, false, std::move(read)});
    };
    add("load", true, [](const std::string& path) { return refusal_of(load<F>(path)); });
    add("open", true, [](const std::string& path) { return refusal_of(open(path)); });
    add("verify", true, [](const std::string& path) { return refusal_of(verify(path)); });
    add("inspect", false, [](const std::string& path) { return refusal_of(inspect(path)); });
    if constexpr (detail::mappable<view>) {
        add("map lazily", false, [](const std::string& path) { return refusal_of(map<view>(path)); });
        add("map eagerly", true,
            [](const std::string& path) { return refusal_of(map<view>(path, verification::eager)); });
        add("open as a map", true,
            [](const std::string& path) { return refusal_of(open(path, access::map)); });
    }
    if constexpr (detail::shareable<F>)
        out.push_back({"open_shared", true, true,
                       [](const std::string& path) { return refusal_of(open_shared<F>(path)); }});
    return out;
}

// The two that take a source.
template <class F>
refusal load_streamed(std::span<const std::byte> bytes, std::size_t piece = SIZE_MAX) {
    byte_supply supply(bytes, piece);
    return refusal_of(load<F>(supply.source()));
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
template <class F>
struct is_storable : std::bool_constant<bouncer::detail::loadable<F>> {};
template <class F>
struct is_shareable : std::bool_constant<bouncer::detail::shareable<F>> {};
using stored_kinds = atomic_kinds_that<is_storable>;
using shareable_kinds = atomic_kinds_that<is_shareable>;
using derivable_kinds = atomic_kinds_that<is_foldable_bit_filter>;

struct short_kind_names {
    template <class F>
    static std::string GetName(int) {
        return std::string(F::kind_name);
    }
};

} // namespace bouncer::test
