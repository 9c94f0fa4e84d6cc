#include <bouncer/blocked_bloom.h>

#include "filters/solve.h"

#include <algorithm>
#include <array>

namespace bouncer {

std::string in_words(block_form form) {
    if (!detail::is_block_form(form)) return std::to_string(static_cast<unsigned>(form));
    return std::string(detail::visit_form(form, []<class Form>(Form) { return Form::name; }));
}

std::string in_code(block_form form) {
    return "bouncer::block_form::" + in_words(form);
}

namespace detail {

namespace {

// How much dearer than the cheapest a layout may be and still be taken for its speed: in bits where the goal names a
// rate; where it names only a size, in rate, which moves about five times as fast. Fewer words to write are worth more
// than a faster test: a concurrent add pays about 4 ns for each.
struct tolerance {
    double bits;
    double rate;
};
constexpr tolerance for_reads{1.015, 1.06};
constexpr tolerance for_adds{1.10, 1.6};
// Of lanes8 in a chain of layers, where every absent key pays for the second line of lanes16 in every layer: at 100M keys
// and 1 %, in eleven layers, it costs 0.1 bits per key.
constexpr double for_layers = 1.03;

blocked_bloom_parameters parameters_of(const math::geometry& shape) noexcept {
    const auto k = static_cast<std::uint32_t>(shape.k());
    switch (shape.groups) {
    case 2: return {shape.blocks, k, block_form::sectors2};
    case 4: return {shape.blocks, k, block_form::sectors4};
    case 8: return {shape.blocks, k, block_form::lanes8};
    default: return {shape.blocks, k, block_form::lanes16};
    }
}

// The rate below which two adjacent lines are worth their second access. Bits per key of lanes8, sectors4 and lanes16 at
// 0.05 %: 17.81, 17.90, 17.64; at 0.01 %: 23.61, 22.56, 21.15.
constexpr double two_lines_below = 0.0005;

// The cheapest shape with so many groups; null for none.
const sized_shape* cheapest_of(std::span<const sized_shape> sized, std::uint32_t groups) noexcept {
    const sized_shape* chosen = nullptr;
    for (const sized_shape& each : sized)
        if (each.shape.groups == groups && (chosen == nullptr || each.cost < chosen->cost)) chosen = &each;
    return chosen;
}

// The first in the preference's order that is nearly the cheapest:
//   reads  the fastest to test: lanes8, sectors2 (above 1.9 %, where lanes8 would cost 1.5 to 62 % more); below
//          two_lines_below lanes16 before them;
//   adds   the fewest words to write: two, four (two: 10.27 bits per key at 1 %, 17.04 at 0.1 %, 11 % above the cheapest
//          at 0.05 %; four: 7 % above it at 0.01 %);
//   space  the cheapest.
const math::geometry& pick(const goal& wanted, std::span<const sized_shape> sized) noexcept {
    const sized_shape& best = cheapest(sized);
    const tolerance allowed = wanted.prefer == prefer::adds ? for_adds : for_reads;
    const double limit = best.cost * (wanted.false_positive_rate ? allowed.bits : allowed.rate);
    const double rate = wanted.false_positive_rate.value_or(best.cost);
    std::array<std::uint32_t, 3> order{};
    switch (wanted.prefer) {
    case prefer::reads: order = {rate < two_lines_below ? 16u : 8u, 8u, 2u}; break;
    case prefer::adds: order = {2u, 4u}; break;
    case prefer::space: return best.shape;
    }
    for (const std::uint32_t groups : order) {
        const sized_shape* const chosen = cheapest_of(sized, groups);
        if (chosen != nullptr && chosen->cost <= limit) return chosen->shape;
    }
    return best.shape;
}

result<std::vector<sized_shape>> sized_for(const goal& wanted) {
    std::vector<math::geometry> shapes;
    blocked_forms::each([&]<class Form>(Form) {
        for (std::uint32_t k = Form::k_step; k <= Form::k_max; k += Form::k_step)
            shapes.push_back(Form::shape({1, k}));
    });
    return size_shapes(wanted, shapes, math::growth::blocks, 1, words_most * 64);
}

blocked_bloom_parameters made_foldable(const goal& wanted, const math::geometry& shape) {
    blocked_bloom_parameters chosen = parameters_of(shape);
    chosen.blocks = foldable_units(wanted, chosen.blocks, chosen.form == block_form::lanes16 ? 1024 : 512);
    return chosen;
}

} // namespace

result<blocked_bloom_parameters> blocked_layout::solve(const goal& wanted) {
    const auto sized = sized_for(wanted);
    if (!sized) return sized.error();
    return made_foldable(wanted, pick(wanted, *sized));
}

result<blocked_bloom_parameters> blocked_layout::solve_layer(const goal& wanted) {
    const auto sized = sized_for(wanted);
    if (!sized) return sized.error();
    const sized_shape* const one_line = cheapest_of(*sized, 8);
    if (wanted.prefer == prefer::reads && one_line != nullptr &&
        one_line->cost <= for_layers * cheapest(*sized).cost)
        return made_foldable(wanted, one_line->shape);
    return made_foldable(wanted, pick(wanted, *sized));
}

result<void> blocked_layout::check(const parameters& chosen) {
    if (chosen.blocks == 0)
        return failure{error_code::invalid_argument, "blocks must be at least 1, and is 0"};
    if (!is_block_form(chosen.form))
        return failure{error_code::invalid_argument,
                       "form must be lanes8, lanes16, sectors2 or sectors4, and is " +
                           std::to_string(static_cast<unsigned>(chosen.form))};
    const std::uint64_t most = words_most / visit_form(chosen.form, []<class Form>(Form) {
                                   return std::uint64_t{Form::block_words};
                               });
    if (chosen.blocks > most)
        return failure{error_code::too_large, "blocks must be at most " + std::to_string(most) + ", and is " +
                                                  std::to_string(chosen.blocks)};
    return visit_form(chosen.form, [k = chosen.k]<class Form>(Form) -> result<void> {
        if (k % Form::k_step == 0 && k != 0 && k <= Form::k_max) return {};
        if (k % Form::k_step == 0 && Form::k_step != Form::k_max) return check_range("k", k, Form::k_max);
        return failure{error_code::invalid_argument,
                       "k must be " + std::string(Form::k_step == Form::k_max ? "" : "a multiple of ") +
                           std::to_string(Form::k_step) + " in this form, and is " + std::to_string(k)};
    });
}

result<void> blocked_layout::check_stored(const std::uint64_t* fields) {
    const auto dropped = [](const char* form) {
        return failure{error_code::unknown_version,
                       std::string("form is ") + form +
                           ", which is no more: build the filter anew from its keys"};
    };
    switch (fields[2]) {
    case 1: return dropped("any_k");
    case 5: return dropped("halves256");
    case 6: return dropped("halves128");
    default: return {};
    }
}

result<blocked_bloom_parameters> blocked_layout::folded(std::uint64_t factor) const {
    if (auto ok = check_fold(params_.blocks, factor, "blocks"); !ok) return ok.error();
    return parameters{params_.blocks / factor, params_.k, params_.form};
}

} // namespace detail

} // namespace bouncer
