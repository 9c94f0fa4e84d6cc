// A filter that is being built: of any kind, known to this process alone.
#pragma once

#include "filling.h"

#include <bouncer/any_filter.h>
#include <bouncer/goal.h>
#include <bouncer/hash.h>

#include <cstdint>
#include <functional>
#include <string>

namespace bouncer::tool {

// What must be known of a kind before there is a filter of it.
struct kind_facts {
    bool is_static = false;
    bool grows = false;
    bool rotates = false;
    bool fill_tells_keys = false; // their number, if there is room for all
    std::uint32_t steps = 1;      // of the window
    hash_spec default_hash;
    result<std::uint64_t> bytes = std::uint64_t{0};
};

// [any-thread]
kind_facts facts_of(const std::string& kind, const goal& wanted);

// A filter while only this process knows it: plain words, a third of the work that atomic ones take.
struct new_filter {
    add_function add;
    std::function<result<void>(std::uint64_t)> rotate_to; // empty: it has no window
    std::function<any_filter()> view;                     // valid while this lives
    std::function<std::uint64_t()> size_bytes;
};

// Throws tool_error.
new_filter make_new(const std::string& kind, const goal& wanted, const hash_spec& hash);
// An empty one with the parameters and the hash of the filter in a file, so that both can be merged. Throws tool_error.
new_filter make_like(const std::string& kind, const std::string& path, const hash_spec& hash);

} // namespace bouncer::tool
