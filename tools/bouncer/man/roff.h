// Text for man(7).
#pragma once

#include <string>
#include <string_view>

namespace bouncer::tool {

// Dashes that can be copied, backslashes that are shown, no line that looks like a request.
inline std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
        if (c == '-')
            out += "\\-";
        else if (c == '\\')
            out += "\\e";
        else if (c == '\'')
            out += "\\(aq";
        else if (c == '`')
            out += "\\(ga";
        else if (c == '^')
            out += "\\(ha";
        else if (c == '~')
            out += "\\(ti";
        else
            out += c;
    }
    return out;
}

} // namespace bouncer::tool
