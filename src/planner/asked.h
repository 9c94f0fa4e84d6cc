// Wishes, checked and completed: which two numbers are given, and which are bounds.
#pragma once

#include <bouncer/planner.h>

namespace bouncer::planner {

struct asked {
    std::optional<std::uint64_t> keys; // unset: as many as fit
    std::optional<double> rate;        // unset: the best that fits
    std::optional<std::uint64_t> size_bytes;
    bool from_bits = false; // size_bytes comes from bits per key
};

inline constexpr std::uint64_t keys_most = std::uint64_t{1} << 48; // as every kind's solve has it

result<void> check_rate(const char* name, double rate);
result<asked> complete(const wishes& wanted);

} // namespace bouncer::planner
