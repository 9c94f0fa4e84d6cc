// cell_filter<Layout, Words>: what kinds of cells share beyond filter_base: how a batch is prefetched, and how one cell is read
// and changed. What a cell means is the kind's own.
//
// A Layout has, besides what filter_base asks of it: solve, where() (its cells), and control_words: words before the cells, a
// multiple of 16, so that pairs of lines stay aligned.
#pragma once

#include <bouncer/detail/cells.h>
#include <bouncer/detail/pipeline.h>
#include <bouncer/filter_base.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bouncer::detail {

// What the layouts of cells have in common.
struct cell_layout : takes_any_hash, starts_empty {};

template <class Layout, readable_words Words>
class cell_filter : public filter_base<Layout, Words> {
    using base = filter_base<Layout, Words>;

  public:
    using base::base;
    using base::data;
    static constexpr bool union_is_or = false;
    static constexpr concurrency_level concurrency =
        Words::concurrent ? concurrency_level::lock_free : concurrency_level::exclusive;

    // [immutable] A cell counts as a bit.
    math::geometry shape() const noexcept { return where().shape(); }

    // ---- batches: prefetched; each is as the calls one by one, in order ----------------------------------------------

    // [any-thread] (plain: [exclusive]) Adds all; returns how many saw a cell that was zero.
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept requires(Words::writable) {
        std::size_t changed = 0;
        pipelined(hashes, [&](std::size_t i) { changed += self().add(hashes[i]); });
        return changed;
    }
    // [any-thread] (plain: [exclusive]) answers[i] = test_and_add(hashes[i]); returns how many were new (false).
    std::size_t test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) noexcept
        requires(Words::writable) {
        const std::size_t count = std::min(hashes.size(), answers.size());
        std::size_t added = 0;
        pipelined(hashes.first(count), [&](std::size_t i) {
            answers[i] = self().test_and_add(hashes[i]);
            added += !answers[i];
        });
        return added;
    }

  protected:
    using base::mutable_data;

    cells where() const noexcept { return this->layout().where(); }
    const std::uint64_t* cell_words() const noexcept { return data() + Layout::control_words; }

    // One cell, `control_words` further on than `cells` counts.
    std::uint64_t cell(std::uint64_t word, std::uint32_t shift) const noexcept {
        return Words::load(cell_words() + word) >> shift & cell_mask();
    }
    std::uint64_t cell_mask() const noexcept { return ~std::uint64_t{0} >> (64 - where().cell_bits()); }

    template <class Step>
    void pipelined(std::span<const std::uint64_t> hashes, Step step) const noexcept {
        const cells at = where();
        pipeline(
            hashes.size(), 16,
            [&](std::size_t i) {
                at.every_line(hashes[i],
                              [&](std::uint64_t word) { __builtin_prefetch(cell_words() + word); });
            },
            step);
    }

    // A batch of queries where there is no kernel.
    std::size_t ask_each(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        std::size_t found = 0;
        pipelined(hashes, [&](std::size_t i) {
            answers[i] = static_cast<const filter&>(*this).may_contain(hashes[i]);
            found += answers[i];
        });
        return found;
    }

    // change(old word) -> new word of word i, control words counted too, until nobody came between; false, and nothing
    // done, where they are equal.
    template <class Change>
    bool change_word(std::uint64_t i, Change change) noexcept {
        std::uint64_t* const at = mutable_data() + i;
        std::uint64_t old = Words::load(at);
        while (true) {
            const std::uint64_t wanted = change(old);
            if (wanted == old) return false;
            if (Words::compare_exchange(at, old, wanted)) return true;
        }
    }

  private:
    using filter = typename Layout::template filter<Words>;
    filter& self() noexcept { return static_cast<filter&>(*this); }
};

} // namespace bouncer::detail
