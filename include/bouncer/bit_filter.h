// bit_filter<Layout, Words>: every kind whose state is bits that only go from 0 to 1. A layout says which bits a
// hash has and how a goal becomes parameters; words say how memory is reached; everything else is here, once.
//
// Thread safety, by words:
//   plain_words   [exclusive] to change, any number of concurrent readers while nobody changes.
//   atomic_words  add, may_contain, test_and_add, merge and all scans are [any-thread] and wait-free (lock-free on
//                 machines whose only atomic OR is a load-exclusive loop, as aarch64 before LSE).
//   const_words   everything is [any-thread]; there is nothing that changes the filter.
// Invariants of the atomic form:
//   1. Bits only go from 0 to 1, by read-modify-writes of whole words, so no bit is ever lost.
//   2. An add that happens-before a query is seen by it: every word the add found wanting was changed by an RMW
//      before the add returned, and every word it found sufficient had been seen with those bits, so the query's
//      load of the same word reads this value or a later one (write-read and read-read coherence).
//   3. clear() breaks 1 and so is [exclusive].
//   4. Relaxed operations publish nothing else: "maybe" does not make visible what another thread wrote before its
//      add. add_release and may_contain_acquire give that edge.
//
// There are two ways to the bits, with the same words. Code that is compiled for a vector unit inlines the probes of all forms
// that the layout may have, behind a branch that never changes; other code goes through the layout's ops, one indirect call.
// All forms, not the usual one with a call for the rest: a call in a branch that is never taken still makes the compiler
// reload what a loop holds in registers, and took 1.4 times as long (Zen 4).
#pragma once

#include <bouncer/detail/parallel.h>
#include <bouncer/detail/pipeline.h>
#include <bouncer/detail/probe.h>
#include <bouncer/detail/slices.h>
#include <bouncer/filter_base.h>
#include <bouncer/math.h>
#include <bouncer/result.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace bouncer {

// add_batch(hashes, uncounted)
struct uncounted_t {
    explicit uncounted_t() = default;
};
inline constexpr uncounted_t uncounted{};

template <detail::bit_layout Layout, readable_words Words>
class bit_filter : public filter_base<Layout, Words> {
    using base = filter_base<Layout, Words>;
    using base::mutable_data;

  public:
    using base::base;
    using base::data;
    using base::layout;
    using typename base::owned_words;

    static constexpr bool union_is_or = true;
    static constexpr bool no_false_negatives = true;
    static constexpr concurrency_level concurrency =
        Words::concurrent ? concurrency_level::wait_free : concurrency_level::exclusive;

    // ---- one key -------------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Returns whether the look before the write saw a zero bit. Never false when
    // this add set a bit; possibly true for two racing adds of the same bits: a count of true answers may run
    // early, never late (register_bloom: exactly as test_and_add). A key that is there is only looked at, so adding a hot
    // key again takes no ownership of its cache lines.
    [[gnu::always_inline]] bool add(std::uint64_t hash) noexcept requires(Words::writable) {
        if constexpr (!in_place) {
            const detail::bit_ops& ops = layout().ops();
            return !(Words::concurrent ? ops.set_shared : ops.set)(mutable_data(), at(), hash);
        } else {
            return !detail::yes(layout().visit(
                [ words = mutable_data(), at = at(), hash ](auto form) __attribute__((always_inline)) {
                    return probe_of<decltype(form)>::template set<Words>(words, at, hash);
                }));
        }
    }

    // [any-thread] False: surely never added. True: probably added.
    [[gnu::always_inline]] bool may_contain(std::uint64_t hash) const noexcept {
        if constexpr (!in_place) {
            return layout().ops().covers(data(), at(), hash);
        } else {
            return detail::yes(layout().visit([ words = data(), at = at(), hash ](auto form) __attribute__((
                always_inline)) { return probe_of<decltype(form)>::template ask<Words>(words, at, hash); }));
        }
    }

    // [any-thread] (plain: [exclusive]) Adds, and returns whether the key seemed to be there before. Who may be told
    // "new" (false) when several threads add the same new key at once:
    //   register_bloom  at most one of them, and exactly one unless other keys' bits already covered the key;
    //   other kinds     at least one of them (with the same exception), possibly several, because the key's bits
    //                   lie in several words and no single RMW covers them.
    bool test_and_add(std::uint64_t hash) noexcept requires(Words::writable) { return !add(hash); }

    // [any-thread] add, with release order on every word: whatever this thread wrote before is visible to a
    // may_contain_acquire that answers true because of bits this add wrote. Always writes, so it takes line
    // ownership even for a hot key; on x86-64 it costs nothing else.
    void add_release(std::uint64_t hash) noexcept requires(Words::writable&& Words::concurrent) {
        detail::each_word(layout(), hash, [words = mutable_data()](std::uint64_t word, std::uint64_t bits) {
            Words::template fetch_or<std::memory_order_release>(words + word, bits);
        });
    }
    // [any-thread] may_contain with acquire order; see add_release.
    bool may_contain_acquire(std::uint64_t hash) const noexcept requires(Words::concurrent) {
        return layout().visit([words = data(), at = at(), hash](auto form) {
            return detail::by_word<decltype(form)>::template ask<acquired_words>(words, at, hash);
        });
    }

    // ---- batches: prefetched, one dispatch; each is as the calls one by one, in order ------------------------------

    // [any-thread] answers[i] = may_contain(hashes[i]); returns how many are true. Works on the shorter of the two.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        const std::size_t count = std::min(hashes.size(), answers.size());
        if constexpr (Words::in_memory) {
            return layout().ops().covers_each(data(), at(), hashes.data(), count, answers.data());
        } else {
            std::size_t found = 0;
            for (std::size_t i = 0; i < count; ++i) found += answers[i] = may_contain(hashes[i]);
            return found;
        }
    }

    // [any-thread] (plain: [exclusive]) Adds all; returns how many adds saw a zero bit.
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept requires(Words::writable) {
        return add_each(hashes, nullptr);
    }

    // [any-thread] (plain: [exclusive]) Same, without the count: a plain filter then writes without reading first.
    void add_batch(std::span<const std::uint64_t> hashes, uncounted_t) noexcept requires(Words::writable) {
        if constexpr (Words::in_memory && !Words::concurrent)
            layout().ops().put_each(mutable_data(), at(), hashes.data(), hashes.size());
        else
            add_each(hashes, nullptr);
    }

    // [any-thread] (plain: [exclusive]) answers[i] = test_and_add(hashes[i]); returns how many were new (false).
    std::size_t test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) noexcept
        requires(Words::writable) {
        return add_each(hashes.first(std::min(hashes.size(), answers.size())), answers.data());
    }

    // [any-thread] (plain: [exclusive]) Adds all on `threads` threads (0: one per core). No two threads write one
    // word, so there is no contention and even a plain filter is built in parallel. A filter beyond the caches is
    // built slice by slice, with hashes sorted to their slices first: that takes memory beside the filter, about twice
    // its own size but hardly more than 256 MiB. Two cases skip slicing: host memory (the host must know of every
    // allocation), and a failed allocation.
    void add_all(std::span<const std::uint64_t> hashes, unsigned threads = 0) requires(Words::writable) {
        const unsigned parts = detail::thread_count(threads, hashes.size());
        if constexpr (in_blocks) {
            if (add_by_slices(hashes, parts)) return;
        }
        detail::run_parallel(parts, [&](unsigned part, unsigned all) {
            if (all == 1) {
                add_batch(hashes, uncounted);
                return;
            }
            add_range(hashes, word_boundary(part, all), word_boundary(part + 1, all));
        });
    }

    // ---- the whole filter ------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Becomes the union, exactly as if every key of `other` had been added.
    // Returns the expected false-positive rate after. Refuses a filter that differs in parameters or hash
    // (mismatch) or only in its secret key (wrong_key), and changes nothing then. O(m).
    template <class OtherWords>
    result<double> merge(const bit_filter<Layout, OtherWords>& other) requires(Words::writable) {
        if (auto ok = this->check_like(other); !ok) return ok.error();
        or_words(other);
        return expected_fpr();
    }

    // [any-thread] (plain: [exclusive]) merge, unless the union's expected rate would exceed `rate` (full). Adds
    // that race with it are not in the forecast. O(m).
    template <class OtherWords>
    result<double> merge_if_within(const bit_filter<Layout, OtherWords>& other,
                                   double rate) requires(Words::writable) {
        if (auto ok = detail::check_union_limit(rate); !ok) return ok.error();
        if (auto ok = this->check_like(other); !ok) return ok.error();
        const double after = detail::answer_rate(shape(), {data(), other.data()});
        if (auto ok = detail::check_union_rate(after, rate); !ok) return ok.error();
        or_words(other);
        return after;
    }

    // [any-thread] A filter of 1/factor of the size, exactly as if the same keys had been added to it: for an
    // underfilled filter, without its keys. Refuses (invalid_argument) a factor that does not divide. O(m).
    template <class OtherWords = owned_words>
    result<bit_filter<Layout, OtherWords>> fold(std::uint64_t factor, const memory_options& memory = {}) const
        requires(detail::foldable_layout<Layout>) {
        return detail::guarded([&]() -> result<bit_filter<Layout, OtherWords>> {
            auto small = layout().folded(factor);
            if (!small) return small.error();
            auto out =
                bit_filter<Layout, OtherWords>::create(*small, {.hash = this->hash(), .memory = memory});
            if (out)
                detail::fold_words(shape(), factor, {data(), layout().word_count()}, 0, out->mutable_data(),
                                   0);
            return out;
        });
    }

    // ---- what it knows of itself -----------------------------------------------------------------------------------

    // [any-thread] The fraction of bits that are set. O(m); sampled: O(samples).
    double fill_ratio() const noexcept { return detail::fill_of(shape(), source()); }
    estimate sampled_fill_ratio(std::uint32_t samples = 4096, std::uint64_t seed = 1) const noexcept {
        return detail::sampled_fill(shape(), source(), samples, seed);
    }

    // [any-thread] How many distinct keys were added, estimated from the fill. Infinite when every bit is set.
    // O(m); sampled: O(samples).
    double approximate_size() const noexcept { return detail::keys_behind(shape(), fill_ratio()); }
    estimate sampled_size(std::uint32_t samples = 4096, std::uint64_t seed = 1) const noexcept {
        return detail::sampled_keys(shape(), source(), samples, seed);
    }

    // [any-thread] The false-positive rate now, from the bits as they are. O(m); sampled: O(samples), of each slice
    // in partitioned_bloom.
    double expected_fpr() const noexcept { return detail::answer_rate(shape(), source()); }
    estimate sampled_fpr(std::uint32_t samples = 4096, std::uint64_t seed = 1) const noexcept {
        return detail::sampled_answer_rate(shape(), source(), samples, seed);
    }

    // [immutable] The exact expected rate of these parameters with `keys` keys: the overfill curve.
    double fpr_at(std::uint64_t keys) const { return math::fpr(shape(), static_cast<double>(keys)); }
    // [immutable] The most keys at which the expected rate still is within `rate`.
    std::uint64_t capacity(double rate) const { return math::capacity(shape(), rate); }
    // [any-thread] Holds more keys than the rate allows: the rate is above it, and the fill beyond what chance does to
    // capacity(rate) keys (math::fill_limit). So a filter is not overfull with just the keys it was made for, even if chance
    // put its own rate a little above the promise. O(m).
    bool overfull(double rate) const {
        double limit = 0;
        if constexpr (requires { layout().fill_limit(rate); })
            limit = layout().fill_limit(rate);
        else
            limit = math::fill_limit(shape(), static_cast<double>(capacity(rate)));
        return fill_ratio() > limit && expected_fpr() > rate;
    }

    // [any-thread] How many distinct keys the union, or the intersection, of the two key sets has; the sampled
    // forms take O(samples), the others O(m). The intersection is n(A) + n(B) - n(A or B), so its error is that of
    // three estimates: below a few percent of the union it means nothing. Infinite when the union's bits are all
    // set.
    template <class OtherWords>
    result<double> union_size(const bit_filter<Layout, OtherWords>& other) const {
        if (auto ok = this->check_like(other); !ok) return ok.error();
        return detail::keys_behind(shape(), detail::fill_of(shape(), source_with(other)));
    }
    template <class OtherWords>
    result<double> intersection_size(const bit_filter<Layout, OtherWords>& other) const {
        if (auto ok = this->check_like(other); !ok) return ok.error();
        return detail::keys_in_common(shape(), source_with(other));
    }
    template <class OtherWords>
    result<estimate> sampled_union_size(const bit_filter<Layout, OtherWords>& other,
                                        std::uint32_t samples = 4096, std::uint64_t seed = 1) const {
        if (auto ok = this->check_like(other); !ok) return ok.error();
        return detail::sampled_keys(shape(), source_with(other), samples, seed);
    }
    template <class OtherWords>
    result<estimate> sampled_intersection_size(const bit_filter<Layout, OtherWords>& other,
                                               std::uint32_t samples = 4096, std::uint64_t seed = 1) const {
        if (auto ok = this->check_like(other); !ok) return ok.error();
        return detail::sampled_keys_in_common(shape(), source_with(other), samples, seed);
    }

    // [immutable]
    std::uint64_t size_bits() const noexcept { return shape().total_bits(); }
    math::geometry shape() const noexcept { return layout().shape(); }

  private:
    template <detail::bit_layout OtherLayout, readable_words OtherWords>
    friend class bit_filter;

    using usual_form = typename Layout::usual_form;
    static constexpr bool in_blocks = usual_form::block_words != 0;
    // The probes are inlined, not called. Words that must see each access are probed by the specification.
    static constexpr bool in_place = !Words::in_memory || detail::probes_inline<usual_form>;
    template <class Form>
    using probe_of = std::conditional_t<Words::in_memory, detail::probe<Form>, detail::by_word<Form>>;

    struct acquired_words {
        static std::uint64_t load(const std::uint64_t* at) noexcept {
            return Words::template load<std::memory_order_acquire>(at);
        }
    };

    detail::extent at() const noexcept { return layout().at(); }
    detail::bit_source source() const noexcept { return {data()}; }
    template <class OtherWords>
    detail::bit_source source_with(const bit_filter<Layout, OtherWords>& other) const noexcept {
        return {data(), other.data()};
    }

    // `known` may be null.
    std::size_t add_each(std::span<const std::uint64_t> hashes, bool* known) noexcept {
        if constexpr (Words::in_memory) {
            const detail::bit_ops& ops = layout().ops();
            const auto each = Words::concurrent ? ops.set_each_shared : ops.set_each;
            return each(mutable_data(), at(), hashes.data(), hashes.size(), known);
        } else {
            std::size_t added = 0;
            for (std::size_t i = 0; i < hashes.size(); ++i) {
                const bool is_new = add(hashes[i]);
                if (known != nullptr) known[i] = !is_new;
                added += is_new;
            }
            return added;
        }
    }

    // add_all by slices of the filter; false, and nothing done, where that is not worth its memory or finds none.
    bool add_by_slices(std::span<const std::uint64_t> hashes, unsigned threads) {
        const std::uint64_t blocks = at().units;
        const detail::slice_plan plan(blocks, this->size_bytes() / blocks, hashes.size(), threads);
        if (!plan.worth_it()) return false;
        if (this->memory().host_block() != nullptr) return false;
        std::vector<detail::slice_buffers> buffers;
        std::vector<std::span<const std::uint64_t>> left;
        const auto ready = detail::guarded([&]() -> result<void> {
            left.resize(threads);
            for (unsigned t = 0; t < threads; ++t) {
                auto made = detail::slice_buffers::make(plan);
                if (!made) return made.error();
                buffers.push_back(std::move(*made));
            }
            return {};
        });
        if (!ready) return false;
        for (unsigned t = 0; t < threads; ++t) {
            const std::size_t first = hashes.size() / threads * t;
            const std::size_t last = t + 1 == threads ? hashes.size() : hashes.size() / threads * (t + 1);
            left[t] = hashes.subspan(first, last - first);
        }
        const auto some_left = [&] {
            return std::any_of(left.begin(), left.end(), [](const auto& each) { return !each.empty(); });
        };
        while (some_left()) {
            detail::run_parallel(threads, [&](unsigned t, unsigned) {
                const std::size_t taken = buffers[t].fill(left[t], [&](std::uint64_t hash) {
                    return usual_form::block_of(hash, blocks) >> plan.shift();
                });
                left[t] = left[t].subspan(taken);
            });
            detail::run_parallel(threads, [&](unsigned t, unsigned all) {
                for (std::uint64_t slice = plan.slices() * t / all; slice < plan.slices() * (t + 1) / all;
                     ++slice)
                    for (const auto& each : buffers) add_batch(each.slice(slice), uncounted);
            });
        }
        return true;
    }

    template <class OtherWords>
    void or_words(const bit_filter<Layout, OtherWords>& other) noexcept {
        for (std::uint64_t i = 0; i < layout().word_count(); ++i) {
            const std::uint64_t bits = OtherWords::load(other.data() + i);
            if ((Words::load(data() + i) & bits) != bits) Words::set_bits(mutable_data() + i, bits);
        }
    }

    // Whole blocks, so that a key of a form with blocks belongs to one thread.
    std::uint64_t word_boundary(unsigned part, unsigned parts) const noexcept {
        const std::uint64_t unit = in_blocks ? layout().word_count() / at().units : 1;
        return static_cast<std::uint64_t>(detail::uint128{layout().word_count() / unit} * part / parts) *
               unit;
    }

    // Adds what lies in the words [first, last).
    void add_range(std::span<const std::uint64_t> hashes, std::uint64_t first, std::uint64_t last) noexcept {
        layout().visit([this, hashes, first, last]<class Form>(Form) {
            using key = typename Form::key;
            const detail::extent at = this->at();
            std::uint64_t* const words = mutable_data();
            const auto mine = [=](std::uint64_t word) { return word - first < last - first; };
            detail::pipeline(
                hashes.size(), in_blocks ? 64 : 16,
                [=](std::size_t i) __attribute__((always_inline)) {
                    for (key its(at, hashes[i]); its.more();) {
                        const std::uint64_t word = its.next().word;
                        if (mine(word)) __builtin_prefetch(words + word, 1);
                        if (in_blocks)
                            break; // the other words of the block are in the same line, or the next
                    }
                },
                [=](std::size_t i) __attribute__((always_inline)) {
                    for (key its(at, hashes[i]); its.more();) {
                        const auto [word, bits] = its.next();
                        if (mine(word) && (Words::load(words + word) & bits) != bits)
                            Words::set_bits(words + word, bits);
                        else if (in_blocks && !mine(word))
                            break; // nor are the other words of the block
                    }
                });
        });
    }
};

} // namespace bouncer
