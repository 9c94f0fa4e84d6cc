#include "numbers.h"

#include <CLI/CLI.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace bouncer::tool {

namespace {

failure not_a(std::string_view text, std::string_view what) {
    return {error_code::invalid_argument, "\"" + std::string(text) + "\" is not " + std::string(what)};
}

// The number at the start of `text`, and what follows it. No sign but a minus; nothing like "inf" or "0x".
struct leading {
    long double value;
    std::string_view rest;
};
std::optional<leading> leading_number(std::string_view text) {
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    if (first >= text.size() || !((text[first] >= '0' && text[first] <= '9') || text[first] == '.'))
        return std::nullopt;
    long double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
    return leading{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

// What a suffix multiplies by: "" 1, K 1000, Ki 1024.
std::optional<long double> unit_of(std::string_view suffix) {
    if (suffix.empty()) return 1;
    constexpr std::string_view letters = "KMGTP";
    const char letter = suffix[0] == 'k' ? 'K' : suffix[0];
    const std::size_t power = letters.find(letter);
    if (power == std::string_view::npos) return std::nullopt;
    const std::string_view after = suffix.substr(1);
    if (!after.empty() && after != "i") return std::nullopt;
    return std::pow(after.empty() ? 1000.0L : 1024.0L, static_cast<long double>(power + 1));
}

result<std::uint64_t> whole(std::string_view text, std::string_view suffix, long double value,
                            std::string_view what) {
    const auto unit = unit_of(suffix);
    if (!unit) return not_a(text, what);
    const long double number = value * *unit;
    if (number < 0) return not_a(text, std::string(what) + ": it is negative");
    if (number >= 18446744073709551616.0L) return not_a(text, std::string(what) + ": it is above 2^64 - 1");
    // 1.1K is 1100 although 1.1 has no exact binary form: whole to within what 64 bits can say.
    const long double nearest = std::round(number);
    if (std::abs(number - nearest) > 1e-9L * std::max(1.0L, number) || (nearest == 0 && number > 0))
        return not_a(text, std::string(what) + ": it is not whole");
    return static_cast<std::uint64_t>(nearest);
}

// A fraction in any of its forms.
std::optional<double> fraction(std::string_view text) {
    const auto number = leading_number(text);
    if (!number) return std::nullopt;
    if (number->rest.empty()) return static_cast<double>(number->value);
    if (number->rest == "%") return static_cast<double>(number->value / 100);
    if (number->rest.starts_with("in")) {
        const auto of = parse_number(number->rest.substr(2));
        if (!of || !(*of > 0)) return std::nullopt;
        return static_cast<double>(number->value / static_cast<long double>(*of));
    }
    return std::nullopt;
}

template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& flags, std::optional<T>& target,
                        const std::string& help, const char* form, Parse parse) {
    return app
        .add_option_function<std::string>(
            flags,
            [&target, flags, parse](const std::string& text) {
                auto value = parse(text);
                if (!value) {
                    // Of "-n,--keys" the last, long form.
                    throw CLI::ValidationError(flags.substr(flags.rfind(',') + 1), value.error().message);
                }
                target = *value;
            },
            help)
        ->type_name(form);
}

} // namespace

result<std::uint64_t> parse_count(std::string_view text) {
    constexpr std::string_view what = "a whole number such as 10M, 1e9 or 800000";
    std::uint64_t plain = 0; // all 64 bits, where no long double has them
    if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), plain);
        error == std::errc() && end == text.data() + text.size() && !text.empty())
        return plain;
    const auto number = leading_number(text);
    if (!number) return not_a(text, what);
    return whole(text, number->rest, number->value, what);
}

result<std::uint64_t> parse_bytes(std::string_view text) {
    constexpr std::string_view what = "a size such as 1.5GiB, 200MB or 4096";
    const auto number = leading_number(text);
    if (!number) return not_a(text, what);
    std::string_view suffix = number->rest;
    if (suffix.ends_with('B')) suffix.remove_suffix(1);
    return whole(text, suffix, number->value, what);
}

result<double> parse_rate(std::string_view text) {
    constexpr std::string_view what = "a rate between 0 and 1, such as 0.01, 1e-6, 1% or 1in1000";
    const auto rate = fraction(text);
    if (!rate || !(*rate > 0) || !(*rate < 1)) return not_a(text, what);
    return *rate;
}

result<double> parse_share(std::string_view text) {
    constexpr std::string_view what = "a share from 0 to 1, such as 0.7, 70% or 7in10";
    const auto share = fraction(text);
    if (!share || !(*share >= 0) || !(*share <= 1)) return not_a(text, what);
    return *share;
}

result<double> parse_number(std::string_view text) {
    const auto number = leading_number(text);
    const auto unit = number ? unit_of(number->rest) : std::nullopt;
    if (!unit) return not_a(text, "a number such as 12.5, 1e9 or 10M");
    return static_cast<double>(number->value * *unit);
}

result<double> parse_seconds(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 8> units{{{"ms", 1e-3},
                                                                        {"s", 1},
                                                                        {"m", 60},
                                                                        {"min", 60},
                                                                        {"h", 3600},
                                                                        {"d", 86400},
                                                                        {"w", 604800},
                                                                        {"y", 31556952}}};
    const auto number = leading_number(text);
    if (number && number->value > 0)
        for (const auto& [name, seconds] : units)
            if (number->rest == name) return static_cast<double>(number->value) * seconds;
    return not_a(text, "a span of time such as 24h, 30min, 90s or 7d");
}

CLI::Option* add_count(CLI::App& app, const std::string& flags, std::optional<std::uint64_t>& target,
                       const std::string& help) {
    return add_parsed(app, flags, target, help, "N", parse_count);
}
CLI::Option* add_bytes(CLI::App& app, const std::string& flags, std::optional<std::uint64_t>& target,
                       const std::string& help) {
    return add_parsed(app, flags, target, help, "SIZE", parse_bytes);
}
CLI::Option* add_rate(CLI::App& app, const std::string& flags, std::optional<double>& target,
                      const std::string& help) {
    return add_parsed(app, flags, target, help, "RATE", parse_rate);
}
CLI::Option* add_share(CLI::App& app, const std::string& flags, std::optional<double>& target,
                       const std::string& help) {
    return add_parsed(app, flags, target, help, "SHARE", parse_share);
}
CLI::Option* add_number(CLI::App& app, const std::string& flags, std::optional<double>& target,
                        const std::string& help) {
    return add_parsed(app, flags, target, help, "X", parse_number);
}

} // namespace bouncer::tool
