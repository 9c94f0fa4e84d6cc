#include <bouncer/detail/cells.h>

#include <bouncer/detail/bits.h>
#include <bouncer/detail/format.h>
#include <bouncer/words.h>

#include "filters/solve.h"
#include "math/power.h"

#include <bit>
#include <vector>

namespace bouncer::detail {

using math::detail::power;

namespace {

// One bit per cell, its lowest: whether a bit of the mask is set in it.
class cell_counter {
  public:
    cell_counter(std::uint32_t cell_bits, const cell_source& from) noexcept
        : cell_bits_(cell_bits), from_(from) {
        for (std::uint32_t shift = 0; shift < 64; shift += cell_bits) {
            lowest_ |= std::uint64_t{1} << shift;
            mask_ |= from.mask << shift;
        }
    }

    std::uint64_t count(std::uint64_t first, std::uint64_t words) const noexcept {
        std::uint64_t sum = 0;
        for (std::uint64_t i = first; i < first + words; ++i) {
            std::uint64_t cells = __atomic_load_n(from_.words + i, __ATOMIC_RELAXED);
            if (from_.other != nullptr) cells |= __atomic_load_n(from_.other + i, __ATOMIC_RELAXED);
            cells &= mask_;
            for (std::uint32_t half = cell_bits_ / 2; half != 0; half /= 2) cells |= cells >> half;
            sum += static_cast<std::uint64_t>(std::popcount(cells & lowest_));
        }
        return sum;
    }

  private:
    std::uint32_t cell_bits_;
    cell_source from_;
    std::uint64_t lowest_ = 0;
    std::uint64_t mask_ = 0;
};

} // namespace

double fill_of(const cells& where, const cell_source& from) noexcept {
    const cell_counter counter(where.cell_bits(), from);
    return static_cast<double>(counter.count(0, where.word_count())) /
           static_cast<double>(where.cell_count());
}

double answer_rate(const cells& where, const cell_source& from) noexcept {
    const math::geometry shape = where.shape();
    if (!where.in_lines()) return power(fill_of(where, from), shape.bits_per_group);
    const cell_counter counter(where.cell_bits(), from);
    const auto of_line = [&](std::uint64_t line) {
        return power(static_cast<double>(counter.count(8 * line, 8)) / static_cast<double>(shape.sector_bits),
                     shape.bits_per_group);
    };
    double sum = 0;
    for (std::uint64_t block = 0; block < where.units(); ++block)
        sum += of_line(2 * block) * of_line(2 * block + 1);
    return sum / static_cast<double>(where.units());
}

result<void> cells::check(const char* unit_name) const {
    if (auto ok = check_range("k", k_, in_lines() ? 2 * cells_of_line_most : k_most); !ok) return ok;
    if (form_ != cell_form::two_lines && form_ != cell_form::flat)
        return failure{error_code::invalid_argument, "form must be two_lines or flat, and is " +
                                                         std::to_string(static_cast<unsigned>(form_))};
    if (in_lines()) {
        if (k_ % 2 != 0)
            return failure{error_code::invalid_argument,
                           "k must be even in two lines, and is " + std::to_string(k_)};
        if (cell_bits_ != 4 && cell_bits_ != 8)
            return failure{error_code::invalid_argument,
                           "two lines take cells of 4 or 8 bits, and these have " +
                               std::to_string(cell_bits_)};
    }
    if (units_ == 0)
        return failure{error_code::invalid_argument,
                       std::string(unit_name) + " must be at least 1, and is 0"};
    const std::uint64_t most = in_lines() ? words_most / 16 : words_most * cells_per_word();
    if (units_ > most)
        return failure{error_code::too_large, std::string(unit_name) + " must be at most " +
                                                  std::to_string(most) + ", and is " +
                                                  std::to_string(units_)};
    if (units_ % granule() != 0)
        return failure{error_code::invalid_argument, std::string(unit_name) + " must be a multiple of " +
                                                         std::to_string(granule()) + ", and is " +
                                                         std::to_string(units_)};
    return {};
}

std::string cells::describe() const {
    return (in_lines() ? "blocks " : "cells ") + std::to_string(units_) + ", k " + std::to_string(k_) +
           ", bits " + std::to_string(cell_bits_) + ", form " + (in_lines() ? "two_lines" : "flat");
}

namespace {

result<cells> sized_cells(const goal& wanted, std::uint32_t cell_bits, cell_form form) {
    const cells one(1, 2, cell_bits, form);
    const std::uint64_t most = words_most * one.cells_per_word();
    std::vector<math::geometry> shapes;
    if (one.in_lines()) {
        for (const std::uint32_t each : k_candidates(wanted, cells_of_line_most))
            shapes.push_back(cells(1, 2 * each, cell_bits, form).shape());
        auto sized = size_shapes(wanted, shapes, math::growth::blocks, 1, most);
        if (!sized) return sized.error();
        const math::geometry& best = cheapest(*sized).shape;
        return cells(best.blocks, 2 * best.bits_per_group, cell_bits, form);
    }
    for (const std::uint32_t k : k_candidates(wanted, cells::k_most)) shapes.push_back({.bits_per_group = k});
    auto sized = size_shapes(wanted, shapes, math::growth::sector_bits, one.granule(), most);
    if (!sized) return sized.error();
    const math::geometry& best = cheapest(*sized).shape;
    return cells(best.sector_bits, best.bits_per_group, cell_bits, form);
}

} // namespace

result<cells> solve_cells(const goal& wanted, std::uint32_t cell_bits, cell_form form) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    goal in_cells = wanted; // the math counts bits where these are cells
    in_cells.size_bytes.reset();
    if (wanted.false_positive_rate) {
        auto found = sized_cells(in_cells, cell_bits, form);
        if (!found)
            return failure{error_code::too_large, std::to_string(wanted.keys) + " keys at a rate of " +
                                                      scientific(*wanted.false_positive_rate) +
                                                      " need more than this kind's limit of " +
                                                      std::to_string(words_most * 8) + " bytes"};
        if (!wanted.size_bytes) return found;
        if (const std::uint64_t bytes = 8 * found->word_count(); bytes > *wanted.size_bytes)
            return failure{error_code::too_large, std::to_string(wanted.keys) + " keys at a rate of " +
                                                      scientific(*wanted.false_positive_rate) + " need " +
                                                      std::to_string(bytes) + " bytes, above size_bytes, " +
                                                      std::to_string(*wanted.size_bytes)};
        return found;
    }
    const cells one(1, 2, cell_bits, form);
    if (*wanted.size_bytes < (one.in_lines() ? 128 : one.granule() * cell_bits / 8))
        return failure{error_code::invalid_argument,
                       "size_bytes is too small for one block, at " + std::to_string(*wanted.size_bytes)};
    in_cells.size_bytes = *wanted.size_bytes / cell_bits;
    return sized_cells(in_cells, cell_bits, form);
}

result<void> check_control_words(std::string_view kind, std::span<const std::uint64_t> words,
                                 std::uint64_t most) {
    bool good = const_words::load(words.data()) <= most;
    for (const std::uint64_t& each : words.subspan(1)) good &= const_words::load(&each) == 0;
    if (good) return {};
    return failure{error_code::corrupt,
                   "the first words of a " + std::string(kind) + " are none that it writes"};
}

} // namespace bouncer::detail
