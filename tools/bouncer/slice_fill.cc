#include "slice_fill.h"

#include <bouncer/math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

namespace bouncer::tool {

namespace {

// Bits of keys: those of a word as they are, or one for each cell that is not zero under the mask.
struct bit_words {
    std::span<const std::uint64_t> words;
    std::uint32_t cell_bits = 1;
    std::uint64_t cell_mask = 1;

    std::uint64_t set_in(std::uint64_t word) const noexcept {
        if (cell_bits == 1) return static_cast<std::uint64_t>(std::popcount(word));
        std::uint64_t out = 0;
        for (std::uint32_t shift = 0; shift < 64; shift += cell_bits) out += (word >> shift & cell_mask) != 0;
        return out;
    }
};

std::optional<slice_fill> measure(const math::geometry& shape, const bit_words& bits, double keys) {
    constexpr std::uint64_t most_slices = 64;
    // A slice is whole words and, where there are blocks, whole blocks.
    const std::uint64_t unit_words = std::max<std::uint64_t>(
        1, shape.blocks > 1 ? shape.total_bits() / shape.blocks * bits.cell_bits / 64 : 1);
    const std::uint64_t units = bits.words.size() / unit_words;
    const std::uint64_t slices = std::min(most_slices, units);
    if (slices < 2 || !(keys >= 1) || !std::isfinite(keys)) return std::nullopt;
    const std::uint64_t slice_units = units / slices; // what is left over at the end is not looked at
    const std::uint64_t slice_words = slice_units * unit_words;
    const auto slice_bits = static_cast<double>(slice_words * 64 / bits.cell_bits);

    slice_fill out{.slices = static_cast<std::uint32_t>(slices)};
    std::vector<double> fills;
    for (std::uint64_t s = 0; s < slices; ++s) {
        std::uint64_t set = 0;
        for (const std::uint64_t& word : bits.words.subspan(s * slice_words, slice_words))
            set += bits.set_in(__atomic_load_n(&word, __ATOMIC_RELAXED));
        fills.push_back(static_cast<double>(set) / slice_bits);
        out.expected += fills.back() / static_cast<double>(slices);
    }
    // A slice is a filter of its own with a binomial number of keys; where there is but one block, of single throws.
    const double share = static_cast<double>(slice_units) / static_cast<double>(units);
    math::geometry part{.sector_bits = slice_words * 64 / bits.cell_bits};
    double in_slice = keys * static_cast<double>(shape.k()) * share;
    if (shape.blocks > 1) {
        part = shape;
        part.blocks = slice_units;
        in_slice = keys * share;
    }
    if (in_slice < 30) return std::nullopt;
    const double step = std::max(1.0, std::sqrt(in_slice));
    const double slope =
        (math::expected_fill(part, in_slice + step) - math::expected_fill(part, in_slice - step)) /
        (2 * step);
    const double variance = math::fill_variance(part, in_slice) + slope * slope * in_slice * (1 - share);
    if (!(variance > 0)) return std::nullopt;
    out.sigma = std::sqrt(variance);
    out.lowest = *std::min_element(fills.begin(), fills.end());
    out.highest = *std::max_element(fills.begin(), fills.end());
    out.worst_sigmas = std::max(out.highest - out.expected, out.expected - out.lowest) / out.sigma;
    return out;
}

} // namespace

std::optional<slice_fill> measure_slices(const any_filter& filter) {
    const auto keys = filter.approximate_size();
    if (!keys) return std::nullopt;
    return filter.visit([&]<class F>(const F& f) -> std::optional<slice_fill> {
        if constexpr (requires { f.shape(); } && F::kind_id != atomic_stable_bloom::kind_id) {
            std::span words(f.data(), f.size_bytes() / sizeof(std::uint64_t));
            if constexpr (F::kind_id == atomic_counting_bloom::kind_id) {
                const std::uint32_t bits = f.params().counter_bits;
                return measure(f.shape(), {words, bits, (std::uint64_t{1} << bits) - 1}, *keys);
            } else if constexpr (F::kind_id == atomic_windowed_bloom::kind_id) {
                // The live columns together are one filter of all adds; behind the control words.
                const detail::windowed_layout layout(f.params());
                words = words.subspan(detail::windowed_layout::control_words);
                return measure(f.shape(), {words, layout.where().cell_bits(), layout.live_columns(f.epoch())},
                               *keys);
            } else {
                return measure(f.shape(), {words}, *keys);
            }
        } else {
            return std::nullopt;
        }
    });
}

} // namespace bouncer::tool
