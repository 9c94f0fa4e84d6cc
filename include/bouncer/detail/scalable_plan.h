// How a chain of layers grows: capacities and rates, without a filter. docs/filters/scalable_bloom.md
#pragma once

#include <bouncer/detail/fields.h>
#include <bouncer/goal.h>
#include <bouncer/math.h>
#include <bouncer/result.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace bouncer {

// Explicit parameters of a chain. Growth 1 gives layers of equal size.
struct scalable_parameters {
    std::uint64_t first_keys = 0; // what the first layer is made for
    double rate = 0.01;           // of all layers together, however many
    double tightening = 0.85;     // r: each layer gets r times the rate of the one before
    std::uint32_t growth_small = 4;
    std::uint32_t growth = 2;
    std::uint64_t small_keys = 200'000; // growth_small applies to layers below this capacity
    enum prefer prefer = prefer::reads;
    friend bool operator==(const scalable_parameters&, const scalable_parameters&) = default;
};

namespace detail {

// At r = 0.85 the 64th layer gets 3.6e-5 of the first one's rate; doubling from 10,000 keys it would hold 2^76.
inline constexpr std::uint32_t scalable_layers_most = 64;
// As check_goal has it.
inline constexpr std::uint64_t scalable_keys_most = std::uint64_t{1} << 48;

// One layer before it exists. `remaining` is what later layers may still spend of the rate.
struct layer_budget {
    std::uint64_t capacity;
    double rate;
    double remaining;
    friend bool operator==(const layer_budget&, const layer_budget&) = default;
};

// What a layer of this capacity and so many bits counts for in the size of the next: at most one key a bit. Only rates
// above 0.63 could hold more, and a file may claim any.
constexpr std::uint64_t counted_capacity(std::uint64_t capacity, std::uint64_t bits) noexcept {
    return capacity < bits ? capacity : bits;
}

// [any-thread] The first layer, and the one after a chain whose largest counted capacity and remaining rate are these. With
// nothing taken by a union the rates are p (1-r) r^i, whose sum stays below p.
layer_budget first_layer(const scalable_parameters& chosen) noexcept;
layer_budget next_layer(const scalable_parameters& chosen, std::uint64_t largest, double remaining) noexcept;

// [any-thread] What does not depend on the kind of the layers.
result<scalable_parameters> scalable_solve(const goal& wanted);
result<void> scalable_check(const scalable_parameters& chosen);
std::string scalable_describe(const scalable_parameters& chosen);

// As they are stored: rates as the bits of a double.
using scalable_fields = fields<scalable_parameters, "first_keys", "rate", "tightening", "growth_small",
                               "growth", "small_keys", "prefer">;

// [any-thread] Whether a stored layer's own numbers make sense.
result<void> check_stored_layer(std::uint64_t capacity, std::uint64_t count, double rate);
// [any-thread] Whether a layer of this shape keeps its rate with so many keys: what follows it is sized by that number. Takes
// 1 us to 1 ms.
result<void> check_stored_capacity(const math::geometry& shape, std::uint64_t capacity, double rate);
// [any-thread] Whether the rates of all layers and what remains are within the whole.
result<void> check_stored_rates(double rate, double spent, double remaining);

} // namespace detail

} // namespace bouncer
