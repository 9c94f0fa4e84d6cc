#include "memory/size_text.h"

namespace bouncer::detail {

std::string size_text(std::uint64_t bytes) {
    std::string text = std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    if (bytes < 1024) return text;
    constexpr char units[] = {'K', 'M', 'G', 'T', 'P', 'E'};
    unsigned unit = 0;
    unsigned shift = 10;
    while (unit + 1 < sizeof units && (bytes >> shift) >= 1024) {
        ++unit;
        shift += 10;
    }
    // Integers, so that no locale changes the decimal point; cut, not rounded.
    const std::uint64_t tenths = ((bytes >> (shift - 10)) & 1023) * 10 / 1024;
    return text + " (" + std::to_string(bytes >> shift) + "." + std::to_string(tenths) + " " + units[unit] +
           "iB)";
}

} // namespace bouncer::detail
