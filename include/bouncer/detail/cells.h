// Where the cells of a hash lie, for kinds whose state is small numbers and not bits: counters, ages, generations.
#pragma once

#include <bouncer/detail/cell_ops.h>
#include <bouncer/detail/forms.h>
#include <bouncer/detail/layout.h>
#include <bouncer/math.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bouncer {

// How a key's cells are spread. The numbers are stored in files.
enum class cell_form : std::uint8_t {
    two_lines = 0, // half of them in each of two adjacent cache lines: one access to memory, or nearly
    flat = 1,      // anywhere: the fewest bytes, k accesses
};

namespace detail {

// `units` blocks of two lines, or cells in all where flat.
class cells {
  public:
    static constexpr std::uint32_t k_most = 32;

    constexpr cells(std::uint64_t units, std::uint32_t k, std::uint32_t cell_bits, cell_form form) noexcept
        : units_(units), k_(k), cell_bits_(cell_bits), form_(form) {}

    // [immutable]
    constexpr std::uint64_t units() const noexcept { return units_; }
    constexpr std::uint32_t cell_bits() const noexcept { return cell_bits_; }
    constexpr bool in_lines() const noexcept { return form_ == cell_form::two_lines; }
    // (Of a width that check() would refuse: 1.)
    constexpr std::uint32_t cells_per_word() const noexcept {
        return cell_bits_ == 0 || cell_bits_ > 64 ? 1 : 64 / cell_bits_;
    }
    constexpr std::uint64_t word_count() const noexcept {
        return in_lines() ? 16 * units_ : units_ / cells_per_word();
    }
    constexpr std::uint64_t cell_count() const noexcept { return word_count() * cells_per_word(); }
    // What the units are a multiple of. Flat: whole lines, so that scans and files need no special end; and at least 64
    // cells, whole words of a filter that has a bit for each.
    constexpr std::uint64_t granule() const noexcept {
        return in_lines() ? 1 : std::max<std::uint64_t>(64, 8 * cells_per_word());
    }
    // A cell counts as a bit: the same keys have set as many bits of this shape as there are cells that were touched.
    constexpr math::geometry shape() const noexcept {
        if (!in_lines()) return {.sector_bits = units_, .bits_per_group = k_};
        return {.blocks = units_, .groups = 2, .sector_bits = 8 * cells_per_word(), .bits_per_group = k_ / 2};
    }
    // In lines: what batches of queries are asked with. Precondition: cells of 4 or 8 bits, as check() demands of the kinds.
    extent at() const noexcept { return {units_, k_}; }
    const cell_ops& ops() const noexcept {
        return cell_bits_ == 4 ? active_cell_ops().halves : active_cell_ops().bytes;
    }

    // visit(word, shift of the cell's lowest bit) for each of the k cells, some perhaps twice, until it returns false;
    // returns whether it never did.
    template <class Visit>
    constexpr bool every_cell(std::uint64_t hash, Visit visit) const noexcept {
        if (!in_lines()) {
            const auto per_word = cells_per_word();
            spread_positions positions(hash);
            for (std::uint32_t i = 0; i < k_; ++i) {
                const std::uint64_t cell = fast_range(positions.next(), units_);
                if (!visit(cell / per_word, static_cast<std::uint32_t>(cell % per_word) * cell_bits_))
                    return false;
            }
            return true;
        }
        const std::uint64_t first = 16 * fast_range(hash, units_);
        for (std::uint32_t line = 0; line < 2; ++line) {
            const std::uint64_t positions = position_word(hash, line);
            for (std::uint32_t i = 0; i < k_ / 2; ++i) {
                const cell_place at = cell_of(positions, i, cell_bits_);
                if (!visit(first + 8 * line + at.word, at.shift)) return false;
            }
        }
        return true;
    }

    struct place {
        std::uint64_t word;
        std::uint32_t shift;
        friend constexpr bool operator==(const place&, const place&) = default;
    };
    // The same, each cell once.
    class distinct {
      public:
        constexpr distinct(const cells& of, std::uint64_t hash) noexcept {
            of.every_cell(hash, [&](std::uint64_t word, std::uint32_t shift) {
                const place here{word, shift};
                bool seen = false;
                for (std::uint32_t i = 0; i < count_; ++i) seen |= places_[i] == here;
                if (!seen) places_[count_++] = here;
                return true;
            });
        }
        constexpr const place* begin() const noexcept { return places_.data(); }
        constexpr const place* end() const noexcept { return places_.data() + count_; }

      private:
        std::array<place, k_most> places_;
        std::uint32_t count_ = 0;
    };

    // visit(index of a word in the line) for every line that a query may read.
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        if (in_lines()) {
            const std::uint64_t first = 16 * fast_range(hash, units_);
            visit(first);
            visit(first + 8);
        } else {
            every_cell(hash, [&](std::uint64_t word, std::uint32_t) { return visit(word), true; });
        }
    }

    // Whether the parameters make sense; cell_bits is the kind's business.
    result<void> check(const char* unit_name) const;
    std::string describe() const;

  private:
    std::uint64_t units_;
    std::uint32_t k_;
    std::uint32_t cell_bits_;
    cell_form form_;
};

// [any-thread] The smallest cells of this form and width that keep `rate` with `keys` keys; or the best in size_bytes.
// `wanted` has been adapted by the kind: its keys and rate are those of one layer of cells.
result<cells> solve_cells(const goal& wanted, std::uint32_t cell_bits, cell_form form);

// [any-thread] The words before the cells are what the kind writes there: at most `most` in the first, zero in the others
// (corrupt).
result<void> check_control_words(std::string_view kind, std::span<const std::uint64_t> words,
                                 std::uint64_t most);

// What needs all cells. Words are read by relaxed loads, so that a scan may run while others write. A cell counts when
// one of the bits of `mask` is set in it.
struct cell_source {
    const std::uint64_t* words;
    std::uint64_t mask;                   // of one cell
    const std::uint64_t* other = nullptr; // null, or the cells of another: those of either count
};
// [any-thread] The fraction that counts; and the probability that all cells of a random hash do. O(m).
double fill_of(const cells& where, const cell_source& from) noexcept;
double answer_rate(const cells& where, const cell_source& from) noexcept;

} // namespace detail

} // namespace bouncer
