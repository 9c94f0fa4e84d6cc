// The least number that is good enough, found from a guess.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace bouncer::math::detail {

// A double as a whole number within [1, most].
inline std::uint64_t clamped(double value, std::uint64_t most) {
    if (!(value > 1)) return 1;
    if (value >= static_cast<double>(most)) return most;
    return std::min(most, static_cast<std::uint64_t>(value));
}

// The smallest x in [1, most] with good(x), which is monotone; most + 1 when there is none. Starts at a guess,
// because good() costs more the further x is from the answer.
template <class Good>
std::uint64_t first_good(std::uint64_t guess, std::uint64_t most, Good&& good) {
    std::uint64_t bad = 0;      // below: known to be bad, or 0
    std::uint64_t fine = guess; // above: known to be good
    double stretch = 1.0625;
    if (good(guess)) {
        while (fine > 1) {
            const auto lower = std::min(fine - 1, clamped(static_cast<double>(fine) / stretch, most));
            if (!good(lower)) {
                bad = lower;
                break;
            }
            fine = lower;
            stretch *= stretch;
        }
    } else {
        do {
            bad = fine;
            if (bad >= most) return most + 1;
            fine = std::max(bad + 1, clamped(static_cast<double>(bad) * stretch, most));
            stretch *= stretch;
        } while (!good(fine));
    }
    while (fine - bad > 1) {
        const std::uint64_t middle = std::midpoint(bad, fine);
        (good(middle) ? fine : bad) = middle;
    }
    return fine;
}

} // namespace bouncer::math::detail
