// Which memory a query reads and an add writes: counted on sample hashes where a layout names its words, told by its
// parameters where not.
#pragma once

#include <bouncer/detail/bits.h>
#include <bouncer/math.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace bouncer::planner {

struct lines_read {
    double absent = 0;
    double present = 0;
    bool adjacent = false;
    double written = 0; // words
};

// Mean number of probes of up to k until the first that fails: each passes with probability `pass`.
constexpr double probes_until_no(double pass, std::uint32_t k) noexcept {
    double sum = 0;
    double reached = 1;
    for (std::uint32_t i = 0; i < k; ++i, reached *= pass) sum += reached;
    return sum;
}

// A small set of numbers that counts its members; what exceeds the room is not counted.
class few {
  public:
    void put(std::uint64_t value) noexcept {
        const auto end = values_.begin() + static_cast<std::ptrdiff_t>(count_);
        if (count_ < values_.size() && std::find(values_.begin(), end, value) == end)
            values_[count_++] = value;
    }
    std::size_t size() const noexcept { return count_; }
    bool neighbours() const noexcept {
        if (count_ == 0) return true;
        const auto end = values_.begin() + static_cast<std::ptrdiff_t>(count_);
        const auto [least, most] = std::minmax_element(values_.begin(), end);
        return *most - *least < count_;
    }

  private:
    std::array<std::uint64_t, 64> values_{};
    std::size_t count_ = 0;
};

// each_line_of(hash, visit) calls visit(word) for every line that a query may read.
template <class Lines>
lines_read sampled_lines(Lines each_line_of) {
    constexpr std::uint64_t samples = 256;
    lines_read out{.adjacent = true};
    for (std::uint64_t i = 1; i <= samples; ++i) {
        few lines;
        each_line_of(detail::mix64(i), [&](std::uint64_t word) { lines.put(word / 8); });
        out.present += static_cast<double>(lines.size()) / samples;
        out.adjacent = out.adjacent && lines.neighbours();
    }
    out.absent = out.present;
    return out;
}

template <class Layout>
lines_read lines_of(const Layout& layout, std::uint64_t keys) {
    constexpr std::uint64_t samples = 256;
    if constexpr (detail::bit_layout<Layout>) {
        lines_read out =
            sampled_lines([&](std::uint64_t hash, auto visit) { detail::each_line(layout, hash, visit); });
        for (std::uint64_t i = 1; i <= samples; ++i) {
            few words;
            detail::each_word(layout, detail::mix64(i),
                              [&](std::uint64_t word, std::uint64_t) { words.put(word); });
            out.written += static_cast<double>(words.size()) / samples;
        }
        if (Layout::usual_form::block_words == 0) {
            const math::geometry shape = layout.shape();
            const double fill = math::expected_fill(shape, static_cast<double>(keys));
            out.absent = std::min(out.present, probes_until_no(fill, static_cast<std::uint32_t>(shape.k())));
        }
        return out;
    } else if constexpr (requires { layout.where().every_line(0, [](std::uint64_t) {}); }) {
        const auto cells = layout.where();
        lines_read out =
            sampled_lines([&](std::uint64_t hash, auto visit) { cells.every_line(hash, visit); });
        const auto k = static_cast<std::uint32_t>(cells.shape().k());
        out.written = k;
        if constexpr (requires { layout.params().decrements; }) {
            const auto& chosen = layout.params();
            const std::uint32_t max = (1u << chosen.cell_bits) - 1;
            const double fill = 1 - math::stable_zero_fraction(chosen.cells, k, max, chosen.decrements);
            out.absent = std::min(out.present, probes_until_no(fill, k));
            out.written += 1 + static_cast<double>(chosen.decrements) * chosen.cell_bits / 64;
        } else if (!cells.in_lines()) {
            const double fill = math::expected_fill(cells.shape(), static_cast<double>(keys));
            out.absent = std::min(out.present, probes_until_no(fill, k));
        }
        return out;
    } else {
        // Static kinds. The directory is a line more, which stays in the cache.
        const auto& chosen = layout.params();
        if constexpr (requires { chosen.arity; }) {
            return {static_cast<double>(chosen.arity), static_cast<double>(chosen.arity), false, 0};
        } else if constexpr (requires { chosen.columns; }) {
            const double lines =
                std::max(1.0, chosen.columns / 4.0); // two blocks of `columns` words, side by side
            return {lines, lines, true, 0};
        } else {
            return {3, 3, false, 0}; // xor_filter, and what has no better word for it
        }
    }
}

} // namespace bouncer::planner
