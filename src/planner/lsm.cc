// After N. Dayan, M. Athanassoulis and S. Idreos, "Monkey: Optimal Navigable Key-Value Store" (2017): one lookup asks every
// level, so the sum of the rates counts, and a bit is worth most where keys are few.
#include <bouncer/detail/format.h>
#include <bouncer/math.h>
#include <bouncer/planner.h>

#include "planner/asked.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bouncer::planner {

namespace {

constexpr double ln2_squared = std::numbers::ln2 * std::numbers::ln2;

// The exact rate of the best flat filter of a size; 1 where there is none.
double flat_rate(std::uint64_t keys, std::uint64_t size_bytes) {
    if (size_bytes < 8) return 1;
    const auto made = design("bloom", {.keys = keys, .size_bytes = size_bytes});
    return made ? made->rate : 1;
}

// Levels of so many keys with so many bits each, and their exact rates.
lsm_split exact_split(const std::vector<double>& keys, const std::vector<double>& bits_per_key) {
    lsm_split out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        lsm_level level;
        level.keys = static_cast<std::uint64_t>(std::llround(keys[i]));
        level.size_bytes = static_cast<std::uint64_t>(bits_per_key[i] * keys[i] / 8);
        level.bits_per_key = bits_per_key[i];
        level.rate = flat_rate(level.keys, level.size_bytes);
        out.unfiltered += level.size_bytes < 8;
        out.reads += level.rate;
        out.levels.push_back(level);
    }
    return out;
}

result<void> check(const lsm_tree& tree) {
    using detail::scientific;
    if (tree.levels < 1 || tree.levels > 32)
        return failure{error_code::invalid_argument,
                       "levels must be 1 to 32, and is " + std::to_string(tree.levels)};
    if (!(tree.ratio > 1) || !(tree.ratio <= 1000))
        return failure{error_code::invalid_argument,
                       "the ratio between levels must be above 1 and at most 1000, and is " +
                           scientific(tree.ratio)};
    if (tree.keys < tree.levels)
        return failure{error_code::invalid_argument, std::to_string(tree.keys) + " keys are too few for " +
                                                         std::to_string(tree.levels) + " levels"};
    if (tree.keys > keys_most)
        return failure{error_code::too_large,
                       "keys must be at most 2^48, and is " + std::to_string(tree.keys)};
    if (tree.size_bytes == 0 || tree.size_bytes > std::uint64_t{1} << 50)
        return failure{error_code::invalid_argument,
                       "the memory must be 1 to 2^50 bytes, and is " + std::to_string(tree.size_bytes)};
    return {};
}

} // namespace

// L = sum exp(-a c_i) + mu (sum n_i c_i - bits), a = ln^2 2. Where c_i > 0: a p_i = mu n_i, so p_i = s n_i with one s for
// all. The budget gives s: bits = -(1/a) sum n_i ln(s n_i) over the levels with a filter. Those are the smallest: a
// level has one as long as s n_i < 1. Dropping the largest whose p_i would reach 1 until none does finds them.
std::vector<double> monkey_bits(const std::vector<double>& level_keys, double bits) {
    std::vector<std::size_t> order(level_keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t x, std::size_t y) { return level_keys[x] < level_keys[y]; });
    double keys = 0;
    double weighted = 0; // sum n ln n
    for (const double n : level_keys) {
        keys += n;
        weighted += n * std::log(n);
    }
    std::vector<double> out(level_keys.size(), 0.0);
    while (!order.empty()) {
        const double largest = level_keys[order.back()];
        const double log_s = -(ln2_squared * bits + weighted) / keys;
        if (log_s + std::log(largest) < 0) {
            for (const std::size_t i : order) out[i] = -(log_s + std::log(level_keys[i])) / ln2_squared;
            break;
        }
        keys -= largest;
        weighted -= largest * std::log(largest);
        order.pop_back();
    }
    return out;
}

result<lsm_split> plan_lsm(const lsm_tree& tree) {
    return detail::guarded([&]() -> result<lsm_split> {
        if (auto ok = check(tree); !ok) return ok.error();
        std::vector<double> keys(tree.levels);
        double sum = 0;
        for (std::uint32_t i = 0; i < tree.levels; ++i) sum += keys[i] = std::pow(tree.ratio, i);
        for (double& n : keys) {
            n *= static_cast<double>(tree.keys) / sum;
            if (n < 1)
                return failure{error_code::invalid_argument,
                               std::to_string(tree.keys) + " keys in " + std::to_string(tree.levels) +
                                   " levels of ratio " + detail::scientific(tree.ratio) +
                                   " leave less than one key for the first"};
        }
        const double bits = 8 * static_cast<double>(tree.size_bytes);
        const double uniform = bits / static_cast<double>(tree.keys);
        // Below a bit per key a real filter is much worse than the curve: its k cannot be below 1. So every number of
        // largest levels without a filter is tried, and the exact rates decide.
        lsm_split best;
        for (std::size_t filtered = keys.size(); filtered > 0; --filtered) {
            const std::vector<double> smallest(keys.begin(),
                                               keys.begin() + static_cast<std::ptrdiff_t>(filtered));
            std::vector<double> split = monkey_bits(smallest, bits);
            split.resize(keys.size(), 0.0);
            lsm_split tried = exact_split(keys, split);
            if (best.levels.empty() || tried.reads < best.reads) best = std::move(tried);
        }
        best.uniform_bits_per_key = uniform;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            lsm_level& level = best.levels[i];
            level.uniform_rate = flat_rate(level.keys, static_cast<std::uint64_t>(uniform * keys[i] / 8));
            best.uniform_reads += level.uniform_rate;
        }
        return best;
    });
}

} // namespace bouncer::planner
