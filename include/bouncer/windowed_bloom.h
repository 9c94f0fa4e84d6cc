// windowed_bloom: the keys of the last while. Time is cut into steps, which the caller numbers (epochs); a key is found
// for the whole window after its last add, and gone one step later. docs/filters/windowed_bloom.md
//
// Where a Bloom filter has a bit, this has a cell with a bit (a column) for each generation, that is for each step of the
// window: `live` generations, the current one and those before it, and a spare. A query ANDs its k cells, and a column
// that is left says that all of the key's bits were set in one and the same generation: k probes, however many
// generations.
//
// Thread safety, by words: plain_words [exclusive] to change; with atomic_words add, may_contain and test_and_add are
// [any-thread] and lock-free, also while one thread rotates. rotate_to and merge are [any-thread] and locked: those of one
// object wait for each other, and nobody else for them. (In a file that several processes share, one of them rotates.) Invariants:
//   1. Generation e is column e mod (live + 1). At epoch e the generations e, e - 1, ... e - live + 1 are live; the spare
//      is the column that e + 1 will take.
//   2. In single steps a column is swept while it is the spare, which no query looks at; then the epoch is stored (release), which
//      makes it the current one. So bits of a live column only go from 0 to 1, and load_block's argument holds for each
//      column.
//   3. An add reads the epoch, sets its bits in that column, and reads the epoch again: when it has moved, it adds once
//      more. So when an add returns, the key is in a generation that was current after the add began, whatever a
//      rotation swept meanwhile. Each repetition means that a rotation came between: lock-free.
//   4. A query reads the epoch (acquire) before the cells, so it sees the column of every add that happened-before it;
//      and after a "no" once more: when it has moved, it asks again, because a key may have left the column it looked for
//      and be in one that became current meanwhile. Each repetition means that a rotation came between: lock-free.
//   5. A jump over several steps publishes its last epoch at once. While it runs, keys whose window ends with it may be
//      found or not; those that were gone before stay gone.
#pragma once

#include <bouncer/detail/cell_filter.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/unions.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace bouncer {

// Explicit parameters. Up to 3 live generations take cells of half a byte, up to 7 a byte.
struct windowed_bloom_parameters {
    std::uint64_t units = 0; // blocks of two lines; flat: cells
    std::uint32_t k = 8;
    std::uint32_t live = 7; // generations, 2 to 7: the window is one step less; 2 is "current and previous"
    cell_form form = cell_form::two_lines;
    friend bool operator==(const windowed_bloom_parameters&, const windowed_bloom_parameters&) = default;
};

template <readable_words Words>
class basic_windowed_bloom;

namespace detail {

// A mutex of an object that may be moved, which is [exclusive]: nobody holds it then.
class movable_mutex {
  public:
    movable_mutex() = default;
    movable_mutex(movable_mutex&&) noexcept {}
    movable_mutex& operator=(movable_mutex&&) noexcept { return *this; }
    // [any-thread]
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    std::mutex mutex_;
};

class windowed_layout : public cell_layout,
                        public fields<windowed_bloom_parameters, "units", "k", "live", "form"> {
  public:
    template <class Words>
    using filter = basic_windowed_bloom<Words>;
    static constexpr std::uint16_t kind_id = 8;
    static constexpr std::uint16_t layout_version = 2;
    static constexpr std::string_view kind_name = "windowed_bloom";
    static constexpr std::uint64_t control_words = 16; // word 0: the epoch; the others are zero
    static constexpr std::uint32_t live_most = 7;
    static constexpr std::uint64_t epoch_most = std::uint64_t{1} << 63;

    static result<parameters> solve(const goal& wanted);
    static result<parameters> solve(const goal& wanted, std::uint32_t live, cell_form form);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);

    explicit constexpr windowed_layout(const parameters& chosen) noexcept : params_(chosen) {}
    const parameters& params() const noexcept { return params_; }
    constexpr cells where() const noexcept {
        return {params_.units, params_.k, params_.live <= 3 ? 4u : 8u, params_.form};
    }
    std::uint64_t word_count() const noexcept { return control_words + where().word_count(); }
    static result<void> check_words(const std::uint64_t* words) {
        return check_control_words(kind_name, {words, control_words}, epoch_most);
    }

    constexpr std::uint32_t columns() const noexcept { return params_.live + 1; }
    constexpr std::uint64_t column(std::uint64_t epoch) const noexcept {
        return std::uint64_t{1} << (epoch % columns());
    }
    constexpr std::uint64_t live_columns(std::uint64_t epoch) const noexcept {
        return ((std::uint64_t{1} << columns()) - 1) & ~column(epoch + 1);
    }
    // The bits of `columns` in every cell of a word.
    constexpr std::uint64_t in_every_cell(std::uint64_t columns) const noexcept {
        return columns * (~std::uint64_t{0} / ((std::uint64_t{1} << where().cell_bits()) - 1));
    }

  private:
    parameters params_;
};

} // namespace detail

template <readable_words Words>
class basic_windowed_bloom : public detail::cell_filter<detail::windowed_layout, Words> {
    using base = detail::cell_filter<detail::windowed_layout, Words>;
    using window_layout = detail::windowed_layout;

  public:
    using base::base;
    using typename base::parameters;
    static constexpr bool no_false_negatives = false; // it forgets
    // Within a step: adding a key again changes nothing, and the order of adds does not matter.
    static constexpr bool adds_are_idempotent = true;
    static constexpr bool adds_commute = true;
    static constexpr std::uint64_t epoch_most = window_layout::epoch_most;

    // [any-thread] goal.keys are those of a whole window; they may come unevenly, but at most keys / (live - 1) in a step
    // for the rate to hold. prefer::space picks the flat form.
    using base::solve;
    static result<parameters> solve(const goal& wanted, std::uint32_t live,
                                    cell_form form = cell_form::two_lines) {
        return detail::guarded([&] { return window_layout::solve(wanted, live, form); });
    }

    // ---- time --------------------------------------------------------------------------------------------------------

    // [any-thread] The number of the current step; 0 at first.
    std::uint64_t epoch() const noexcept {
        return Words::template load<std::memory_order_acquire>(this->data());
    }

    // [any-thread] Makes `epoch` the current step; after a jump over the whole window nothing is left. The current epoch
    // again changes nothing. One that went back is refused (invalid_argument), and so is one beyond 2^63 (too_large).
    // Adds and queries go on meanwhile. A key that is in the window before and after is found at every moment. A key that a
    // single step takes out is found until the new epoch is stored; one that a jump over several steps takes out may be
    // gone before that, or found until the jump is done. Replicas that are given the same adds and epochs are the same.
    // O(m) for each step, at most live + 1 of them.
    result<void> rotate_to(std::uint64_t epoch) requires(Words::writable) {
        return detail::guarded([&]() -> result<void> {
            if (epoch > epoch_most)
                return failure{error_code::too_large,
                               "an epoch is at most 2^63, and is " + std::to_string(epoch)};
            const std::lock_guard held(rotation_);
            const std::uint64_t now = this->epoch();
            if (epoch < now)
                return failure{error_code::invalid_argument,
                               "epochs go up: the filter is at " + std::to_string(now) +
                                   ", and was asked to go back to " + std::to_string(epoch)};
            // Columns of the steps from now on, which must be empty: that of the last one before it becomes current, and the
            // spare, whose keys are long gone, before it is live again; the others, in which nobody adds, afterwards.
            const std::uint64_t steps = std::min<std::uint64_t>(epoch - now, this->layout().columns());
            if (steps == 0) return {};
            const std::uint64_t spare = this->layout().column(now + 1);
            sweep(this->layout().column(epoch) | spare);
            publish(epoch);
            for (std::uint64_t back = 1; back < steps; ++back)
                if (const std::uint64_t column = this->layout().column(epoch - back); column != spare)
                    sweep(column);
            return {};
        });
    }

    // [immutable] For how many steps after the step of its last add a key is found.
    std::uint32_t window_steps() const noexcept { return this->params().live - 1; }

    // ---- one key -----------------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Returns whether something changed: not when the key was added in this step
    // already, or other keys' bits cover it.
    bool add(std::uint64_t hash) noexcept requires(Words::writable) {
        const detail::cells at = this->where();
        return in_one_epoch([&](std::uint64_t column) { return add_to(column, at, hash); });
    }

    // [any-thread] False: surely not added within the window. True: probably.
    bool may_contain(std::uint64_t hash) const noexcept { return present(epoch(), hash); }
    // [any-thread] answers[i] = may_contain(hashes[i]); returns how many are true. Works on the shorter of the two.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        const std::size_t count = std::min(hashes.size(), answers.size());
        const std::uint64_t now = epoch();
        std::size_t found = 0;
        const detail::cells where = this->where();
        if (!Words::in_memory || !where.in_lines()) return this->ask_each(hashes.first(count), answers);
        found = where.ops().common_each(this->cell_words(), where.at(),
                                        static_cast<std::uint8_t>(this->layout().live_columns(now)),
                                        hashes.data(), count, answers.data());
        if (epoch() == now) return found;
        // A rotation came between: what was missed is asked again.
        for (std::size_t i = 0; i < count; ++i) {
            if (answers[i]) continue;
            answers[i] = present(epoch(), hashes[i]);
            found += answers[i];
        }
        return found;
    }

    using base::test_and_add;
    // [any-thread] (plain: [exclusive]) Adds, and returns whether the key seemed to be in the window before. Several threads
    // that add the same new key at once may all be told "new".
    bool test_and_add(std::uint64_t hash) noexcept requires(Words::writable) {
        const bool was_there = may_contain(hash);
        add(hash);
        return was_there;
    }

    // ---- batches -----------------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Adds all; returns how many changed something.
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept requires(Words::writable) {
        constexpr std::size_t chunk = 256; // what a rotation makes it add again
        const detail::cells at = this->where();
        std::size_t changed = 0;
        for (; !hashes.empty(); hashes = hashes.subspan(std::min(chunk, hashes.size()))) {
            const auto some = hashes.first(std::min(chunk, hashes.size()));
            changed += in_one_epoch([&](std::uint64_t column) {
                std::size_t of_these = 0;
                this->pipelined(some, [&](std::size_t i) { of_these += add_to(column, at, some[i]); });
                return of_these;
            });
        }
        return changed;
    }

    // ---- the whole filter --------------------------------------------------------------------------------------------

    // [exclusive] Forgets every key; the epoch stays. O(m).
    void clear() noexcept requires(Words::writable) {
        for (std::uint64_t i = 0; i < this->where().word_count(); ++i)
            Words::store(this->mutable_data() + window_layout::control_words + i, 0);
    }

    // [any-thread] (plain: [exclusive]) Becomes the union, each key in its generation. Refuses other parameters, another
    // hash, and another epoch (mismatch: rotate first), and changes nothing then; neither may rotate twice meanwhile.
    // Returns the expected rate after. O(m).
    template <class OtherWords>
    result<double> merge(const basic_windowed_bloom<OtherWords>& other) requires(Words::writable) {
        const std::lock_guard held(rotation_);
        if (auto ok = check_mergeable(other); !ok) return ok.error();
        or_live(other);
        return expected_fpr();
    }
    // [any-thread] (plain: [exclusive]) merge, unless the union's expected rate would exceed `rate` (full). O(m).
    template <class OtherWords>
    result<double> merge_if_within(const basic_windowed_bloom<OtherWords>& other,
                                   double rate) requires(Words::writable) {
        if (auto ok = detail::check_union_limit(rate); !ok) return ok.error();
        const std::lock_guard held(rotation_);
        if (auto ok = check_mergeable(other); !ok) return ok.error();
        const double after = rate_of(other.data() + window_layout::control_words);
        if (auto ok = detail::check_union_rate(after, rate); !ok) return ok.error();
        or_live(other);
        return after;
    }

    // ---- what it knows of itself -------------------------------------------------------------------------------------

    // [any-thread] The fraction of bits that are set in the live columns. O(m).
    double fill_ratio() const noexcept {
        double sum = 0;
        every_live_column([&](std::uint64_t column) { sum += fill_of_column(column); });
        return sum / this->params().live;
    }
    // [any-thread] How many keys were added in each step of the window, newest first, estimated from the fill; and their
    // sum, in which a key that was added in several steps counts in each. O(m).
    std::vector<double> keys_by_generation() const {
        std::vector<double> out;
        const std::uint64_t now = epoch();
        for (std::uint32_t age = 0; age < this->params().live; ++age)
            out.push_back(keys_in(
                this->layout().column(now + age * this->params().live))); // live is -1, modulo the columns
        return out;
    }
    double approximate_size() const noexcept {
        double sum = 0;
        every_live_column([&](std::uint64_t column) { sum += keys_in(column); });
        return sum;
    }
    // [any-thread] The false-positive rate now, from the cells as they are. O(m).
    double expected_fpr() const noexcept { return rate_of(nullptr); }
    // [immutable] The expected rate with `keys` keys in the window, as many in each of its steps, at the end of a step,
    // when it is highest.
    double fpr_at(std::uint64_t keys) const {
        const double each = static_cast<double>(keys) / window_steps();
        return -std::expm1(this->params().live * std::log1p(-math::fpr(this->shape(), each)));
    }
    // [immutable] The most keys of a window at which that is within `rate`.
    std::uint64_t capacity(double rate) const { return capacity_of_step(rate) * window_steps(); }
    // [any-thread] The window holds more keys than the rate allows: the rate is above it, and the fill of a step beyond what
    // chance does to its share of the keys (math::fill_limit). O(m).
    bool overfull(double rate) const {
        const double limit = math::fill_limit(this->shape(), static_cast<double>(capacity_of_step(rate)));
        bool beyond = false;
        every_live_column([&](std::uint64_t column) { beyond = beyond || fill_of_column(column) > limit; });
        return beyond && expected_fpr() > rate;
    }

  private:
    // The most keys of a step, in each of the steps, at which the rate of all is within `rate`.
    std::uint64_t capacity_of_step(double rate) const {
        return math::capacity(this->shape(), -std::expm1(std::log1p(-rate) / this->params().live));
    }

    // At epoch `now`; and again when that has moved before a "no".
    bool present(std::uint64_t now, std::uint64_t hash) const noexcept {
        while (true) {
            std::uint64_t common = this->layout().live_columns(now);
            // Acquire: a swept cell shows the epochs before its sweep, and the epoch is not read before the cells.
            const bool found = this->where().every_cell(hash, [&](std::uint64_t word, std::uint32_t shift) {
                common &= Words::template load<std::memory_order_acquire>(this->cell_words() + word) >> shift;
                return common != 0;
            });
            const std::uint64_t after = epoch();
            if (found || after == now) return found;
            now = after;
        }
    }

    // work(column) -> count, until the epoch is the same after it as before.
    template <class Work>
    auto in_one_epoch(Work work) noexcept {
        std::uint64_t now = epoch();
        while (true) {
            const auto done = work(this->layout().column(now));
            const std::uint64_t after = epoch();
            if (after == now) return done;
            now = after;
        }
    }

    // Acquire: what comes after, the second look at the epoch, must not be done before.
    bool add_to(std::uint64_t column, const detail::cells& at, std::uint64_t hash) noexcept {
        bool changed = false;
        at.every_cell(hash, [&](std::uint64_t word, std::uint32_t shift) {
            const std::uint64_t i = window_layout::control_words + word;
            const std::uint64_t bit = column << shift;
            if ((Words::template load<std::memory_order_acquire>(this->data() + i) & bit) == 0) {
                Words::template fetch_or<std::memory_order_acquire>(this->mutable_data() + i, bit);
                changed = true;
            }
            return true;
        });
        return changed;
    }

    void publish(std::uint64_t epoch) noexcept {
        Words::template store<std::memory_order_release>(this->mutable_data(), epoch);
    }
    // Release: an add that finds a swept cell sees the epochs that came before the sweep.
    void sweep(std::uint64_t columns) noexcept {
        const std::uint64_t bits = this->layout().in_every_cell(columns);
        for (std::uint64_t i = window_layout::control_words;
             i < window_layout::control_words + this->where().word_count(); ++i)
            if ((Words::load(this->data() + i) & bits) != 0)
                Words::template fetch_and<std::memory_order_release>(this->mutable_data() + i, ~bits);
    }

    template <class OtherWords>
    result<void> check_mergeable(const basic_windowed_bloom<OtherWords>& other) const {
        return detail::guarded([&]() -> result<void> {
            if (auto ok = this->check_like(other); !ok) return ok;
            if (epoch() != other.epoch())
                return failure{error_code::mismatch, "the filters are at epochs " + std::to_string(epoch()) +
                                                         " and " + std::to_string(other.epoch()) +
                                                         ": rotate the older one first"};
            return {};
        });
    }
    template <class OtherWords>
    void or_live(const basic_windowed_bloom<OtherWords>& other) noexcept {
        const std::uint64_t live = this->layout().in_every_cell(this->layout().live_columns(epoch()));
        for (std::uint64_t i = window_layout::control_words;
             i < window_layout::control_words + this->where().word_count(); ++i) {
            const std::uint64_t bits = OtherWords::load(other.data() + i) & live;
            if ((Words::load(this->data() + i) & bits) != bits)
                Words::set_bits(this->mutable_data() + i, bits);
        }
    }

    template <class Visit>
    void every_live_column(Visit visit) const noexcept {
        const std::uint64_t live = this->layout().live_columns(epoch());
        for (std::uint32_t c = 0; c < this->layout().columns(); ++c)
            if ((live >> c & 1) != 0) visit(std::uint64_t{1} << c);
    }
    double fill_of_column(std::uint64_t column) const noexcept {
        return detail::fill_of(this->where(), {this->cell_words(), column});
    }
    double keys_in(std::uint64_t column) const noexcept {
        return detail::keys_behind(this->shape(), fill_of_column(column));
    }
    double rate_of(const std::uint64_t* other) const noexcept {
        double none = 1; // of the generations has the key
        every_live_column([&](std::uint64_t column) {
            none *= 1 - detail::answer_rate(this->where(), {this->cell_words(), column, other});
        });
        return 1 - none;
    }

    detail::movable_mutex rotation_;
};

using plain_windowed_bloom = basic_windowed_bloom<plain_words>;
using atomic_windowed_bloom = basic_windowed_bloom<atomic_words>;
using windowed_bloom_view = basic_windowed_bloom<const_words>;

} // namespace bouncer
