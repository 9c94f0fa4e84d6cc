// stable_bloom: a filter for endless streams, which forgets old keys at random to make room for new ones, so that its
// false-positive rate stays where it is for ever. docs/filters/stable_bloom.md
//
// Cells of 1, 2 or 4 bits. An add counts a run of cells down and sets its own k cells to their maximum.
//
// Thread safety, by words: plain_words [exclusive] to change; with atomic_words every method without another tag is
// [any-thread] and lock-free. Invariants of the atomic form:
//   1. A cell changes only by a read-modify-write of its whole word: no set and no countdown of a neighbour is lost.
//   2. Every add has a number of its own, and the number alone says which run it counts down. So any interleaving of n
//      adds counts down the same n runs and sets the same cells as one thread would; only the order may differ, where
//      two adds meet in a cell, and with it single cells at the end, not their statistics.
//   3. A query that happens-after an add misses its key only if other adds have counted one of its cells down to zero.
//   4. The counter of adds is exact when they are done; while they run it counts those that have begun.
#pragma once

#include <bouncer/detail/cell_filter.h>
#include <bouncer/detail/fields.h>
#include <bouncer/stream_math.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bouncer {

// Explicit parameters: `cells` in whole cache lines (a multiple of 512 / cell_bits), k from 1 to 32, cell_bits 1, 2 or
// 4, and how many neighbouring cells an add counts down, at least 1 and below `cells`.
struct stable_bloom_parameters {
    std::uint64_t cells = 0;
    std::uint32_t k = 0;
    std::uint32_t cell_bits = 2;
    std::uint32_t decrements = 0;
    friend bool operator==(const stable_bloom_parameters&, const stable_bloom_parameters&) = default;
};

// Where a stable filter settles, whatever the stream.
struct stable_rates {
    double zero_fraction; // of the cells
    double fpr;
};

template <readable_words Words>
class basic_stable_bloom;

namespace detail {

class stable_layout : public cell_layout,
                      public fields<stable_bloom_parameters, "cells", "k", "cell_bits", "decrements"> {
  public:
    template <class Words>
    using filter = basic_stable_bloom<Words>;
    static constexpr std::uint16_t kind_id = 7;
    static constexpr std::uint16_t layout_version = 2;
    static constexpr std::string_view kind_name = "stable_bloom";
    // Word 0 counts the adds; the rest is zero. Two lines, because processors fetch lines in pairs: no cell shares a
    // pair with a word that every add writes.
    static constexpr std::uint64_t control_words = 16;
    // An add stays short, whatever a file asks for; a rate of 10^-6 needs some hundreds.
    static constexpr std::uint32_t decrements_most = 65'536;
    // How much of what was added `goal.keys` adds ago solve() lets it forget.
    static constexpr double forgotten_most = 0.1;

    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);

    explicit constexpr stable_layout(const parameters& chosen) noexcept : params_(chosen) {}
    const parameters& params() const noexcept { return params_; }
    constexpr cells where() const noexcept {
        return {params_.cells, params_.k, params_.cell_bits, cell_form::flat};
    }
    std::uint64_t word_count() const noexcept { return control_words + where().word_count(); }
    // A stored filter may begin with any number of adds.
    static result<void> check_words(const std::uint64_t* words) {
        return check_control_words(kind_name, {words, control_words}, ~std::uint64_t{0});
    }

    constexpr std::uint32_t max() const noexcept { return (1u << params_.cell_bits) - 1; }
    // The lowest bit of every cell of a word.
    constexpr std::uint64_t lowest_bits() const noexcept { return ~std::uint64_t{0} / max(); }

    // visit(word, lowest bits of the cells in it) for the run of cells that add number n counts down: `decrements` of
    // them from a random start, on from the first after the last. A run and not single cells, because one access to
    // memory then serves them all.
    template <class Visit>
    constexpr void every_countdown(std::uint64_t n, Visit visit) const noexcept {
        const std::uint64_t mixed = mix64(n * position_multipliers[0] + position_multipliers[1]);
        const std::uint32_t bits = params_.cell_bits;
        const std::uint64_t per_word = 64 / bits;
        std::uint64_t cell = fast_range(mixed, params_.cells);
        for (std::uint64_t left = params_.decrements; left != 0;) {
            const std::uint64_t first = cell % per_word;
            const std::uint64_t here = std::min(left, per_word - first);
            visit(cell / per_word, lowest_bits() >> (64 - here * bits) << (first * bits));
            left -= here;
            cell += here;
            if (cell == params_.cells) cell = 0;
        }
    }
    // A word with those of its cells that are above zero counted down.
    constexpr std::uint64_t counted_down(std::uint64_t word, std::uint64_t lowest) const noexcept {
        std::uint64_t above_zero = word;
        for (std::uint32_t half = params_.cell_bits / 2; half != 0; half /= 2)
            above_zero |= above_zero >> half;
        return word - (above_zero & lowest);
    }

  private:
    parameters params_;
};

} // namespace detail

template <readable_words Words>
class basic_stable_bloom : public detail::cell_filter<detail::stable_layout, Words> {
    using base = detail::cell_filter<detail::stable_layout, Words>;

  public:
    using base::base;
    using typename base::parameters;
    static constexpr bool no_false_negatives = false;

    // ---- one key -----------------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Counts a run of cells down, then sets those of the key. Returns whether one of
    // them was zero before all this, so that the key was not there, or had been forgotten. Changes the filter also when
    // the key is there.
    bool add(std::uint64_t hash) noexcept requires(Words::writable) {
        const bool was_there = may_contain(hash);
        count_down(Words::fetch_add(this->mutable_data(), 1));
        this->where().every_cell(hash, [&](std::uint64_t word, std::uint32_t shift) {
            const std::uint64_t full = this->cell_mask() << shift; // the maximum has all bits set
            const std::uint64_t i = control_words + word;
            if ((Words::load(this->data() + i) & full) != full)
                Words::set_bits(this->mutable_data() + i, full);
            return true;
        });
        return !was_there;
    }

    // [any-thread] False: not there, or forgotten. True: probably there.
    bool may_contain(std::uint64_t hash) const noexcept {
        return this->where().every_cell(
            hash, [&](std::uint64_t word, std::uint32_t shift) { return this->cell(word, shift) != 0; });
    }
    // [any-thread] answers[i] = may_contain(hashes[i]); returns how many are true. Works on the shorter of the two.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        const std::size_t count = std::min(hashes.size(), answers.size());
        return this->ask_each(hashes.first(count), answers);
    }

    using base::test_and_add;
    // [any-thread] (plain: [exclusive]) Adds, and returns whether the key seemed to be there before: what removes
    // duplicates from a stream. Of threads that add the same new key at once at least one is told "new", unless other
    // keys' cells covered it.
    bool test_and_add(std::uint64_t hash) noexcept requires(Words::writable) { return !add(hash); }

    // ---- the whole filter --------------------------------------------------------------------------------------------

    // ---- what it knows of itself -------------------------------------------------------------------------------------
    //
    // There is no approximate_size(): at the stable point the cells look the same whatever was added, so they do not say
    // how many keys there were. adds() does, repeated keys included.

    // [any-thread] How many adds there were since it was made or cleared.
    std::uint64_t adds() const noexcept { return Words::load(this->data()); }
    // [any-thread] The fraction of cells above zero. O(m).
    double fill_ratio() const noexcept { return detail::fill_of(this->where(), source()); }
    // [any-thread] The false-positive rate now, from the cells as they are. O(m).
    double expected_fpr() const noexcept { return detail::answer_rate(this->where(), source()); }

    // [immutable] The expected rate after so many adds of distinct keys to an empty filter: rises to the stable point.
    double fpr_at(std::uint64_t adds) const {
        const parameters& with = this->params();
        return math::stable_fpr_after(static_cast<double>(adds), with.cells, with.k, this->layout().max(),
                                      with.decrements);
    }
    // [immutable] Where it settles.
    stable_rates stable_point() const {
        const parameters& with = this->params();
        const std::uint32_t max = this->layout().max();
        return {math::stable_zero_fraction(with.cells, with.k, max, with.decrements),
                math::stable_fpr(with.cells, with.k, max, with.decrements)};
    }
    // [immutable] The probability that a key is forgotten once `distance` other keys have been added after it.
    double false_negative_rate(std::uint64_t distance) const {
        const parameters& with = this->params();
        return math::stable_false_negative_rate(static_cast<double>(distance), with.cells, with.k,
                                                this->layout().max(), with.decrements);
    }

  private:
    static constexpr std::uint64_t control_words = detail::stable_layout::control_words;

    detail::cell_source source() const noexcept { return {this->cell_words(), this->cell_mask()}; }

    void count_down(std::uint64_t n) noexcept {
        const detail::stable_layout layout = this->layout(); // a copy: no write below can change it
        layout.every_countdown(n, [&](std::uint64_t word, std::uint64_t lowest) {
            this->change_word(control_words + word,
                              [&](std::uint64_t old) { return layout.counted_down(old, lowest); });
        });
    }
};

using plain_stable_bloom = basic_stable_bloom<plain_words>;
using atomic_stable_bloom = basic_stable_bloom<atomic_words>;
using stable_bloom_view = basic_stable_bloom<const_words>;

} // namespace bouncer
