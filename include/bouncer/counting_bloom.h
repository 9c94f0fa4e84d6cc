// counting_bloom: counters where a Bloom filter has bits, so that keys can be removed. docs/filters/counting_bloom.md
//
// Thread safety, by words: plain_words [exclusive] to change; with atomic_words every method without another tag is
// [any-thread] and lock-free, with counters of 32 bits wait-free to add and remove. Invariants of the atomic form:
//   1. A counter changes only by a read-modify-write of its whole word, so no increment and no decrement is ever lost:
//      each counter is in the end what some sequential order would leave. (Of its own: where counters reach their limits,
//      two of them may tell different orders.)
//   2. A counter that has reached its limit is sticky: it is not counted down again (of 32 bits: but by removes that had
//      looked before), because nobody knows how far it would have counted. A sticky counter can cause false positives,
//      never a false negative.
//   3. While each remove has an earlier add of its own (the precondition), every counter of a key that is there is at
//      least 1 in every value its word takes, so a query that happens-after the add finds it, whatever races it.
//   4. A remove of a key that was never added breaks 3 for keys that share its counters: they may become false
//      negatives, at most k at once. Nothing else happens: no counter goes below zero by one such remove; of 32 bits two
//      at once may both see 1, which makes the counter sticky and takes one from its neighbour in the word.
#pragma once

#include <bouncer/bloom.h>
#include <bouncer/detail/cell_filter.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/unions.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace bouncer {

// Explicit parameters. Counters of 4 bits lie in two lines, of 8 in two lines or flat, of 16 and 32 flat.
struct counting_bloom_parameters {
    std::uint64_t units = 0; // blocks of two lines; flat: counters
    std::uint32_t k = 6;
    std::uint32_t counter_bits = 4;
    cell_form form = cell_form::two_lines;
    friend bool operator==(const counting_bloom_parameters&, const counting_bloom_parameters&) = default;
};

template <readable_words Words>
class basic_counting_bloom;

namespace detail {

class counting_layout : public cell_layout,
                        public fields<counting_bloom_parameters, "units", "k", "counter_bits", "form"> {
  public:
    template <class Words>
    using filter = basic_counting_bloom<Words>;
    static constexpr std::uint16_t kind_id = 6;
    static constexpr std::uint16_t layout_version = 2;
    static constexpr std::string_view kind_name = "counting_bloom";
    static constexpr std::uint64_t control_words = 0;

    static result<parameters> solve(const goal& wanted, std::uint32_t counter_bits = 4,
                                    cell_form form = cell_form::two_lines);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);

    explicit constexpr counting_layout(const parameters& chosen) noexcept : params_(chosen) {}
    const parameters& params() const noexcept { return params_; }
    constexpr cells where() const noexcept {
        return {params_.units, params_.k, params_.counter_bits, params_.form};
    }
    std::uint64_t word_count() const noexcept { return where().word_count(); }

    // Whether a bloom has its bits where the counters are (unsupported).
    result<void> check_bloom() const;
    // From here on a counter is sticky. For 32 bits: above it nothing counts down, but adds go on for another 2^30, so
    // that a remove which looked before cannot come below what adds have left out.
    constexpr std::uint64_t sticky() const noexcept {
        return params_.counter_bits == 32 ? std::uint64_t{1} << 31
                                          : (std::uint64_t{1} << params_.counter_bits) - 1;
    }
    constexpr std::uint64_t most() const noexcept {
        return params_.counter_bits == 32 ? std::uint64_t{3} << 30
                                          : (std::uint64_t{1} << params_.counter_bits) - 1;
    }

  private:
    parameters params_;
};

} // namespace detail

template <readable_words Words>
class basic_counting_bloom : public detail::cell_filter<detail::counting_layout, Words> {
    using base = detail::cell_filter<detail::counting_layout, Words>;

  public:
    using base::base;
    using typename base::parameters;
    static constexpr bool no_false_negatives = true;
    static constexpr bool rate_is_exact = true;
    // An add of a key that is there already changes it still.
    static constexpr bool counts_adds = true;

    using base::solve;
    // [any-thread] The same with counters of another width.
    static result<parameters> solve(const goal& wanted, std::uint32_t counter_bits, cell_form form) {
        return detail::guarded([&] { return detail::counting_layout::solve(wanted, counter_bits, form); });
    }

    // ---- one key -----------------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Counts the key up by one. Returns whether one of its counters was zero, so that
    // the key was surely not there.
    bool add(std::uint64_t hash) noexcept requires(Words::writable) {
        bool was_zero = false;
        for (const auto& at : detail::cells::distinct(this->where(), hash)) was_zero |= count_up(at) == 0;
        return was_zero;
    }

    // [any-thread] False: surely not there. True: probably.
    bool may_contain(std::uint64_t hash) const noexcept {
        return this->where().every_cell(
            hash, [&](std::uint64_t word, std::uint32_t shift) { return this->cell(word, shift) != 0; });
    }
    // [any-thread] answers[i] = may_contain(hashes[i]); returns how many are true. Works on the shorter of the two.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        const std::size_t count = std::min(hashes.size(), answers.size());
        const detail::cells where = this->where();
        if (Words::in_memory && where.in_lines())
            return where.ops().nonzero_each(this->cell_words(), where.at(), hashes.data(), count,
                                            answers.data());
        return this->ask_each(hashes.first(count), answers);
    }

    using base::test_and_add;
    // [any-thread] (plain: [exclusive]) Adds, and returns whether the key seemed to be there before. Of threads that add
    // the same new key at once at least one is told "new", unless other keys' counters covered it.
    bool test_and_add(std::uint64_t hash) noexcept requires(Words::writable) { return !add(hash); }

    // [any-thread] (plain: [exclusive]) Counts the key down by one. Precondition: an add of this key, its own, happened
    // before; see invariant 4 for what a violation costs. Counters that are zero or sticky stay.
    void remove(std::uint64_t hash) noexcept requires(Words::writable) {
        for (const auto& at : detail::cells::distinct(this->where(), hash)) count_down(at);
    }
    // [any-thread] (plain: [exclusive]) remove, unless the key is surely absent: then false, and nothing changes. Exact
    // while no other remove races it: two that do may both see counters of 1.
    bool try_remove(std::uint64_t hash) noexcept requires(Words::writable) {
        if (!may_contain(hash)) return false;
        remove(hash);
        return true;
    }

    // [any-thread] How often the key was added and not removed: never too few, unless a counter is sticky, when it is
    // that counter's limit; too many when every counter is shared, as rare as a false positive.
    std::uint64_t count(std::uint64_t hash) const noexcept {
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        this->where().every_cell(hash, [&](std::uint64_t word, std::uint32_t shift) {
            least = std::min(least, this->cell(word, shift));
            return least != 0;
        });
        return least;
    }

    // ---- the whole filter --------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Adds the counters, each at most to its limit: exactly as if every add that
    // `other` counts had been made here, unless a counter becomes sticky. Merging twice counts twice. Returns the
    // expected false-positive rate after. Refuses other parameters or another hash, and changes nothing then. O(m).
    template <class OtherWords>
    result<double> merge(const basic_counting_bloom<OtherWords>& other) requires(Words::writable) {
        if (auto ok = this->check_like(other); !ok) return ok.error();
        add_counters(other);
        return expected_fpr();
    }
    // [any-thread] (plain: [exclusive]) merge, unless the union's expected rate would exceed `rate` (full). O(m).
    template <class OtherWords>
    result<double> merge_if_within(const basic_counting_bloom<OtherWords>& other,
                                   double rate) requires(Words::writable) {
        if (auto ok = detail::check_union_limit(rate); !ok) return ok.error();
        if (auto ok = this->check_like(other); !ok) return ok.error();
        const double after =
            detail::answer_rate(this->where(), {this->cell_words(), this->cell_mask(), other.data()});
        if (auto ok = detail::check_union_rate(after, rate); !ok) return ok.error();
        add_counters(other);
        return after;
    }

    // [any-thread] The keys that are there now as a bloom of one bit per counter, exactly as if they had been added to it.
    // Of the flat form only: no other kind has its bits where two lines have their counters (unsupported). O(m).
    template <class BloomWords = typename base::owned_words>
    result<basic_bloom<BloomWords>> to_bloom(const memory_options& memory = {}) const {
        if (auto ok = detail::guarded([&] { return this->layout().check_bloom(); }); !ok) return ok.error();
        auto made = basic_bloom<BloomWords>::create(bloom_parameters{this->params().units, this->params().k},
                                                    filter_options{.hash = this->hash(), .memory = memory});
        if (made) set_bits(detail::storage_access::segments(*made).front().data());
        return made;
    }

    // ---- what it knows of itself -------------------------------------------------------------------------------------

    // [any-thread] The fraction of counters above zero. O(m).
    double fill_ratio() const noexcept { return detail::fill_of(this->where(), source()); }
    // [any-thread] How many distinct keys are there, estimated from the fill. Infinite when no counter is zero. O(m).
    double approximate_size() const noexcept { return detail::keys_behind(this->shape(), fill_ratio()); }
    // [any-thread] The false-positive rate now, from the counters as they are. O(m).
    double expected_fpr() const noexcept { return detail::answer_rate(this->where(), source()); }
    // [any-thread] How many counters are sticky. O(m).
    std::uint64_t sticky_counters() const noexcept {
        const std::uint32_t bits = this->params().counter_bits;
        std::uint64_t out = 0;
        for (std::uint64_t i = 0; i < this->where().word_count(); ++i)
            for (std::uint32_t shift = 0; shift < 64; shift += bits)
                out += this->cell(i, shift) >= this->layout().sticky();
        return out;
    }
    // [immutable] The exact expected rate with `keys` keys; and the most keys at which it is within `rate`.
    double fpr_at(std::uint64_t keys) const { return math::fpr(this->shape(), static_cast<double>(keys)); }
    std::uint64_t capacity(double rate) const { return math::capacity(this->shape(), rate); }
    // [any-thread] Holds more keys than the rate allows: the rate is above it, and the fill beyond what chance does to
    // capacity(rate) keys (math::fill_limit). So a filter is not overfull with just the keys it was made for, even if chance
    // put its own rate a little above the promise. O(m).
    bool overfull(double rate) const {
        return fill_ratio() > math::fill_limit(this->shape(), static_cast<double>(capacity(rate))) &&
               expected_fpr() > rate;
    }

  private:
    using place = detail::cells::place;

    detail::cell_source source() const noexcept { return {this->cell_words(), this->cell_mask()}; }

    // The counter before.
    std::uint64_t count_up(const place& at) noexcept {
        if (this->params().counter_bits == 32) {
            const std::uint64_t seen = this->cell(at.word, at.shift);
            if (seen >= this->layout().most()) return seen;
            return Words::fetch_add(this->mutable_data() + at.word, std::uint64_t{1} << at.shift) >>
                       at.shift &
                   this->cell_mask();
        }
        std::uint64_t before = 0;
        this->change_word(at.word, [&](std::uint64_t word) {
            before = word >> at.shift & this->cell_mask();
            return before == this->layout().most() ? word : word + (std::uint64_t{1} << at.shift);
        });
        return before;
    }
    void count_down(const place& at) noexcept {
        const auto stays = [&](std::uint64_t counter) {
            return counter == 0 || counter >= this->layout().sticky();
        };
        if (this->params().counter_bits == 32) {
            if (!stays(this->cell(at.word, at.shift)))
                Words::fetch_add(this->mutable_data() + at.word, 0 - (std::uint64_t{1} << at.shift));
            return;
        }
        this->change_word(at.word, [&](std::uint64_t word) {
            return stays(word >> at.shift & this->cell_mask()) ? word : word - (std::uint64_t{1} << at.shift);
        });
    }

    template <class OtherWords>
    void add_counters(const basic_counting_bloom<OtherWords>& other) noexcept {
        const std::uint32_t bits = this->params().counter_bits;
        for (std::uint64_t i = 0; i < this->where().word_count(); ++i) {
            const std::uint64_t theirs = OtherWords::load(other.data() + i);
            if (theirs == 0) continue;
            this->change_word(i, [&](std::uint64_t mine) {
                std::uint64_t sums = 0;
                for (std::uint32_t shift = 0; shift < 64; shift += bits) {
                    const std::uint64_t a = mine >> shift & this->cell_mask();
                    const std::uint64_t b = theirs >> shift & this->cell_mask();
                    // A counter that counts beyond `most` (of 32 bits, by adds that raced) stays as it is.
                    sums |= std::max(a, std::min(a + b, this->layout().most())) << shift;
                }
                return sums;
            });
        }
    }

    // A bit for each counter above zero, both in the order of their numbers.
    void set_bits(std::uint64_t* out) const noexcept {
        const std::uint32_t bits = this->params().counter_bits;
        std::uint64_t counter = 0;
        for (std::uint64_t i = 0; i < this->where().word_count(); ++i) {
            const std::uint64_t word = Words::load(this->data() + i);
            for (std::uint32_t shift = 0; shift < 64; shift += bits, ++counter)
                if ((word >> shift & this->cell_mask()) != 0)
                    out[counter / 64] |= std::uint64_t{1} << (counter % 64);
        }
    }
};

using plain_counting_bloom = basic_counting_bloom<plain_words>;
using atomic_counting_bloom = basic_counting_bloom<atomic_words>;
using counting_bloom_view = basic_counting_bloom<const_words>;

} // namespace bouncer
