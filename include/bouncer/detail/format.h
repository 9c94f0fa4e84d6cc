// Numbers in messages.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bouncer::detail {

// Three significant digits, whatever the locale.
inline std::string scientific(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 3).ptr;
    return {text, end};
}

// "0x" and so many digits, with zeros in front.
inline std::string hex_text(std::uint64_t value, std::size_t digits = 16) {
    char text[16];
    const auto end = std::to_chars(text, text + sizeof text, value, 16).ptr;
    const auto length = static_cast<std::size_t>(end - text);
    return "0x" + std::string(digits > length ? digits - length : 0, '0') + std::string(text, length);
}

} // namespace bouncer::detail
