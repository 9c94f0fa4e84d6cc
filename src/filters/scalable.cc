#include <bouncer/detail/format.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/scalable_plan.h>
#include <bouncer/detail/stored.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace bouncer::detail {

namespace {

// Just after a growth a chain takes up to 17 times the space of its keys; 4 and 2 are the defaults. In bytes a layer is
// bounded by check_size of scalable.h.
constexpr std::uint32_t growth_most = 16;

result<void> check_fraction(const char* name, double value) {
    if (value > 0 && value < 1) return {}; // not NaN either
    return failure{error_code::invalid_argument,
                   std::string(name) + " must lie between 0 and 1, and is " + scientific(value)};
}

result<void> check_growth(const char* name, std::uint32_t value) {
    if (value >= 1 && value <= growth_most) return {};
    return failure{error_code::invalid_argument,
                   std::string(name) + " must be 1 to 16, and is " + std::to_string(value)};
}

} // namespace

layer_budget first_layer(const scalable_parameters& chosen) noexcept {
    return {chosen.first_keys, chosen.rate * (1 - chosen.tightening), chosen.rate * chosen.tightening};
}

layer_budget next_layer(const scalable_parameters& chosen, std::uint64_t largest, double remaining) noexcept {
    const std::uint32_t factor = largest < chosen.small_keys ? chosen.growth_small : chosen.growth;
    // After a layer that was folded the next is what that one was made for, or as near to it as a growth may go.
    const std::uint64_t made_for = std::min(chosen.first_keys, largest * growth_most);
    return {std::max(largest * factor, made_for), remaining * (1 - chosen.tightening),
            remaining * chosen.tightening};
}

result<scalable_parameters> scalable_solve(const goal& wanted) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (wanted.size_bytes)
        return failure{error_code::invalid_argument,
                       "size_bytes is " + std::to_string(*wanted.size_bytes) +
                           ", and a chain has no fixed size: it grows with its keys; give "
                           "false_positive_rate alone"};
    scalable_parameters chosen{.first_keys = wanted.keys, .rate = *wanted.false_positive_rate};
    chosen.prefer = wanted.prefer;
    return chosen;
}

result<void> scalable_check(const scalable_parameters& chosen) {
    if (chosen.first_keys == 0)
        return failure{error_code::invalid_argument, "first_keys must be at least 1, and is 0"};
    if (chosen.first_keys > scalable_keys_most)
        return failure{error_code::too_large,
                       "first_keys must be at most 2^48, and is " + std::to_string(chosen.first_keys)};
    if (chosen.small_keys > scalable_keys_most)
        return failure{error_code::too_large,
                       "small_keys must be at most 2^48, and is " + std::to_string(chosen.small_keys)};
    if (auto ok = check_fraction("rate", chosen.rate); !ok) return ok;
    if (auto ok = check_fraction("tightening", chosen.tightening); !ok) return ok;
    if (auto ok = check_growth("growth_small", chosen.growth_small); !ok) return ok;
    if (auto ok = check_growth("growth", chosen.growth); !ok) return ok;
    if (chosen.prefer != prefer::reads && chosen.prefer != prefer::adds && chosen.prefer != prefer::space)
        return failure{error_code::invalid_argument,
                       "prefer must be reads, adds or space, and is " +
                           std::to_string(static_cast<unsigned>(chosen.prefer))};
    return {};
}

std::string scalable_describe(const scalable_parameters& chosen) {
    static constexpr const char* names[] = {"reads", "adds", "space"};
    return "first_keys " + std::to_string(chosen.first_keys) + ", rate " + scientific(chosen.rate) +
           ", tightening " + scientific(chosen.tightening) + ", growth " +
           std::to_string(chosen.growth_small) + " below " + std::to_string(chosen.small_keys) +
           " keys, then " + std::to_string(chosen.growth) + ", prefer " +
           names[std::min<unsigned>(static_cast<unsigned>(chosen.prefer), 2)];
}

result<void> check_stored_layer(std::uint64_t capacity, std::uint64_t count, double rate) {
    if (capacity == 0 || capacity > scalable_keys_most)
        return failure{error_code::invalid_argument,
                       "a layer's capacity must be 1 to 2^48, and is " + std::to_string(capacity)};
    if (count > scalable_keys_most)
        return failure{error_code::invalid_argument,
                       "a layer's count must be at most 2^48, and is " + std::to_string(count)};
    return check_fraction("a layer's rate", rate);
}

result<void> check_stored_capacity(const math::geometry& shape, std::uint64_t capacity, double rate) {
    if (capacity == 1) return {}; // of a copy with few bits, whose rate may be below that of any whole key
    constexpr double rounding = 0.01; // fpr is exact to 1e-5; who claims more keys gains less than 1 %
    // Half of the keys by the formula for bits thrown anywhere: refuses what is far off before the exact sum, which takes some
    // milliseconds there. All of the keys would refuse honest copies: at rates from 0.4 on, groups whose bits may be
    // the same do better than the formula.
    const auto keys = static_cast<double>(capacity);
    const auto k = static_cast<double>(shape.k());
    const double fill = -std::expm1(-k * keys / 2 / static_cast<double>(shape.total_bits()));
    const double most = rate * (1 + rounding);
    if (std::pow(fill, k) <= most && math::fpr(shape, keys) <= most) return {};
    return failure{error_code::invalid_argument, "a capacity of " + std::to_string(capacity) + " keys in " +
                                                     std::to_string(shape.total_bits()) +
                                                     " bits does not keep the rate of " + scientific(rate)};
}

result<void> check_stored_rates(double rate, double spent, double remaining) {
    if (auto ok = check_fraction("the remaining rate", remaining); !ok) return ok;
    constexpr double rounding = 1e-6; // of 64 sums and products
    if (spent + remaining <= rate * (1 + rounding)) return {};
    return failure{error_code::invalid_argument,
                   "the layers' rates add up to " + scientific(spent) + " and " + scientific(remaining) +
                       " remains, above the rate of the whole, " + scientific(rate)};
}

} // namespace bouncer::detail
