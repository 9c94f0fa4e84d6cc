// What the property tests draw from: keys, goals, and the seed.
//
// RC_PARAMS is set before main unless the caller has set it, so that every run draws the same cases; another seed is
// RC_PARAMS="seed=7" in the environment, more cases "max_success=10000".
#pragma once

#include "support/statistics.h"

#include <bouncer/detail/bits.h>
#include <bouncer/goal.h>

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

namespace bouncer {

// Found by rapidcheck, for counterexamples.
inline void showValue(const goal& wanted, std::ostream& out) {
    out << "{keys " << wanted.keys;
    if (wanted.false_positive_rate) out << ", false_positive_rate " << *wanted.false_positive_rate;
    if (wanted.size_bytes) out << ", size_bytes " << *wanted.size_bytes;
    out << ", prefer " << static_cast<int>(wanted.prefer) << "}";
}

} // namespace bouncer

namespace bouncer::test {

inline const int seeded_before_main =
    ::setenv("RC_PARAMS",
             ("seed=20 max_success=" + std::to_string(std::max<std::uint64_t>(20, scaled(200)))).c_str(), 0);

// Keys are numbers below this; the last of them stand for hashes with structure, the others for random ones.
inline constexpr std::uint16_t universe = 2048;
inline constexpr std::uint16_t structured = 67;

inline bool is_structured(std::uint16_t key) {
    return key >= universe - structured;
}

inline std::uint64_t hash_of(std::uint16_t key) {
    if (!is_structured(key)) return detail::mix64(key + std::uint64_t{1});
    const unsigned which = key - (universe - structured);
    if (which < 64) return std::uint64_t{1} << which;
    return which == 64 ? 0 : which == 65 ? ~std::uint64_t{0} : 0xffffffffu;
}

inline std::vector<std::uint64_t> hashes_of(const std::vector<std::uint16_t>& keys) {
    std::vector<std::uint64_t> hashes(keys.size());
    std::transform(keys.begin(), keys.end(), hashes.begin(), hash_of);
    return hashes;
}

inline rc::Gen<std::vector<std::uint16_t>> some_keys() {
    return rc::gen::container<std::vector<std::uint16_t>>(rc::gen::inRange<std::uint16_t>(0, universe));
}

inline rc::Gen<enum prefer> any_preference() {
    return rc::gen::element(prefer::reads, prefer::adds, prefer::space);
}

// Goals that every kind can serve, for up to `most` keys: a rate, or a size of at least `least_bytes` (a pair of lines is
// the largest block, 128 bytes).
inline rc::Gen<goal> servable_goal(std::uint64_t most, std::uint64_t least_bytes = 128) {
    const auto keys = rc::gen::inRange<std::uint64_t>(1, most + 1);
    const auto by_rate = rc::gen::map(
        rc::gen::tuple(keys, rc::gen::element(0.5, 0.3, 0.1, 0.01, 1e-3, 3e-4, 1e-4, 1e-6), any_preference()),
        [](const std::tuple<std::uint64_t, double, enum prefer>& drawn) {
            return goal{.keys = std::get<0>(drawn),
                        .false_positive_rate = std::get<1>(drawn),
                        .prefer = std::get<2>(drawn)};
        });
    const auto by_size = rc::gen::map(
        rc::gen::tuple(keys, rc::gen::inRange<std::uint64_t>(least_bytes, 8192), any_preference()),
        [](const std::tuple<std::uint64_t, std::uint64_t, enum prefer>& drawn) {
            return goal{
                .keys = std::get<0>(drawn), .size_bytes = std::get<1>(drawn), .prefer = std::get<2>(drawn)};
        });
    return rc::gen::oneOf(by_rate, by_size);
}

} // namespace bouncer::test
