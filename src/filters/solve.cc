#include "filters/solve.h"

#include <bouncer/detail/format.h>
#include <bouncer/detail/layout.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace bouncer::detail {

namespace {

// Beyond this many keys no filter fits into any machine, and the math would lose digits.
constexpr std::uint64_t keys_most = std::uint64_t{1} << 48;

std::uint64_t& grown(math::geometry& shape, math::growth what) noexcept {
    return what == math::growth::blocks ? shape.blocks : shape.sector_bits;
}

} // namespace

result<void> check_goal(const goal& wanted) {
    if (wanted.keys == 0) return failure{error_code::invalid_argument, "keys must be at least 1, and is 0"};
    if (wanted.keys > keys_most)
        return failure{error_code::too_large,
                       "keys must be at most 2^48, and is " + std::to_string(wanted.keys)};
    if (!wanted.false_positive_rate && !wanted.size_bytes)
        return failure{error_code::invalid_argument, "neither false_positive_rate nor size_bytes is given"};
    if (wanted.size_bytes && *wanted.size_bytes == 0)
        return failure{error_code::invalid_argument, "size_bytes must be at least 1, and is 0"};
    if (wanted.prefer != prefer::reads && wanted.prefer != prefer::adds && wanted.prefer != prefer::space)
        return failure{error_code::invalid_argument,
                       "prefer must be reads, adds or space, and is " +
                           std::to_string(static_cast<unsigned>(wanted.prefer))};
    if (wanted.false_positive_rate) {
        const double rate = *wanted.false_positive_rate;
        if (!(rate > 0) || !(rate < 1))
            return failure{error_code::invalid_argument,
                           "false_positive_rate must lie between 0 and 1, and is " + scientific(rate)};
        const double best = math::hash_collision_rate(static_cast<double>(wanted.keys));
        if (rate <= best)
            return failure{error_code::invalid_argument,
                           "64-bit hashes of " + std::to_string(wanted.keys) +
                               " keys cannot keep a false_positive_rate of " + scientific(rate) +
                               ": their collisions alone give " + scientific(best)};
    }
    return {};
}

result<std::vector<sized_shape>> size_shapes(const goal& wanted, std::span<const math::geometry> shapes,
                                             math::growth what, std::uint64_t granule,
                                             std::uint64_t most_bits) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    const auto keys = static_cast<double>(wanted.keys);
    std::vector<sized_shape> sized;
    std::uint64_t fewest = 0;       // bits, of the shapes so far
    std::uint64_t fewest_above = 0; // of those that are too large for size_bytes
    for (math::geometry shape : shapes) {
        grown(shape, what) = granule;
        const std::uint64_t bits_per_granule = shape.total_bits();
        // A shape that needs an eighth more than another is not worth sizing: no preference would take it.
        const std::uint64_t worth = fewest == 0 ? most_bits : std::min(most_bits, fewest + fewest / 8);
        std::uint64_t most = worth / bits_per_granule * granule;
        if (wanted.false_positive_rate) {
            const auto found =
                math::smallest(shape, what, granule, wanted.keys, *wanted.false_positive_rate, most);
            if (!found) continue;
            const std::uint64_t bits = found->total_bits();
            if (wanted.size_bytes && bits / 8 > *wanted.size_bytes) {
                fewest_above = fewest_above == 0 ? bits : std::min(fewest_above, bits);
                continue;
            }
            fewest = fewest == 0 ? bits : std::min(fewest, bits);
            sized.push_back({*found, static_cast<double>(bits)});
        } else {
            const std::uint64_t granules = *wanted.size_bytes / (bits_per_granule / 8);
            most = std::min(most, granules > most / granule ? most : granules * granule);
            if (most == 0) continue;
            grown(shape, what) = most;
            sized.push_back({shape, math::fpr(shape, keys)});
        }
    }
    if (!sized.empty()) return sized;
    if (fewest_above != 0)
        return failure{error_code::too_large, std::to_string(wanted.keys) + " keys at a rate of " +
                                                  scientific(*wanted.false_positive_rate) + " need " +
                                                  std::to_string(fewest_above / 8) +
                                                  " bytes, above size_bytes, " +
                                                  std::to_string(*wanted.size_bytes)};
    if (!wanted.false_positive_rate)
        return failure{error_code::invalid_argument,
                       "size_bytes is too small for one block, at " + std::to_string(*wanted.size_bytes)};
    return failure{error_code::too_large, std::to_string(wanted.keys) + " keys at a rate of " +
                                              scientific(*wanted.false_positive_rate) +
                                              " need more than this kind's limit of " +
                                              std::to_string(most_bits / 8) + " bytes"};
}

const sized_shape& cheapest(std::span<const sized_shape> sized) noexcept {
    return *std::min_element(sized.begin(), sized.end(),
                             [](const sized_shape& a, const sized_shape& b) { return a.cost < b.cost; });
}

std::vector<std::uint32_t> k_candidates(const goal& wanted, std::uint32_t k_most) {
    double classic = 1;
    if (wanted.false_positive_rate && *wanted.false_positive_rate > 0)
        classic = -std::log2(*wanted.false_positive_rate);
    else if (wanted.size_bytes && wanted.keys > 0)
        classic =
            8 * static_cast<double>(*wanted.size_bytes) / static_cast<double>(wanted.keys) * std::log(2);
    classic = std::clamp(classic, 1.0, static_cast<double>(k_most));
    std::vector<std::uint32_t> out(k_most);
    std::iota(out.begin(), out.end(), 1u);
    std::stable_sort(out.begin(), out.end(), [classic](std::uint32_t a, std::uint32_t b) {
        return std::abs(a - classic) < std::abs(b - classic);
    });
    return out;
}

std::uint64_t foldable_units(const goal& wanted, std::uint64_t units, std::uint64_t bits_per_unit) noexcept {
    std::uint64_t granule = 1;
    while (granule < 64 && units / (granule * 2) >= 1024) granule *= 2;
    const std::uint64_t down = units / granule * granule;
    if (!wanted.false_positive_rate || down == units) return down;
    const std::uint64_t up = down + granule;
    const bool fits = !wanted.size_bytes || up * (bits_per_unit / 8) <= *wanted.size_bytes;
    return fits ? up : units;
}

result<void> check_fold(std::uint64_t units, std::uint64_t factor, const char* unit_name) {
    if (factor == 0 || units % factor != 0)
        return failure{error_code::invalid_argument, "a fold factor must divide the " +
                                                         std::to_string(units) + " " + unit_name +
                                                         ", and is " + std::to_string(factor)};
    return {};
}

result<void> check_range(const char* name, std::uint64_t value, std::uint64_t most) {
    if (value == 0)
        return failure{error_code::invalid_argument, std::string(name) + " must be at least 1, and is 0"};
    if (value > most)
        return failure{error_code::invalid_argument, std::string(name) + " must be at most " +
                                                         std::to_string(most) + ", and is " +
                                                         std::to_string(value)};
    return {};
}

} // namespace bouncer::detail
