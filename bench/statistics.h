// Medians, and the paired ratio of two variants that ran in the same rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

inline double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

inline double least_of(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

struct interval {
    double median = 0;
    double low = 0; // 95 % that the true median lies between low and high; the extremes below 6 values
    double high = 0;
};

// How many order statistics of n lie outside the 95 % interval of the median, at each end: the most whose tail of the
// binomial (n, 1/2) is at most 2.5 %. No assumption about the distribution of the values.
inline std::size_t outside_interval(std::size_t n) {
    const auto count = static_cast<double>(n);
    double tail = 0;
    std::size_t outside = 0;
    for (std::size_t heads = 0; heads < n; ++heads) {
        const auto h = static_cast<double>(heads);
        tail += std::exp(std::lgamma(count + 1) - std::lgamma(h + 1) - std::lgamma(count - h + 1) -
                         count * std::log(2.0));
        if (tail > 0.025) break;
        outside = heads;
    }
    return outside;
}

inline interval median_interval(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const std::size_t outside = outside_interval(values.size());
    return {median_of(values), values[outside], values[values.size() - 1 - outside]};
}

// combine(a[i], b[i]) over the rounds that both have.
template <class Combine>
interval paired(const std::vector<double>& a, const std::vector<double>& b, Combine combine) {
    std::vector<double> both;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) both.push_back(combine(a[i], b[i]));
    return median_interval(std::move(both));
}

inline interval paired_ratio(const std::vector<double>& above, const std::vector<double>& below) {
    return paired(above, below, [](double a, double b) { return b > 0 ? a / b : 0; });
}
inline interval paired_difference(const std::vector<double>& left, const std::vector<double>& right) {
    return paired(left, right, [](double a, double b) { return a - b; });
}

} // namespace bench
