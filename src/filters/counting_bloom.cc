#include <bouncer/counting_bloom.h>

namespace bouncer::detail {

result<counting_bloom_parameters> counting_layout::solve(const goal& wanted, std::uint32_t counter_bits,
                                                         cell_form form) {
    // Whether this width and form exist, before any arithmetic with them.
    const parameters smallest{form == cell_form::two_lines ? 1u : 512u, 2, counter_bits, form};
    if (auto ok = check(smallest); !ok) return ok.error();
    auto found = solve_cells(wanted, counter_bits, form);
    if (!found) return found.error();
    return parameters{found->units(), static_cast<std::uint32_t>(found->shape().k()), counter_bits, form};
}

result<void> counting_layout::check(const parameters& chosen) {
    if (chosen.form != cell_form::two_lines && chosen.form != cell_form::flat)
        return failure{error_code::invalid_argument, "form must be two_lines or flat, and is " +
                                                         std::to_string(static_cast<unsigned>(chosen.form))};
    switch (chosen.counter_bits) {
    case 4:
        if (chosen.form != cell_form::two_lines)
            return failure{error_code::invalid_argument,
                           "counters of 4 bits lie in two_lines, and form is flat"};
        break;
    case 8: break;
    case 16:
    case 32:
        if (chosen.form != cell_form::flat)
            return failure{error_code::invalid_argument, "counters of " +
                                                             std::to_string(chosen.counter_bits) +
                                                             " bits are flat, and form is two_lines"};
        break;
    default:
        return failure{error_code::invalid_argument,
                       "counter_bits must be 4, 8, 16 or 32, and is " + std::to_string(chosen.counter_bits)};
    }
    return counting_layout(chosen).where().check("units");
}

result<void> counting_layout::check_bloom() const {
    if (params_.form == cell_form::flat) return {};
    return failure{error_code::unsupported,
                   "no Bloom filter has its bits where two_lines has its counters; create the counting_bloom "
                   "with cell_form::flat (counters of 8, 16 or 32 bits) if one is to be made of it"};
}

std::string counting_layout::describe(const parameters& chosen) {
    return counting_layout(chosen).where().describe();
}

} // namespace bouncer::detail
