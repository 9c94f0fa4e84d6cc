// Numbers as people write them: 10M, 1.5GiB, 1e-6, 1%, 1in1000, 24h. The one parser of the command; CLI11's differ.
#pragma once

#include <bouncer/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace bouncer::tool {

// A whole number of things: K, M, G, T, P are powers of 1000, Ki to Pi of 1024; 1e9 and 1.5M are whole. Above 2^64 - 1: an error.
result<std::uint64_t> parse_count(std::string_view text);
// Bytes: the same, with an optional B. 64K and 64KB are 64,000, 64KiB is 65,536.
result<std::uint64_t> parse_bytes(std::string_view text);
// A probability strictly between 0 and 1: 0.01, 1e-6, 1%, 1in1000.
result<double> parse_rate(std::string_view text);
// A share from 0 to 1, both allowed: the same forms.
result<double> parse_share(std::string_view text);
// Any finite number, suffixes as counts.
result<double> parse_number(std::string_view text);
// A span of time: 1500ms, 90s, 30m or 30min, 24h, 7d, 2w; above 0. A bare number has no unit, and is an error.
result<double> parse_seconds(std::string_view text);

// An option that is read by one of the above; what it refuses is a usage error.
CLI::Option* add_count(CLI::App& app, const std::string& flags, std::optional<std::uint64_t>& target,
                       const std::string& help);
CLI::Option* add_bytes(CLI::App& app, const std::string& flags, std::optional<std::uint64_t>& target,
                       const std::string& help);
CLI::Option* add_rate(CLI::App& app, const std::string& flags, std::optional<double>& target,
                      const std::string& help);
CLI::Option* add_share(CLI::App& app, const std::string& flags, std::optional<double>& target,
                       const std::string& help);
CLI::Option* add_number(CLI::App& app, const std::string& flags, std::optional<double>& target,
                        const std::string& help);

} // namespace bouncer::tool
