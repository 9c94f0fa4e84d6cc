// Numbers in messages.
#pragma once

#include <cstdio>
#include <string>

namespace bouncer::detail {

inline std::string scientific(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

} // namespace bouncer::detail
