// Numbers in messages.
#pragma once

#include <charconv>
#include <string>

namespace bouncer::detail {

// Three significant digits, whatever the locale.
inline std::string scientific(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 3).ptr;
    return {text, end};
}

} // namespace bouncer::detail
