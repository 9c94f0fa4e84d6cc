// A number with its error bound, as the sampled forms of O(m) scans return it.
#pragma once

namespace bouncer {

// `value` is the sample's answer; what a full scan would answer lies in [low, high] with a confidence of 99.9 %
// whatever the distribution of the bits (empirical Bernstein bound: Audibert, Munos and Szepesvari, 2009).
struct estimate {
    double value = 0;
    double low = 0;
    double high = 0;
};

} // namespace bouncer
