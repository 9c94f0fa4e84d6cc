// scalable<F>: a chain of filters that grows with its keys and keeps one promise for the whole. Each layer is larger than
// the one before and has a smaller share of the rate. docs/filters/scalable_bloom.md
//
// Thread safety, by words:
//   plain_words   [exclusive] to change, any number of concurrent readers while nobody changes.
//   atomic_words  all but clear and host_block_moved_to are [any-thread]. Queries are wait-free, adds lock-free: no add
//                 waits for an allocation of another. Merges that share a chain wait for each other; one that copies
//                 layers also waits for a thread that makes a layer at that moment. No add, query or report waits for
//                 a merge.
//   const_words   everything is [any-thread]; there is nothing that changes the chain.
// Invariants of the atomic form:
//   1. An add puts its key into the grown layer that was newest when the add began. Layers are only added while others
//      work (detail/scalable_chain.h), so no growth and no merge loses a key.
//   2. An add or a merge that happens-before a query is seen by it: the query looks into at least as many layers, and F
//      promises it for each.
//   3. The next layer is prepared by one thread, inside an add, when 31/32 of the newest one's capacity are used (below 1M
//      keys: half). Should it not be ready at 17/16 of the capacity, because that thread has no processor or its allocator
//      is slow, one more thread makes a layer, the quick way, and the first to be ready is used. Never a third: the
//      others go on adding to the newest, beyond its capacity if both take long. Nobody waits.
//   4. The count that decides is of adds that changed a layer. It runs early when threads race with the same new key (F's
//      add), and past the capacity by less than 1/128 of it (detail/scalable_layer.h) and one chunk of a batch per
//      thread; where the layer is late, past 17/16 of it by as much and by what others add while the second thread makes
//      one. How much that is nobody can promise: it depends on who gets a processor.
//   5. Where no layer can be made, adds go on into the newest: nothing is lost but the promise. growth_refused() says why.
//   6. A merge publishes copies and never takes a layer back; copies take no adds. Their rate is taken from `remaining` of the
//      newest layer and of the parked one, before they are published and while nobody makes a layer (`preparing` and
//      `helping` are held). So at every moment the rates of all layers and what remains are within the promise: a chain
//      that is saved in the middle of a merge opens, with every add before the save.
//   7. A merge holds `merging` of both chains: else another merge could fill the other's layers between the forecast and
//      the OR. Both are taken by std::lock, so merges in a ring end. Not a shared_mutex, which lets many readers of one
//      chain overlap: with 8 of them a merge into that chain never got its turn.
// verification/chain.pml is a model of 1, 2, 5 and 6.
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/blocked_bloom.h>
#include <bouncer/concepts.h>
#include <bouncer/detail/format.h>
#include <bouncer/detail/ordered_hashes.h>
#include <bouncer/detail/scalable_batch.h>
#include <bouncer/detail/scalable_chain.h>
#include <bouncer/detail/scalable_layer.h>
#include <bouncer/detail/scalable_plan.h>
#include <bouncer/detail/scalable_stored.h>
#include <bouncer/detail/unions.h>
#include <bouncer/math.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bouncer {

// What a chain says of one of its layers.
struct scalable_layer_report {
    std::uint64_t capacity; // changing adds it was made for
    std::uint64_t keys;     // changing adds it got
    double promised_rate;   // at `capacity`
    double fill_ratio;
    double expected_fpr; // now
    std::uint64_t size_bytes;
};

// F is one of the bit filters.
template <class F>
class scalable {
    using layout = typename F::layout_type;
    using layer_type = detail::scalable_layer<F>;
    using fields_type = detail::chain_fields<F>;

  public:
    using filter_type = F;
    using words_type = typename F::words_type;
    using parameters = scalable_parameters;
    using default_hasher = typename F::default_hasher;
    template <class OtherWords>
    using with_words = scalable<typename F::template with_words<OtherWords>>;
    // The access of a copy: this chain's own, plain for a view.
    using owned_words = typename F::owned_words;

    // Of blocked_bloom, the chain that has a number in files; others cannot be saved.
    static constexpr bool has_kind = F::kind_id == detail::blocked_layout::kind_id;
    static constexpr std::uint16_t kind_id = has_kind ? 9 : 0;
    static constexpr std::string_view kind_name = has_kind ? "scalable_bloom" : "scalable";
    static constexpr std::uint16_t layout_version = 2;
    static constexpr bool union_is_or = false;
    static constexpr bool no_false_negatives = F::no_false_negatives;
    static constexpr concurrency_level concurrency =
        words_type::concurrent ? concurrency_level::lock_free : concurrency_level::exclusive;
    static constexpr std::uint32_t layers_most = detail::scalable_layers_most;

    // [any-thread] The parameters that create(goal) would use: goal.keys is what the first layer is made for, and a rate
    // is needed. The bytes are those of the first layer.
    static result<parameters> solve(const goal& wanted) {
        return detail::guarded([&]() -> result<parameters> {
            auto chosen = detail::scalable_solve(wanted);
            if (!chosen) return chosen.error();
            if (auto ok = check(*chosen); !ok) return ok.error();
            return chosen;
        });
    }
    static std::uint64_t size_bytes_of(const parameters& chosen) {
        const auto first = layer_parameters(chosen, detail::first_layer(chosen));
        return first ? F::size_bytes_of(*first) : 0;
    }
    // [any-thread] Refuses parameters that make no sense; and parameters in words.
    static result<void> check(const parameters& chosen) {
        return detail::guarded([&]() -> result<void> {
            if (auto ok = detail::scalable_check(chosen); !ok) return ok.error();
            if (auto first = layer_parameters(chosen, detail::first_layer(chosen)); !first)
                return first.error();
            return {};
        });
    }
    static std::string describe(const parameters& chosen) { return detail::scalable_describe(chosen); }

    // A layer that a chain of these parameters will have.
    struct planned_layer {
        std::uint64_t capacity;
        double rate;
        typename F::parameters filter;
        std::uint64_t size_bytes;
    };
    // [any-thread] The layers of a chain that holds `keys` keys, without the memory. Fails where growth would be refused
    // whatever the memory: 64 layers, more than 2^48 keys in one, more than 64 times the bytes of all before it plus 1 MiB,
    // or, of blocked_bloom, more than 256 bytes a key. Takes about 5 ms a layer.
    static result<std::vector<planned_layer>> plan(const parameters& chosen, std::uint64_t keys) {
        return detail::guarded([&]() -> result<std::vector<planned_layer>> {
            if (auto ok = detail::scalable_check(chosen); !ok) return ok.error();
            std::vector<planned_layer> out;
            detail::layer_budget budget = detail::first_layer(chosen);
            std::uint64_t bytes = 0;
            for (std::uint64_t room = 0; out.empty() || room < keys;) {
                if (out.size() == layers_most) return all_layers_used();
                const auto solved =
                    out.empty() ? layer_parameters(chosen, budget)
                                : parameters_after(chosen, budget, out.back().filter, out.back().capacity);
                if (!solved) return solved.error();
                if (auto ok = check_size(*solved, budget.capacity, bytes); !out.empty() && !ok)
                    return ok.error();
                out.push_back({budget.capacity, budget.rate, *solved, F::size_bytes_of(*solved)});
                bytes += out.back().size_bytes;
                room += budget.capacity;
                const std::uint64_t bits = layout(*solved).shape().total_bits();
                budget = detail::next_layer(chosen, detail::counted_capacity(budget.capacity, bits),
                                            budget.remaining);
            }
            return out;
        });
    }

    // [any-thread] The bytes of a chain that holds `keys` keys, with the layer that is prepared ahead. As plan() otherwise.
    static result<std::uint64_t> size_bytes_with(const parameters& chosen, std::uint64_t keys) {
        auto layers = plan(chosen, keys);
        if (!layers) return layers.error();
        std::uint64_t room = 0;
        for (const planned_layer& each : *layers) room += each.capacity;
        const std::uint64_t last = layers->back().capacity;
        if (keys >= room - last + layer_type::first_attempt(last)) {
            if (auto ahead = plan(chosen, room + 1); ahead)
                layers = std::move(ahead);
            else if (ahead.error().code == error_code::out_of_memory)
                return ahead.error();
        }
        std::uint64_t sum = 0;
        for (const planned_layer& each : *layers) sum += each.size_bytes;
        return sum;
    }

    // [any-thread] An empty chain of one layer. options.memory serves the later layers too; see prepare_growth for
    // its prefault.
    static result<scalable> create(const goal& wanted,
                                   const filter_options& options = {}) requires(words_type::writable) {
        const auto chosen = detail::guarded([&] { return detail::scalable_solve(wanted); });
        if (!chosen) return chosen.error();
        return create(*chosen, options);
    }
    static result<scalable> create(const parameters& chosen,
                                   const filter_options& options = {}) requires(words_type::writable) {
        return detail::guarded([&]() -> result<scalable> {
            if (auto ok = detail::scalable_check(chosen); !ok) return ok.error();
            const hash_spec spec = options.hash.value_or(layout::default_hash());
            const detail::layer_budget budget = detail::first_layer(chosen);
            const auto solved = layer_parameters(chosen, budget);
            if (!solved) return solved.error();
            auto first = F::create(*solved, {.hash = spec, .memory = options.memory});
            if (!first) return first.error();
            scalable out(chosen, spec, options.memory);
            out.append(std::move(*first), budget.capacity, budget.rate, budget.remaining, 0);
            out.solve_successor(1);
            return out;
        });
    }

    // ---- one key -------------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Returns whether a layer changed. A key that some layer has changes nothing and
    // does not count towards growth. One add in each layer prepares the next layer: the allocation, and about 5 ms to
    // plan the one after; prepare_growth spares it that.
    bool add(std::uint64_t hash) noexcept requires(words_type::writable) {
        const std::uint32_t size = chain().now().grown;
        if (any_has(size, hash)) return false;
        layer_type& newest = chain().grown(size - 1);
        if (!newest.filter.add(hash)) return false; // a racing add of the same bits
        if (newest.changes.add_one()) [[unlikely]]
            grow_if_due(size);
        return true;
    }

    // [any-thread] False: surely never added. True: probably added. Newest layer first: it has the most keys.
    bool may_contain(std::uint64_t hash) const noexcept { return any_has(chain().now().grown, hash); }

    // [any-thread] (plain: [exclusive]) Adds, and returns whether the key seemed to be there before. Threads that add the
    // same new key at once: at least one is told "new" (unless other keys' bits covered it), possibly several, whatever
    // F promises, because they may add to different layers.
    bool test_and_add(std::uint64_t hash) noexcept requires(words_type::writable) { return !add(hash); }

    // ---- batches: each is as the calls one by one, in order --------------------------------------------------------

    // [any-thread] answers[i] = may_contain(hashes[i]); returns how many are true. Works on the shorter of the two. A large
    // batch (an eighth of the chain's cache lines, where that is beyond 64 MiB) is put into an order first that shares
    // cache lines: at 100M keys half to two thirds of the time, with 48 MiB beside the chain at most. Two cases skip that:
    // host memory (the host must know of every allocation), and a failed allocation.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        const std::size_t count = std::min(hashes.size(), answers.size());
        std::size_t found = 0;
        for (std::size_t done = 0; done < count;) {
            const std::size_t some = std::min(detail::ordered_hashes::most, count - done);
            found += ask_run(hashes.subspan(done, some), answers.subspan(done, some));
            done += some;
        }
        return found;
    }

    // [any-thread] (plain: [exclusive]) Adds all; returns how many adds changed a layer.
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept requires(words_type::writable) {
        std::size_t changed = 0;
        for (std::size_t done = 0; done < hashes.size(); done += detail::missing_hashes::chunk) {
            const std::size_t now = std::min(detail::missing_hashes::chunk, hashes.size() - done);
            changed += add_chunk(hashes.subspan(done, now), nullptr);
        }
        return changed;
    }

    // [any-thread] (plain: [exclusive]) answers[i] = test_and_add(hashes[i]); returns how many were new (false).
    std::size_t test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) noexcept
        requires(words_type::writable) {
        const std::size_t count = std::min(hashes.size(), answers.size());
        std::size_t added = 0;
        for (std::size_t done = 0; done < count; done += detail::missing_hashes::chunk) {
            const std::size_t now = std::min(detail::missing_hashes::chunk, count - done);
            added += add_chunk(hashes.subspan(done, now), answers.data() + done);
        }
        return added;
    }

    // ---- growth ----------------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) Prepares the next layer now, if it is not: for a thread that can wait, e.g. when
    // the newest layer is half full. Returns at once when another thread is at it. The prefault of options.memory is done
    // here; an add that prepares a layer leaves pages to their first touch. Errors: why there can be no further layer;
    // growth_refused() has it too.
    result<void> prepare_growth() requires(words_type::writable) {
        const std::uint32_t size = chain().now().grown;
        prepare(size, true, 0);
        chain().grown(size - 1).changes.look_at(0); // it may be ready sooner than was thought
        if (auto why = refusal_after(size)) return *why;
        return {};
    }

    // [any-thread] Why the newest layer has no successor, if one was wanted and refused: adds go on into the newest, and
    // the next attempt comes after another 1/32 of its capacity.
    std::optional<failure> growth_refused() const { return refusal_after(chain().now().grown); }

    // [any-thread] Whether the expected rate is within the promised one: true unless growth was refused. O(m).
    bool promise_holds() const noexcept { return expected_fpr() <= promised_fpr(); }

    // ---- the whole chain -------------------------------------------------------------------------------------------

    // [exclusive] Forgets every key and every layer but the first that the chain was made with (the oldest where that is
    // gone, e.g. after a fold). O(m) of that one.
    void clear() noexcept requires(words_type::writable) {
        const detail::layer_budget planned = detail::first_layer(params());
        std::uint32_t kept = 0;
        while (kept + 1 < chain().now().grown && chain().grown(kept).rate != planned.rate) ++kept;
        if (chain().grown(kept).rate != planned.rate) kept = 0;
        chain().release_all_but(kept);
        layer_type& first = chain().grown(0);
        first.filter.clear();
        first.changes.set(0);
        first.attempt_at.store(layer_type::first_attempt(first.capacity), std::memory_order_relaxed);
        delete first.refused.exchange(nullptr, std::memory_order_relaxed);
        first.refused_code.store({}, std::memory_order_relaxed);
        first.remaining.store(first.rate == planned.rate ? planned.remaining : params().rate - first.rate,
                              std::memory_order_relaxed);
    }

    // [any-thread] (plain: [exclusive]) Becomes the union: answers "maybe" for every key of both. Layers of equal
    // parameters (at the same position, else at any) are ORed where the result stays within the layer's promise (or is no
    // worse than it was); other layers of `other` are copied, and adds go on where they did. A copy takes its expected rate of
    // now from what remains for later layers, all copies of one merge at most half of it. Two chains of many full layers
    // have no such room: full, with the numbers, and nothing has changed; build a new one from the keys then. Also
    // refused: other parameters or hash (mismatch), another secret key (wrong_key), more than 64 layers (full), no
    // memory. Returns the expected rate after. O(m), and O(m) for each pair of layers of equal parameters.
    // While others work: every add to `other` before the merge is in the union. Adds that race with it, to either, are not
    // in the forecast of an ORed layer, and may overfill it by as many. Merges into the chain behind a view are not in it
    // either; merges into `other` itself wait. A merge into itself does nothing.
    template <class OtherF>
    result<double> merge(const scalable<OtherF>& other) requires(words_type::writable) {
        return detail::guarded([&] { return merge_below(other, 1); });
    }
    // [any-thread] (plain: [exclusive]) merge, unless the expected rate would exceed `rate` (full). Adds that race with it
    // are not in the forecast.
    template <class OtherF>
    result<double> merge_if_within(const scalable<OtherF>& other,
                                   double rate) requires(words_type::writable) {
        if (auto ok = detail::check_union_limit(rate); !ok) return ok.error();
        return detail::guarded([&] { return merge_below(other, rate); });
    }

    // [any-thread] A copy for a snapshot, whose newest layer is folded as far (at most 64 times) as its expected rate
    // stays within its promise and an eighth of the smaller capacity stays free. The copy holds the same keys and grows
    // sooner. Nothing to fold: a plain copy. O(m).
    template <class OtherWords = owned_words>
    result<with_words<OtherWords>> fold_newest(const memory_options& memory = {}) const {
        return detail::guarded([&] { return copy<OtherWords>(memory, true); });
    }

    // [any-thread] A copy with access of its own choice, e.g. clone<atomic_words>(). Told the same by one thread each, both
    // grow by the same layers; but a layer that was prepared before a merge keeps its share of the rate. O(m).
    template <class OtherWords = owned_words>
    result<with_words<OtherWords>> clone(const memory_options& memory = {}) const {
        return detail::guarded([&] { return copy<OtherWords>(memory, false); });
    }

    // [any-thread] A read-only view of the layers there are now: keys that go into later ones, or are merged in as copies,
    // are not in it. Valid while this chain lives, is not cleared, and its host does not move a block.
    with_words<const_words> view() const {
        with_words<const_words> out(params(), hash(), {});
        const detail::layer_counts now = chain().now();
        for (std::uint32_t i = 0; i < now.all(); ++i) {
            const layer_type& each = chain().layer(now, i);
            out.append(each.filter.view(), each.capacity, each.rate, each.remaining, each.changes.total());
        }
        return out;
    }

    // [any-thread] Same parameters, same hash, and layer by layer the same bits. Threads that add across a growth may
    // spread the same keys otherwise. O(m).
    template <class OtherF>
    bool operator==(const scalable<OtherF>& other) const noexcept {
        const detail::layer_counts mine = chain().now();
        const detail::layer_counts theirs = other.chain().now();
        if (!(params() == other.params()) || !(hash() == other.hash()) || mine.all() != theirs.all())
            return false;
        for (std::uint32_t i = 0; i < mine.all(); ++i)
            if (!(chain().layer(mine, i).filter == other.chain().layer(theirs, i).filter)) return false;
        return true;
    }

    // ---- what it knows of itself -----------------------------------------------------------------------------------

    // [any-thread] The layers in use, oldest first; before them copies of merges, the latest first. O(m).
    std::vector<scalable_layer_report> layers() const {
        std::vector<scalable_layer_report> out;
        const detail::layer_counts now = chain().now();
        for (std::uint32_t i = 0; i < now.all(); ++i) {
            const layer_type& each = chain().layer(now, i);
            out.push_back({each.capacity, each.changes.total(), each.rate, each.filter.fill_ratio(),
                           each.filter.expected_fpr(), each.filter.size_bytes()});
        }
        return out;
    }
    // [any-thread]
    std::uint32_t layer_count() const noexcept { return chain().now().all(); }
    // [any-thread] The filter of a layer: 0 the oldest or, if layers were merged in, the latest copy. A merge shifts the
    // numbers. Precondition: i < layer_count().
    const F& layer(std::uint32_t i) const noexcept { return chain().layer(chain().now(), i).filter; }
    // [any-thread] The adds that changed a layer: the number of distinct keys, less those that were false positives when
    // they came (at most the promised rate of them).
    std::uint64_t changing_adds() const noexcept {
        std::uint64_t sum = 0;
        each_layer([&](const layer_type& each) { sum += each.changes.total(); });
        return sum;
    }

    // [immutable] What the whole promises, however far it grows.
    double promised_fpr() const noexcept { return params().rate; }
    // [any-thread] The false-positive rate now, from the bits as they are: that of at least one layer. O(m).
    double expected_fpr() const noexcept {
        double silent = 0; // log of the chance that no layer answers
        each_layer([&](const layer_type& each) { silent += std::log1p(-each.filter.expected_fpr()); });
        return -std::expm1(silent);
    }
    // [any-thread] Holds more keys than the rate allows, as where growth was refused: the rate is above it, and the fill of a
    // layer beyond what chance does to the keys it was made for (math::fill_limit). O(m).
    bool overfull(double rate) const {
        bool beyond = false;
        each_layer([&](const layer_type& each) {
            beyond = beyond || each.filter.fill_ratio() >
                                   math::fill_limit(each.filter.shape(), static_cast<double>(each.capacity));
        });
        return beyond && expected_fpr() > rate;
    }
    // [any-thread] The fraction of bits that are set, over all layers. O(m).
    double fill_ratio() const noexcept {
        double set = 0;
        double bits = 0;
        each_layer([&](const layer_type& each) {
            const auto size = static_cast<double>(each.filter.size_bits());
            set += each.filter.fill_ratio() * size;
            bits += size;
        });
        return set / bits;
    }
    // [any-thread] How many distinct keys were added, estimated from the fill of each layer. Infinite when all bits of one
    // are set. O(m).
    double approximate_size() const noexcept {
        double sum = 0;
        each_layer([&](const layer_type& each) { sum += each.filter.approximate_size(); });
        return sum;
    }
    // [any-thread] The exact expected rate with `keys` keys: the layers there are, filled in order, then those that
    // growth would make, each taking about 5 ms; the rest in the last where there can be no other.
    double fpr_at(std::uint64_t keys) const {
        double silent = 0;
        std::uint64_t left = keys;
        const auto fill = [&](const math::geometry& shape, std::uint64_t most) {
            const std::uint64_t here = std::min(left, most);
            left -= here;
            silent += std::log1p(-math::fpr(shape, static_cast<double>(here)));
        };
        const detail::layer_counts now = chain().now();
        for (std::uint32_t i = 0; i + 1 < now.all(); ++i)
            fill(chain().layer(now, i).filter.shape(), chain().layer(now, i).capacity);
        const layer_type& newest = chain().grown(now.grown - 1);
        math::geometry shape = newest.filter.shape();
        typename F::parameters last = newest.filter.params();
        detail::layer_budget budget{newest.capacity, newest.rate, newest.remaining};
        std::uint64_t largest = largest_capacity(now);
        std::uint64_t bytes = bytes_of(now);
        for (std::uint32_t i = now.all(); left > budget.capacity && i < layers_most; ++i) {
            const detail::layer_budget next = detail::next_layer(params(), largest, budget.remaining);
            const auto solved = parameters_after(params(), next, last, budget.capacity);
            if (!solved || !check_size(*solved, next.capacity, bytes)) break;
            bytes += F::size_bytes_of(*solved);
            fill(shape, budget.capacity);
            last = *solved;
            shape = layout(last).shape();
            budget = next;
            largest = detail::counted_capacity(next.capacity, shape.total_bits());
        }
        fill(shape, left);
        return -std::expm1(silent);
    }

    // [any-thread] Counts every layer, including one that is prepared but not yet in use.
    std::uint64_t size_bytes() const noexcept {
        const detail::layer_counts now = chain().now();
        std::uint64_t sum = bytes_of(now);
        if (const layer_type* const next = chain().parked(now.grown)) sum += next->filter.size_bytes();
        return sum;
    }

    // [immutable]
    const parameters& params() const noexcept { return held_->chosen; }
    std::string describe() const { return describe(params()); }
    const hash_spec& hash() const noexcept { return held_->spec; }

    // [exclusive] For host-supplied memory: the host has copied the block at `from` (an address to compare, which is not
    // touched) to another place. Returns whether it is one of this chain's.
    bool host_block_moved_to(const void* from, void* to) noexcept requires(words_type::writable) {
        const auto moved = [&](F& each) {
            if (each.memory().host_block() != from) return false;
            each.host_block_moved_to(to);
            return true;
        };
        for (std::uint32_t i = 0; layer_type* const each = chain().filled(i); ++i)
            if (moved(each->filter)) return true;
        for (std::uint32_t i = 0; i < chain().now().copies; ++i)
            if (moved(chain().copy(i).filter)) return true;
        return false;
    }

  private:
    friend struct detail::storage_access;

    // ---- for storage_access (detail/stored.h) ----------------------------------------------------------------------

    // [any-thread] The layers there are now, as layers() has them. Counts are read first and words later: adds that race
    // with a save may be in the file and not in its counts.
    detail::stored_form stored() const requires(has_kind) {
        const detail::layer_counts now = chain().now();
        detail::stored_form out{
            kind_id,
            layout_version,
            hash(),
            fields_type::begin(params(), chain().grown(now.grown - 1).remaining, now.all()),
            {}};
        for (std::uint32_t i = 0; i < now.all(); ++i) {
            const layer_type& each = chain().layer(now, i);
            fields_type::append(out.fields, layout::fields_of(each.filter.params()), each.capacity,
                                each.changes.total(), each.rate);
            out.segments.push_back(
                {each.filter.data(), each.filter.layout().word_count(), words_type::concurrent});
        }
        return out;
    }
    // [any-thread] Refuses fields that are no chain (invalid_argument, too_large).
    static result<void> check_stored_hash(const hash_spec& spec) requires(has_kind) {
        return detail::storage_access::check_hash<F>(spec);
    }
    static result<std::uint64_t> stored_words(std::span<const std::uint64_t> fields) requires(has_kind) {
        return fields_type::words(fields);
    }
    // [any-thread] A chain of empty layers of the stored parameters, to be filled through loading_segments().
    static result<scalable>
    for_loading(std::span<const std::uint64_t> fields, const hash_spec& spec,
                const memory_options& memory) requires(words_type::writable&& has_kind) {
        const auto words = stored_words(fields);
        if (!words) return words.error();
        if (const std::uint64_t bytes = *words * sizeof(std::uint64_t); bytes > memory_limit_bytes())
            return failure{error_code::too_large, "the layers need " + std::to_string(bytes) +
                                                      " bytes, above the memory limit of " +
                                                      std::to_string(memory_limit_bytes())};
        return from_fields(fields, spec, memory, [&](const auto& own) {
            return detail::storage_access::for_loading<F>(own, spec, memory);
        });
    }
    // [exclusive]
    std::vector<std::span<std::uint64_t>> loading_segments() requires(words_type::writable&& has_kind) {
        std::vector<std::span<std::uint64_t>> out;
        const detail::layer_counts now = chain().now();
        for (std::uint32_t i = 0; i < now.all(); ++i)
            out.push_back(detail::storage_access::segments(chain().layer(now, i).filter).front());
        return out;
    }
    // [any-thread] A view of layers that lie in one region, one after the other.
    static result<scalable> over_stored(region memory, std::span<const std::uint64_t> fields,
                                        const hash_spec& spec) requires(!words_type::writable && has_kind) {
        const auto words = stored_words(fields);
        if (!words) return words.error();
        if (memory.size_bytes() / sizeof(std::uint64_t) < *words)
            return failure{error_code::corrupt, std::string(kind_name) + " needs " + std::to_string(*words) +
                                                    " words, and there are " +
                                                    std::to_string(memory.size_bytes() / 8)};
        const auto* next = static_cast<const std::uint64_t*>(std::as_const(memory).data());
        auto out = from_fields(fields, spec, {}, [&](const auto& own) {
            const std::uint64_t count = *detail::storage_access::words<F>(own);
            const std::uint64_t* const first = std::exchange(next, next + count);
            return detail::storage_access::over<F>(region::borrow(first, count * sizeof(std::uint64_t)), own,
                                                   spec);
        });
        if (out) out->held_->mapped = std::move(memory);
        return out;
    }
    // What a layer may be is in the fields: nothing is left to check.
    result<void> check_loaded() const { return {}; }

    template <class OtherF>
    friend class scalable;

    struct state {
        state(const parameters& plan, const hash_spec& hashed, const memory_options& options)
            : chosen(plan), spec(hashed), memory(options) {}

        parameters chosen;
        hash_spec spec;
        memory_options memory;
        region mapped;                         // what a view of a file borrows from; freed after the layers
        detail::layer_chain<layer_type> chain; // read by every call
        std::mutex merging; // held by a union into or from this chain; taken before the others
        // Adds only try the next two; a union waits for both, so that nobody makes a layer while it takes from the budget.
        alignas(64) std::mutex preparing; // held by the thread that makes the next layer
        std::mutex helping;               // by another that does, because that one is late
    };

    scalable(const parameters& chosen, const hash_spec& spec, const memory_options& memory)
        : held_(std::make_unique<state>(chosen, spec, memory)) {}

    detail::layer_chain<layer_type>& chain() noexcept { return held_->chain; }
    const detail::layer_chain<layer_type>& chain() const noexcept { return held_->chain; }

    // Inlined into every add and query, and the copies kept out of it: 1 to 3 ns less than one loop over all. The copies are
    // counted behind the grown layers, which takes their count out of the way of a hit; later counts are only higher.
    [[gnu::always_inline]] bool any_has(std::uint32_t grown, std::uint64_t hash) const noexcept {
        std::uint32_t i = grown;
        do {
            if (chain().grown(--i).filter.may_contain(hash)) return true;
        } while (i != 0);
        const std::uint32_t copies = chain().now().copies;
        return copies != 0 && a_copy_has(copies, hash);
    }
    [[gnu::noinline]] bool a_copy_has(std::uint32_t copies, std::uint64_t hash) const noexcept {
        for (std::uint32_t i = 0; i < copies; ++i)
            if (chain().copy(i).filter.may_contain(hash)) return true;
        return false;
    }

    template <class Visit>
    void each_layer(Visit visit) const {
        const detail::layer_counts now = chain().now();
        for (std::uint32_t i = now.all(); i-- > 0;) visit(chain().layer(now, i));
    }

    static result<typename F::parameters> layer_parameters(const parameters& chosen,
                                                           const detail::layer_budget& budget) {
        const goal wanted{
            .keys = budget.capacity, .false_positive_rate = budget.rate, .prefer = chosen.prefer};
        if constexpr (requires { layout::solve_layer(wanted); })
            return layout::solve_layer(wanted);
        else
            return layout::solve(wanted);
    }

    // Of a layer that follows one with these parameters. Below 1M keys it has the form of its predecessor, unless that
    // is too small to have a sensible one: an exact search over all forms takes 5 ms, and would be worth 1 % of space.
    static result<typename F::parameters> parameters_after(const parameters& chosen,
                                                           const detail::layer_budget& budget,
                                                           const typename F::parameters& before,
                                                           std::uint64_t capacity_before) {
        constexpr std::uint64_t sensible = 4096;
        if (budget.capacity < layer_type::small_most && capacity_before >= sensible) {
            if (const auto quick = same_form(budget, before, capacity_before)) return *quick;
        }
        return layer_parameters(chosen, budget);
    }

    // The parameters `before` with another size, so that the exact rate holds: up to 1 % larger than
    // need be. Some evaluations of the rate, 0.1 ms. None where that takes more than 4 times the bits per key: another form
    // does better.
    static std::optional<typename F::parameters> same_form(const detail::layer_budget& budget,
                                                           const typename F::parameters& before,
                                                           std::uint64_t capacity_before) {
        const auto keys = static_cast<double>(budget.capacity);
        double size =
            static_cast<double>(layout::size_units(before)) * keys / static_cast<double>(capacity_before);
        const double most = std::min(4 * size, 0x1p44); // check() has the exact limit
        for (; size <= most; size = std::ceil(size * 1.01)) {
            const typename F::parameters chosen =
                layout::resized(before, foldable(static_cast<std::uint64_t>(std::ceil(size))));
            if (!F::check(chosen)) return std::nullopt;
            if (math::fpr(layout(chosen).shape(), keys) <= budget.rate) return chosen;
        }
        return std::nullopt;
    }
    // Rounded up by less than 0.1 % to a multiple of a power of two, at most 64.
    static std::uint64_t foldable(std::uint64_t size) noexcept {
        const std::uint64_t unit = std::clamp<std::uint64_t>(std::bit_floor(size / 1024), 1, 64);
        return (size + unit - 1) / unit * unit;
    }

    // A layer follows from what is there, so that a small hostile file, which may claim any rate that remains, reserves
    // little: by growth at most 16 times in keys, by this in bytes. Per key too where chains have files: 64 times the bytes
    // at each growth were 169 MiB after three, for 4 KiB and 145 adds. Honest layers of blocked_bloom take 67 bytes a key at
    // most, or a line; only next to the rate at which hashes collide, where bytes rise without end, do they meet a bound.
    static result<void> check_size(const typename F::parameters& next, std::uint64_t keys,
                                   std::uint64_t bytes_there) {
        constexpr std::uint64_t times_most = 64;
        constexpr std::uint64_t always_allowed = 1 << 20;
        constexpr std::uint64_t per_key_most = 256;
        const std::uint64_t bytes = F::size_bytes_of(next);
        if (bytes > times_most * bytes_there + always_allowed)
            return too_many_bytes(bytes,
                                  "64 times the " + std::to_string(bytes_there) + " of all layers there are");
        if (has_kind && bytes > per_key_most * keys)
            return too_many_bytes(bytes, "256 for each of " + std::to_string(keys) + " keys");
        return {};
    }
    static failure too_many_bytes(std::uint64_t bytes, const std::string& limit) {
        return {error_code::full, "it would take " + std::to_string(bytes) + " bytes, more than " + limit +
                                      "; build a new filter from the keys"};
    }

    static failure all_layers_used() {
        return {error_code::full, "the chain has all its " + std::to_string(layers_most) +
                                      " layers; build a new filter from the keys, made for more of them"};
    }

    // [exclusive]
    void append(F filter, std::uint64_t capacity, double rate, double remaining, std::uint64_t count) {
        auto made = std::make_unique<layer_type>(std::move(filter), capacity, rate, remaining);
        made->changes.set(count);
        chain().append(std::move(made));
    }

    std::uint64_t bytes_of(detail::layer_counts seen) const noexcept {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < seen.all(); ++i) sum += chain().layer(seen, i).filter.size_bytes();
        return sum;
    }
    // A parked layer counts if `seen` counts it.
    std::uint64_t largest_capacity(detail::layer_counts seen) const noexcept {
        std::uint64_t largest = 0;
        for (std::uint32_t i = 0; i < seen.all(); ++i) {
            const layer_type& each = chain().layer(seen, i);
            largest = std::max(largest, detail::counted_capacity(each.capacity, each.filter.size_bits()));
        }
        return largest;
    }

    template <class Make>
    static result<scalable> from_fields(std::span<const std::uint64_t> fields, const hash_spec& spec,
                                        const memory_options& memory, Make make) {
        scalable out(fields_type::parameters(fields), spec, memory);
        for (std::uint32_t i = 0; i < fields_type::layers(fields); ++i) {
            const auto each = fields_type::at(fields, i);
            auto filter = make(each.own);
            if (!filter) return filter.error();
            out.append(std::move(*filter), each.capacity, each.rate, fields_type::remaining(fields),
                       each.count);
        }
        return out;
    }

    // ---- batches ---------------------------------------------------------------------------------------------------

    std::size_t ask_run(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        if (detail::ordered_hashes::worth_it(hashes.size(), size_bytes()) && !on_a_host()) {
            if (const auto ordered = detail::ordered_hashes::of(hashes)) {
                std::array<bool, detail::missing_hashes::chunk> there;
                std::size_t first = 0;
                return in_chunks(ordered->hashes(), [&](std::span<const std::uint64_t> now) {
                    const std::size_t found = ask_chunk(now, std::span(there).first(now.size()));
                    for (std::size_t i = 0; i < now.size(); ++i)
                        answers[ordered->place(first + i)] = there[i];
                    first += now.size();
                    return found;
                });
            }
        }
        std::size_t first = 0;
        return in_chunks(hashes, [&](std::span<const std::uint64_t> now) {
            return ask_chunk(now, answers.subspan(std::exchange(first, first + now.size()), now.size()));
        });
    }

    bool on_a_host() const noexcept { return layer(0).memory().host_block() != nullptr; }

    // The sum of work(chunk) over chunks of the hashes.
    template <class Work>
    static std::size_t in_chunks(std::span<const std::uint64_t> hashes, Work work) noexcept {
        std::size_t sum = 0;
        for (std::size_t done = 0; done < hashes.size(); done += detail::missing_hashes::chunk)
            sum += work(hashes.subspan(done, std::min(detail::missing_hashes::chunk, hashes.size() - done)));
        return sum;
    }

    std::size_t ask_chunk(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        const detail::layer_counts now = chain().now();
        std::uint32_t left = now.all() - 1;
        std::size_t found = chain().layer(now, left).filter.may_contain(hashes, answers);
        if (left == 0 || found == hashes.size()) return found;
        detail::missing_hashes missing(hashes, answers.data());
        while (left-- > 0 && missing.size() != 0)
            found += missing.drop_found(chain().layer(now, left).filter, answers.data());
        return found;
    }

    // Finds what is missing, then adds it to the newest layer, no further than to the next count at which an add of
    // its own would look after growth.
    std::size_t add_chunk(std::span<const std::uint64_t> hashes, bool* answers) noexcept {
        detail::missing_hashes missing(hashes);
        const detail::layer_counts there = chain().now();
        for (std::uint32_t i = there.all(); i-- > 0 && missing.size() != 0;)
            missing.drop_found(chain().layer(there, i).filter, answers);
        std::size_t changed = 0;
        std::uint32_t size = there.grown;
        for (std::size_t done = 0; done < missing.size();) {
            layer_type& newest = chain().grown(size - 1);
            const auto left = missing.from(done);
            const std::uint64_t room = keys_to_next_look(size);
            const auto now = left.first(static_cast<std::size_t>(std::min<std::uint64_t>(room, left.size())));
            const std::size_t added = add_part(newest, missing, done, now, answers);
            done += now.size();
            if (added == 0) continue;
            changed += added;
            newest.changes.add(added);
            if (added < room) continue;
            grow_if_due(size);
            for (const std::uint32_t grown = chain().now().grown; size < grown; ++size)
                if (done < missing.size()) missing.drop_found(chain().grown(size - 1).filter, answers, done);
        }
        return changed;
    }

    static std::size_t add_part(layer_type& newest, const detail::missing_hashes& missing, std::size_t first,
                                std::span<const std::uint64_t> now, bool* answers) noexcept {
        if (answers == nullptr) return newest.filter.add_batch(now);
        bool there[detail::missing_hashes::chunk];
        const std::size_t added = newest.filter.test_and_add(now, there);
        for (std::size_t i = 0; i < now.size(); ++i) answers[missing.place(first + i)] = there[i];
        return added;
    }

    // At least 1.
    std::uint64_t keys_to_next_look(std::uint32_t size) const noexcept {
        const layer_type& newest = chain().grown(size - 1);
        const std::uint64_t total = newest.changes.total();
        const std::uint64_t look = chain().parked(size) != nullptr
                                       ? newest.capacity
                                       : newest.attempt_at.load(std::memory_order_relaxed);
        return look > total ? look - total : 1;
    }

    // ---- growth ----------------------------------------------------------------------------------------------------

    // Prepares the layer after `size` grown layers, and uses it, when the count says so.
    [[gnu::noinline]] void grow_if_due(std::uint32_t size) noexcept {
        layer_type& newest = chain().grown(size - 1);
        if (chain().parked(size) == nullptr) {
            const std::uint64_t total = newest.changes.total();
            if (const std::uint64_t then = newest.attempt_at.load(std::memory_order_relaxed); total < then)
                return newest.changes.look_at(then);
            prepare(size, false, total);
        }
        // Read after the layer is parked. A thread that passed the capacity while it was not may still be unseen here: its
        // next look, less than 1/128 of the capacity later, does it.
        const bool full = newest.changes.total() >= newest.capacity;
        const bool ready = chain().parked(size) != nullptr;
        if (full && ready) return chain().publish(size);
        newest.changes.look_at(ready ? newest.capacity : newest.attempt_at.load(std::memory_order_relaxed));
    }

    // Late: the newest layer is full already. Helping: it is, and the thread that holds `preparing` is still at it.
    enum class haste : std::uint8_t { none, late, helping };

    // For a newest layer that has `total` keys. Returns at once when another thread is at it, or where that is late two are,
    // or while a union takes from the budget: adds then go on into the newest layer, however long that takes.
    void prepare(std::uint32_t size, bool prefault, std::uint64_t total) noexcept {
        const std::uint64_t capacity = chain().grown(size - 1).capacity;
        std::unique_lock making(held_->preparing, std::try_to_lock);
        haste how = total >= capacity ? haste::late : haste::none;
        if (!making) {
            if (total < capacity + capacity / 16) return;
            making = std::unique_lock(held_->helping, std::try_to_lock);
            if (!making) return;
            how = haste::helping;
        }
        const bool mine = make_and_park(size, prefault, how);
        making.unlock();
        if (mine) solve_successor(size + 1);
    }

    // Returns whether this thread's layer is the one.
    bool make_and_park(std::uint32_t size, bool prefault, haste how) noexcept {
        if (chain().parked(size) != nullptr || chain().now().grown != size) return false;
        try {
            auto made = make_layer(size, prefault, how);
            if (made) return chain().park(size, std::move(*made));
            refuse(size, made.error());
        } catch (const std::bad_alloc&) { // of a message, a list of shapes, the layer's own record
            refuse(size, error_code::out_of_memory);
        }
        return false;
    }

    // Requires: `preparing` or `helping` is held, so that no union changes the budget or the number of copies.
    result<std::unique_ptr<layer_type>> make_layer(std::uint32_t size, bool prefault, haste how) {
        const detail::layer_counts before{size, chain().now().copies};
        if (before.all() >= layers_most) return all_layers_used();
        layer_type& newest = chain().grown(size - 1);
        const detail::layer_budget budget =
            detail::next_layer(params(), largest_capacity(before), newest.remaining);
        const auto solved = parameters_now(newest, budget, how);
        if (!solved) return no_layer(size, budget, solved.error());
        if (auto ok = check_size(*solved, budget.capacity, bytes_of(before)); !ok)
            return no_layer(size, budget, ok.error());
        memory_options memory = held_->memory;
        memory.prefault = memory.prefault && prefault;
        auto filter = F::create(*solved, {.hash = hash(), .memory = memory});
        if (!filter) return no_layer(size, budget, filter.error());
        auto made =
            std::make_unique<layer_type>(std::move(*filter), budget.capacity, budget.rate, budget.remaining);
        made->plan.store(detail::successor_plan::under_way, std::memory_order_relaxed); // prepare() does it
        return made;
    }

    // The quick way is for a layer that is full while the thread that made it still plans its successor. A thread that
    // is alone never takes it, so that a copy or a loaded chain grows by the same layers as the original. A thread that
    // helps takes it unless the plan is known. The thread that holds `preparing` remembers its plan, so that a retry after a
    // refusal is quick. A helper may be reading the old one: without `helping` for that moment it remembers nothing.
    result<typename F::parameters> parameters_now(layer_type& newest, const detail::layer_budget& budget,
                                                  haste how) {
        const detail::successor_plan plan = newest.plan.load(std::memory_order_acquire);
        if (plan == detail::successor_plan::known && newest.successor_budget == budget)
            return newest.successor;
        if (how == haste::helping || (how == haste::late && plan == detail::successor_plan::under_way)) {
            if (const auto quick = same_form(budget, newest.filter.params(), newest.capacity)) return *quick;
        }
        auto planned = parameters_after(params(), budget, newest.filter.params(), newest.capacity);
        if (planned && plan != detail::successor_plan::under_way && how != haste::helping) {
            const std::unique_lock no_helper(held_->helping, std::try_to_lock);
            if (no_helper) remember_plan(newest, *planned, budget);
        }
        return planned;
    }

    static void remember_plan(layer_type& last, const typename F::parameters& planned,
                              const detail::layer_budget& budget) noexcept {
        last.successor = planned;
        last.successor_budget = budget;
        last.plan.store(detail::successor_plan::known, std::memory_order_release);
    }

    // Plans the layer after the first `size`, so that to prepare it takes the allocation only. For the thread that made
    // the last of them; what it cannot plan, or a union makes untrue, is planned, or refused, when it is needed.
    void solve_successor(std::uint32_t size) noexcept {
        if (size >= layers_most) return;            // nothing follows
        layer_type& last = chain().grown(size - 1); // in use, or parked
        try {
            const detail::layer_budget budget =
                detail::next_layer(params(), largest_capacity({size, chain().now().copies}), last.remaining);
            const auto planned = parameters_after(params(), budget, last.filter.params(), last.capacity);
            if (planned) return remember_plan(last, *planned, budget);
        } catch (const std::bad_alloc&) {
        }
        last.plan.store(detail::successor_plan::none, std::memory_order_release);
    }

    static failure no_layer(std::uint32_t size, const detail::layer_budget& budget, const failure& why) {
        return {why.code, "no layer " + std::to_string(size) + " for " + std::to_string(budget.capacity) +
                              " keys at a rate of " + detail::scientific(budget.rate) + ": " + why.message};
    }

    void refuse(std::uint32_t size, const failure& why) {
        refuse(size, why.code);
        std::atomic<const failure*>& place = chain().grown(size - 1).refused;
        if (place.load(std::memory_order_relaxed) != nullptr) return;
        auto text = std::make_unique<const failure>(why);
        const failure* none = nullptr;
        if (place.compare_exchange_strong(none, text.get(), std::memory_order_acq_rel))
            static_cast<void>(text.release());
    }
    void refuse(std::uint32_t size, error_code code) noexcept {
        layer_type& newest = chain().grown(size - 1);
        newest.attempt_at.store(newest.changes.total() + std::max<std::uint64_t>(1, newest.capacity / 32),
                                std::memory_order_relaxed);
        newest.refused_code.store(code, std::memory_order_relaxed);
    }

    std::optional<failure> refusal_after(std::uint32_t size) const {
        if (chain().parked(size) != nullptr) return std::nullopt;
        const layer_type& newest = chain().grown(size - 1);
        if (const failure* const why = newest.refused.load(std::memory_order_acquire)) return *why;
        const error_code code = newest.refused_code.load(std::memory_order_relaxed);
        if (code == error_code{}) return std::nullopt;
        return failure{code, "no memory"}; // to describe or make the layer
    }

    // ---- copies and unions -----------------------------------------------------------------------------------------

    template <class OtherWords>
    result<with_words<OtherWords>> copy(const memory_options& memory, bool folding) const {
        with_words<OtherWords> out(params(), hash(), memory);
        const detail::layer_counts now = chain().now();
        for (std::uint32_t i = 0; i < now.all(); ++i) {
            const layer_type& each = chain().layer(now, i);
            const std::uint64_t count = each.changes.total();
            if (folding && i + 1 == now.all()) {
                auto folded = fold_layer<OtherWords>(each, count, memory);
                if (!folded) return folded.error();
                if (*folded) {
                    const std::uint64_t capacity = math::capacity((*folded)->shape(), each.rate);
                    out.append(std::move(**folded), capacity, each.rate, each.remaining, count);
                    continue;
                }
            }
            auto same = each.filter.template clone<OtherWords>(memory);
            if (!same) return same.error();
            out.append(std::move(*same), each.capacity, each.rate, each.remaining, count);
        }
        return out;
    }

    // The most folded copy that will do; none when none will.
    template <class OtherWords>
    static result<std::optional<typename F::template with_words<OtherWords>>>
    fold_layer(const layer_type& from, std::uint64_t count, const memory_options& memory) {
        using folded_filter = typename F::template with_words<OtherWords>;
        constexpr std::uint64_t factor_most = 64;
        for (std::uint64_t factor = factor_most; factor > 1; --factor) {
            const auto small = from.filter.layout().folded(factor);
            if (!small) continue;
            const std::uint64_t capacity = math::capacity(layout(*small).shape(), from.rate);
            if (capacity == 0 || count > capacity - capacity / 8) continue;
            auto folded = from.filter.template fold<OtherWords>(factor, memory);
            if (!folded) return folded.error();
            if (folded->expected_fpr() <= from.rate) return std::optional<folded_filter>(std::move(*folded));
        }
        return std::optional<folded_filter>();
    }

    // What a union will do with each layer of the other chain.
    template <class OtherLayer>
    struct union_plan {
        std::vector<std::pair<layer_type*, const OtherLayer*>> ored;
        std::vector<const OtherLayer*> copied;
        double copied_rate = 0;
        double silent = 0; // log of the chance that no layer answers, copies apart
        // The expected rate of the union.
        double after(double copies_silent) const noexcept { return -std::expm1(silent + copies_silent); }
    };

    template <class OtherF, class OtherLayer = detail::scalable_layer<OtherF>>
    result<union_plan<OtherLayer>> plan_union(const scalable<OtherF>& other, double limit) {
        union_plan<OtherLayer> out;
        // Theirs first: where the other chain is this one, or a view of it, none of its layers is missing in `mine`.
        const detail::layer_counts theirs = other.chain().now();
        const detail::layer_counts mine = chain().now();
        std::vector<double> rates(mine.all()); // of own layers, after
        std::vector<bool> taken(mine.all());
        for (std::uint32_t i = 0; i < mine.all(); ++i)
            rates[i] = chain().layer(mine, i).filter.expected_fpr();
        double copies_silent = 0;
        for (std::uint32_t i = 0; i < theirs.all(); ++i) {
            const OtherLayer& layer = other.chain().layer(theirs, i);
            const OtherF& from = layer.filter;
            if (is_own(mine, from.data())) continue; // the chain itself, or a view of it
            const double rate = from.expected_fpr();
            if (rate == 0 && from.fill_ratio() == 0) continue;
            bool done = false;
            const auto try_or = [&](std::uint32_t at) {
                layer_type& into = chain().layer(mine, at);
                if (done || taken[at] || !(into.filter.params() == from.params())) return;
                const double both =
                    detail::answer_rate(into.filter.shape(), {into.filter.data(), from.data()});
                if (both > std::max(into.rate, rates[at]))
                    return; // a full layer may be above its promise by chance
                done = taken[at] = true;
                rates[at] = both;
                out.ored.emplace_back(&into, &layer);
            };
            if (i < mine.all()) try_or(i);
            for (std::uint32_t at = 0; at < mine.all(); ++at) try_or(at);
            if (done) continue;
            out.copied.push_back(&layer);
            out.copied_rate += rate;
            copies_silent += std::log1p(-rate);
        }
        for (const double rate : rates) out.silent += std::log1p(-rate);
        if (auto ok = check_room(out.copied.size(), out.copied_rate); !ok) return ok.error();
        if (auto ok = detail::check_union_rate(out.after(copies_silent), limit); !ok) return ok.error();
        return out;
    }

    bool is_own(detail::layer_counts now, const std::uint64_t* words) const noexcept {
        for (std::uint32_t i = 0; i < now.all(); ++i)
            if (chain().layer(now, i).filter.data() == words) return true;
        return false;
    }

    // The layer that the next one's budget comes from: the parked one, or else the newest.
    layer_type& last_filled(std::uint32_t grown) noexcept {
        layer_type* const parked = chain().filled(grown);
        return parked != nullptr ? *parked : chain().grown(grown - 1);
    }

    // Whether there is room for so many copies at this rate. Lasts while `preparing` and `helping` are held.
    result<void> check_room(std::size_t copies, double rate) {
        if (copies == 0) return {};
        const detail::layer_counts now = chain().now();
        const double remaining = last_filled(now.grown).remaining;
        if (rate > remaining / 2)
            return failure{error_code::full,
                           std::to_string(copies) +
                               " of the other chain's layers would have to be copied, at a rate of " +
                               detail::scientific(rate) + ", above half of the " +
                               detail::scientific(remaining) + " that remains of the promised " +
                               detail::scientific(promised_fpr()) +
                               "; build a new filter from the keys of both"};
        const std::size_t all = now.all() + copies + (chain().parked(now.grown) != nullptr ? 1 : 0);
        if (all > layers_most)
            return failure{error_code::full, "the union would have " + std::to_string(all) +
                                                 " layers, above the limit of 64; build a new filter from "
                                                 "the keys of both"};
        return {};
    }

    template <class OtherF>
    result<double> merge_below(const scalable<OtherF>& other, double limit) {
        if (!(params() == other.params())) return detail::unlike_parameters(describe(), other.describe());
        if (auto ok = check_same_hash(hash(), other.hash()); !ok) return ok.error();
        {
            std::unique_lock mine(held_->merging, std::defer_lock);
            std::unique_lock theirs(other.held_->merging, std::defer_lock);
            if (&held_->merging == &other.held_->merging)
                mine.lock();
            else
                std::lock(mine, theirs);
            auto plan = plan_union(other, limit);
            if (!plan) return plan.error();
            auto ok = copy_layers(*plan, limit); // all that can fail is in here, and changes nothing then
            if (!ok) return ok.error();
            for (const auto& [into, from] : plan->ored) or_layer(*into, *from);
        }
        grow_if_due(chain().now().grown);
        return expected_fpr();
    }

    // Copies and publishes the layers that are not ORed, all or none. Requires: `merging` is held.
    template <class Plan>
    result<void> copy_layers(const Plan& plan, double limit) {
        if (plan.copied.empty()) return {};
        std::vector<std::unique_ptr<layer_type>> copies;
        double sum = 0;
        double silent = 0;
        for (const auto* from : plan.copied) {
            const std::uint64_t count = from->changes.total();
            auto filter = from->filter.template clone<words_type>(held_->memory);
            if (!filter) return filter.error();
            // Of the copy: the other chain may have got keys since the plan. A part of one key alone may have rate 0.
            const double rate = std::max(filter->expected_fpr(), std::numeric_limits<double>::min());
            const std::uint64_t capacity = std::clamp<std::uint64_t>(math::capacity(filter->shape(), rate), 1,
                                                                     detail::scalable_keys_most);
            copies.push_back(std::make_unique<layer_type>(std::move(*filter), capacity, rate, 0));
            copies.back()->changes.set(count);
            sum += rate;
            silent += std::log1p(-rate);
        }
        if (auto ok = detail::check_union_rate(plan.after(silent), limit); !ok) return ok;
        const std::scoped_lock no_growth(held_->preparing, held_->helping);
        if (auto ok = check_room(copies.size(), sum); !ok) return ok;
        // Before the copies are published: a chain that is saved at any moment has spent no more than its promise. What
        // is parked may be in use by now, or be the newest layer at any moment: both pay.
        const std::uint32_t grown = chain().now().grown;
        layer_type& newest = chain().grown(grown - 1);
        layer_type& last = last_filled(grown);
        newest.remaining.store(newest.remaining - sum, std::memory_order_relaxed);
        if (&last != &newest) last.remaining.store(last.remaining - sum, std::memory_order_relaxed);
        chain().publish_copies(copies);
        return {};
    }

    // The count goes up only, so that no thread ever sees it below a growth that it was the reason for; it is too high by
    // at most the adds that race with the scan.
    template <class OtherLayer>
    static void or_layer(layer_type& into, const OtherLayer& from) noexcept {
        const std::uint64_t before = into.changes.total();
        static_cast<void>(into.filter.merge(from.filter)); // of equal parameters and hash: it cannot fail
        const auto after = static_cast<std::uint64_t>(
            std::min(into.filter.approximate_size(), static_cast<double>(detail::scalable_keys_most)));
        if (after > before) into.changes.add(after - before);
    }

    std::unique_ptr<state> held_;
};

template <class Words>
using basic_scalable_bloom = scalable<basic_blocked_bloom<Words>>;
using plain_scalable_bloom = basic_scalable_bloom<plain_words>;
using atomic_scalable_bloom = basic_scalable_bloom<atomic_words>;
using scalable_bloom_view = basic_scalable_bloom<const_words>;

} // namespace bouncer
