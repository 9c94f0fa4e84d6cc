#include <bouncer/blocked_bloom.h>

#include "filters/solve.h"

#include <algorithm>

namespace bouncer::detail {

namespace {

// How much dearer than the cheapest a layout may be and still be taken for its speed: in bits where the goal names a
// rate; where it names only a size, in rate, which moves about five times as fast. Fewer words to write are worth more
// than a faster test: a concurrent add pays about 4 ns for each.
struct tolerance {
    double bits;
    double rate;
};
constexpr tolerance for_reads{1.03, 1.15};
constexpr tolerance for_adds{1.08, 1.45};

blocked_bloom_parameters parameters_of(const math::geometry& shape) noexcept {
    if (shape.groups == 1) return {shape.blocks, shape.bits_per_group, block_form::any_k};
    return {shape.blocks, shape.groups, shape.groups == 8 ? block_form::lanes8 : block_form::lanes16};
}

// The rate below which two adjacent lines are worth their second access. Bits per key of lanes8, the best any k and
// lanes16 at 0.05 %: 17.81, 17.39, 17.64; at 0.01 %: 23.61, 22.03, 21.15.
constexpr double two_lines_below = 0.0005;

// reads: the fastest to test that is nearly the cheapest, in the order lanes8, any k, lanes16; below two_lines_below
// lanes16 first.
// adds: the fewest bits to set, and so the fewest words to write, that is nearly the cheapest.
// space: the cheapest.
const math::geometry& pick(const goal& wanted, std::span<const sized_shape> sized) noexcept {
    const sized_shape& best = cheapest(sized);
    const tolerance allowed = wanted.prefer == prefer::adds ? for_adds : for_reads;
    const double limit = best.cost * (wanted.false_positive_rate ? allowed.bits : allowed.rate);
    const double rate = wanted.false_positive_rate.value_or(best.cost);
    switch (wanted.prefer) {
    case prefer::reads:
        for (const std::uint32_t groups : {rate < two_lines_below ? 16u : 8u, 8u, 1u}) {
            const sized_shape* chosen = nullptr;
            for (const sized_shape& each : sized)
                if (each.shape.groups == groups && (chosen == nullptr || each.cost < chosen->cost))
                    chosen = &each;
            if (chosen != nullptr && chosen->cost <= limit) return chosen->shape;
        }
        break;
    case prefer::adds: {
        const sized_shape* chosen = nullptr;
        for (const sized_shape& each : sized)
            if (each.shape.groups == 1 && each.cost <= limit &&
                (chosen == nullptr || each.shape.bits_per_group < chosen->shape.bits_per_group))
                chosen = &each;
        if (chosen != nullptr) return chosen->shape;
    } break;
    case prefer::space: break;
    }
    return best.shape;
}

} // namespace

math::geometry blocked_layout::shape_of(const parameters& chosen) noexcept {
    switch (chosen.form) {
    case block_form::lanes8: return {.blocks = chosen.blocks, .groups = 8, .sector_bits = 64};
    case block_form::any_k: return {.blocks = chosen.blocks, .sector_bits = 512, .bits_per_group = chosen.k};
    case block_form::lanes16: return {.blocks = chosen.blocks, .groups = 16, .sector_bits = 64};
    }
    return {};
}

result<blocked_bloom_parameters> blocked_layout::solve(const goal& wanted) {
    std::vector<math::geometry> shapes;
    for (const std::uint32_t k : k_candidates(wanted, any_k_most))
        shapes.push_back({.sector_bits = 512, .bits_per_group = k});
    shapes.push_back({.groups = 8, .sector_bits = 64});
    shapes.push_back({.groups = 16, .sector_bits = 64});
    auto sized = size_shapes(wanted, shapes, math::growth::blocks, 1, words_most * 64);
    if (!sized) return sized.error();
    parameters chosen = parameters_of(pick(wanted, *sized));
    chosen.blocks = foldable_units(wanted, chosen.blocks, chosen.form == block_form::lanes16 ? 1024 : 512);
    return chosen;
}

result<void> blocked_layout::check(const parameters& chosen) {
    if (chosen.blocks == 0)
        return failure{error_code::invalid_argument, "blocks must be at least 1, and is 0"};
    if (const std::uint64_t most = words_most / (chosen.form == block_form::lanes16 ? 16 : 8);
        chosen.blocks > most)
        return failure{error_code::too_large, "blocks must be at most " + std::to_string(most) + ", and is " +
                                                  std::to_string(chosen.blocks)};
    std::uint32_t fixed_k = 0;
    switch (chosen.form) {
    case block_form::any_k: return check_range("k", chosen.k, any_k_most);
    case block_form::lanes8: fixed_k = 8; break;
    case block_form::lanes16: fixed_k = 16; break;
    default:
        return failure{error_code::invalid_argument, "form must be lanes8, any_k or lanes16, and is " +
                                                         std::to_string(static_cast<unsigned>(chosen.form))};
    }
    if (chosen.k != fixed_k)
        return failure{error_code::invalid_argument, "k must be " + std::to_string(fixed_k) +
                                                         " in this form, and is " + std::to_string(chosen.k)};
    return {};
}

std::string blocked_layout::describe(const parameters& chosen) {
    static constexpr const char* names[] = {"lanes8", "any_k", "lanes16"};
    return "blocks " + std::to_string(chosen.blocks) + ", k " + std::to_string(chosen.k) + ", form " +
           names[static_cast<unsigned>(chosen.form)];
}

result<blocked_bloom_parameters> blocked_layout::folded(std::uint64_t factor) const {
    if (auto ok = check_fold(params_.blocks, factor, "blocks"); !ok) return ok.error();
    return parameters{params_.blocks / factor, params_.k, params_.form};
}

} // namespace bouncer::detail
