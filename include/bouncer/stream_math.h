// The numbers behind cells that forget: how a stable filter settles and what it forgets. docs/math.md derives each formula.
//
// A stable filter has `cells` cells of values 0 to `max`. An add counts down a run of `p` neighbouring cells (a cell at
// zero stays), then sets k cells, thrown with replacement, to `max`. A query says "maybe" when none of its k is zero.
//
// All functions are pure. None returns NaN for finite input; p above `cells` counts as `cells`. What is said of one cell
// is exact. What is said of k cells takes them as independent: for large filters they are. In small ones two cells of a
// key may lie within p of each other, and are then counted down together, so that it forgets less than said: at k = 6
// and p = 142 by 8 % of the false-negative rate with 1024 cells, 2 % with 10,000, nothing that can be measured with
// 100,000. Its FPR is above what is said, because fills vary: measured up to a factor of exp(k (k-1) / 2 * (1-f) / (f *
// cells)), f being the fill: by 2 % at k = 6 with 512 cells, by 13 % at k = 10 with 512 cells of 2 bits.
#pragma once

#include <bouncer/math.h>

#include <cstdint>
#include <optional>

namespace bouncer::math {

// ---- the stable point --------------------------------------------------------------------------------------

// [any-thread] The fraction of zero cells that a stable filter tends to, whatever the stream. Exact.
double stable_zero_fraction(std::uint64_t cells, std::uint32_t k, std::uint32_t max, std::uint64_t p);
// [any-thread] The FPR there.
double stable_fpr(std::uint64_t cells, std::uint32_t k, std::uint32_t max, std::uint64_t p);
// [any-thread] The least p, at least 1 and below `cells`, at which stable_fpr() is at most `fpr`; nullopt when none is.
std::optional<std::uint64_t> stable_decrements(double fpr, std::uint64_t cells, std::uint32_t k,
                                               std::uint32_t max);

// ---- on the way, and after -----------------------------------------------------------------------------------

// [any-thread] The expected fraction of zero cells after so many adds of distinct keys to an empty filter (exact), and
// the FPR then. It rises to the stable point and never exceeds it.
double stable_zero_fraction_after(double adds, std::uint64_t cells, std::uint32_t k, std::uint32_t max,
                                  std::uint64_t p);
double stable_fpr_after(double adds, std::uint64_t cells, std::uint32_t k, std::uint32_t max,
                        std::uint64_t p);
// [any-thread] The probability that a key is forgotten once `distance` other keys have been added after it. It rises
// with the distance, to that of a key which was never added.
double stable_false_negative_rate(double distance, std::uint64_t cells, std::uint32_t k, std::uint32_t max,
                                  std::uint64_t p);

} // namespace bouncer::math
