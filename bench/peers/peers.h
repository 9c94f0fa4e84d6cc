// One function per peer. A peer whose header was not there when this was built is listed all the same, with nothing
// that it can do: its rows are then unmeasured, not missing.
#pragma once

#include "../subject.h"

#include <memory>

namespace bench {

subject_type tutorial_peer();
subject_type dynamic_bloom_peer();
subject_type libbloom_peer();
subject_type boost_fmb64_peer();
subject_type boost_fmb32_peer();

inline subject_type absent_peer(const char* name) {
    const auto make = [](const request&) -> std::unique_ptr<subject> { return nullptr; };
    return {.name = name, .kind = name, .peer = true, .can = 0, .make = make};
}

} // namespace bench
