#include "text.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace bouncer::tool {

std::string count_text(std::uint64_t count) {
    std::string out = std::to_string(count);
    for (std::size_t at = out.size(); at > 3;) {
        at -= 3;
        out.insert(at, 1, ',');
    }
    return out;
}

std::string about_text(std::uint64_t count) {
    std::uint64_t unit = 1;
    while (count / unit >= 1000) unit *= 10;
    const std::uint64_t rest = count % unit;
    return "≈" + count_text(count - rest + (rest > 0 && 2 * rest >= unit ? unit : 0));
}

std::string number_text(double value, int digits) {
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    return text.data();
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 1024) return std::to_string(bytes) + " B";
    constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    int unit = 0;
    for (; value >= 1023.5 && unit < 5; ++unit) value /= 1024;
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.*f %s",
                  value < 9.995   ? 2
                  : value < 99.95 ? 1
                                  : 0,
                  value, units[unit]);
    return text.data();
}

std::string rate_text(double rate) {
    const double percent = rate * 100;
    if (percent != 0 && percent < 1e-4) return number_text(percent) + " %";
    std::array<char, 64> text; // never as 1e-05, which %g would make of it
    const int digits = percent == 0 ? 0 : 2 - static_cast<int>(std::floor(std::log10(percent)));
    std::snprintf(text.data(), text.size(), "%.*f", digits < 0 ? 0 : digits, percent);
    std::string out = text.data();
    if (out.find('.') != std::string::npos) {
        while (out.ends_with('0')) out.pop_back();
        if (out.ends_with('.')) out.pop_back();
    }
    return out + " %";
}

std::string short_count_text(double count) {
    constexpr const char* units[] = {"", "K", "M", "G", "T", "P", "E"};
    int unit = 0;
    for (; count >= 999.5 && unit < 6; ++unit) count /= 1000;
    std::array<char, 64> text;
    const int digits = unit == 0 && count == std::floor(count) ? 0
                       : count < 9.995                         ? 2
                       : count < 99.95                         ? 1
                                                               : 0;
    std::snprintf(text.data(), text.size(), "%.*f%s", digits, count, units[unit]);
    return text.data();
}

std::string seconds_text(double seconds) {
    if (seconds < 0.0995) return number_text(seconds * 1000, 2) + " ms";
    if (seconds < 59.95) return number_text(seconds, seconds < 10 ? 2 : 3) + " s";
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    if (whole < 172800)
        return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
    return std::to_string(whole / 86400) + " days";
}

} // namespace bouncer::tool
