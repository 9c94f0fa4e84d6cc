// keyed<F, Hasher>: a filter of real keys. F sees 64-bit hashes only; this hashes strings, integers, byte ranges and
// fixed arrays (and whatever the user's own hasher takes) on the way in, with no allocation and no virtual call.
//
// Thread safety: exactly F's. The hasher is immutable.
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/hash.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <string>
#include <utility>

namespace bouncer {

namespace detail {

// Hashes a batch lies in before the filter sees them: 8 KiB of stack, long enough to fill the prefetch pipeline.
inline constexpr std::size_t keyed_chunk = 1024;

// A batch of keys for a hasher: a vector, array or span of keys. Contiguous, so that reaching a key cannot throw.
template <class Keys, class Hasher>
concept key_batch = std::ranges::contiguous_range<const Keys> && std::ranges::sized_range<const Keys> &&
    hasher_for<Hasher, std::ranges::range_value_t<const Keys>>;

// What keyed<F> hands on only where F has it.
template <class F>
concept publishing = requires(F& f, std::uint64_t hash) {
    f.add_release(hash);
};
template <class F>
concept bulk_buildable = requires(F& f, std::span<const std::uint64_t> hashes) {
    f.add_all(hashes, 1u);
};
template <class F, class OtherF>
concept mergeable_with = requires(F& f, const OtherF& other) {
    f.merge(other);
};

} // namespace detail

template <class F, class Hasher = typename F::default_hasher>
class keyed {
  public:
    using filter_type = F;
    using hasher_type = Hasher;

    // [any-thread] An empty filter for a goal; F::parameters for explicit ones.
    static result<keyed> create(const goal& wanted, const Hasher& hasher = {},
                                const memory_options& memory = {}) {
        return made(F::create(wanted, {.hash = spec_of(hasher), .memory = memory}), hasher);
    }
    static result<keyed> create(const typename F::parameters& chosen, const Hasher& hasher = {},
                                const memory_options& memory = {}) {
        return made(F::create(chosen, {.hash = spec_of(hasher), .memory = memory}), hasher);
    }

    // [any-thread] A static filter of all these keys; see built_filter::build. options.hash is the hasher's. Needs 8 bytes per
    // key for the hashes besides what F needs.
    template <detail::key_batch<Hasher> Keys>
    requires buildable<F>
    static result<keyed> build(const Keys& keys, const goal& wanted, const Hasher& hasher = {},
                               const build_options& options = {}) {
        return detail::guarded([&]() -> result<keyed> {
            auto hashes = hashes_of(hasher, keys, options.threads);
            if (!hashes) return hashes.error();
            build_options chosen = options;
            chosen.hash = spec_of(hasher);
            return made(F::build(std::span<const std::uint64_t>(hashes->get(), std::ranges::size(keys)),
                                 wanted, chosen),
                        hasher);
        });
    }
    // [any-thread] An exact set of the listed keys among these and the others.
    template <detail::key_batch<Hasher> Keys>
    requires buildable_exactly<F>
    static result<keyed> build(const Keys& listed, const Keys& others, const Hasher& hasher = {},
                               const build_options& options = {}) {
        return detail::guarded([&]() -> result<keyed> {
            auto inside = hashes_of(hasher, listed, options.threads);
            if (!inside) return inside.error();
            auto outside = hashes_of(hasher, others, options.threads);
            if (!outside) return outside.error();
            build_options chosen = options;
            chosen.hash = spec_of(hasher);
            return made(F::build(std::span<const std::uint64_t>(inside->get(), std::ranges::size(listed)),
                                 std::span<const std::uint64_t>(outside->get(), std::ranges::size(others)),
                                 chosen),
                        hasher);
        });
    }

    // [any-thread] Keys for a filter that exists. Refuses a hasher that is not the one the filter was made with:
    // wrong_key when only the secret key differs, mismatch otherwise.
    static result<keyed> wrap(F filter, const Hasher& hasher = {}) {
        if (auto ok = check_same_hash(filter.hash(), spec_of(hasher)); !ok) return ok.error();
        return keyed(std::move(filter), hasher);
    }

    // ---- one key: F's methods of the same name, with F's contracts ------------------------------------------------

    // [any-thread] (plain: [exclusive])
    template <class Key>
    requires hasher_for<Hasher, Key> && incremental<F>
    [[gnu::always_inline]] bool add(const Key& key) noexcept { return filter_.add(hash_of(key)); }

    // [any-thread]
    template <class Key>
    requires hasher_for<Hasher, Key>
    [[gnu::always_inline]] bool may_contain(const Key& key) const noexcept {
        return filter_.may_contain(hash_of(key));
    }

    // [any-thread] (plain: [exclusive])
    template <class Key>
    requires hasher_for<Hasher, Key> && incremental<F>
    [[gnu::always_inline]] bool test_and_add(const Key& key) noexcept {
        return filter_.test_and_add(hash_of(key));
    }

    // [any-thread] (plain: [exclusive]) Where F can remove; mind remove's precondition there.
    template <class Key>
    requires hasher_for<Hasher, Key> && deletable<F>
    void remove(const Key& key) noexcept { filter_.remove(hash_of(key)); }
    template <class Key>
    requires hasher_for<Hasher, Key> && deletable<F>
    bool try_remove(const Key& key) noexcept { return filter_.try_remove(hash_of(key)); }
    // [any-thread] How often the key is there, at least.
    template <class Key>
    requires hasher_for<Hasher, Key> && deletable<F> std::uint64_t count(const Key& key)
    const noexcept { return filter_.count(hash_of(key)); }

    // [any-thread] With the edge that the relaxed forms lack; see F.
    template <class Key>
    requires hasher_for<Hasher, Key> && detail::publishing<F>
    void add_release(const Key& key) noexcept { filter_.add_release(hash_of(key)); }
    template <class Key>
    requires hasher_for<Hasher, Key> && detail::publishing<F>
    bool may_contain_acquire(const Key& key) const noexcept {
        return filter_.may_contain_acquire(hash_of(key));
    }

    // [immutable] The 64 bits that stand for this key in the filter.
    template <class Key>
    requires hasher_for<Hasher, Key> std::uint64_t hash_of(const Key& key)
    const noexcept { return hash_key(hasher_, key); }

    // ---- batches: keys in a vector, array, span, …; hashed in chunks, then F's batch ------------------------------

    // [any-thread] answers[i] = may_contain(keys[i]); returns how many are true. Works on the shorter of the two.
    template <detail::key_batch<Hasher> Keys>
    std::size_t may_contain(const Keys& keys, std::span<bool> answers) const noexcept {
        return in_chunks(keys, answers.size(), [&](std::size_t first, std::span<const std::uint64_t> hashes) {
            return filter_.may_contain(hashes, answers.subspan(first, hashes.size()));
        });
    }

    // [any-thread] (plain: [exclusive]) Adds all; returns how many adds saw a zero bit.
    template <detail::key_batch<Hasher> Keys>
    requires incremental<F> std::size_t add_batch(const Keys& keys)
    noexcept {
        return in_chunks(
            keys, std::ranges::size(keys),
            [&](std::size_t, std::span<const std::uint64_t> hashes) { return filter_.add_batch(hashes); });
    }

    // [any-thread] (plain: [exclusive]) answers[i] = test_and_add(keys[i]); returns how many were new.
    template <detail::key_batch<Hasher> Keys>
    requires incremental<F> std::size_t test_and_add(const Keys& keys, std::span<bool> answers)
    noexcept {
        return in_chunks(keys, answers.size(), [&](std::size_t first, std::span<const std::uint64_t> hashes) {
            return filter_.test_and_add(hashes, answers.subspan(first, hashes.size()));
        });
    }

    // [any-thread] (plain: [exclusive]) Adds all on `threads` threads (0: one per core); see F. Needs 8 bytes per key
    // for the hashes meanwhile; out_of_memory, and nothing added, without them.
    template <detail::key_batch<Hasher> Keys>
    requires detail::bulk_buildable<F> result<void> add_all(const Keys& keys, unsigned threads = 0) {
        auto hashes = hashes_of(hasher_, keys, threads);
        if (!hashes) return hashes.error();
        filter_.add_all(std::span<const std::uint64_t>(hashes->get(), std::ranges::size(keys)), threads);
        return {};
    }

    // ---- the whole filter ------------------------------------------------------------------------------------------

    // [any-thread] (plain: [exclusive]) The union; see F.
    template <class OtherF>
    requires detail::mergeable_with<F, OtherF> result<double> merge(const keyed<OtherF, Hasher>& other) {
        return filter_.merge(other.filter());
    }
    template <class OtherF>
    requires detail::mergeable_with<F, OtherF> result<double>
    merge_if_within(const keyed<OtherF, Hasher>& other, double rate) {
        return filter_.merge_if_within(other.filter(), rate);
    }

    // [exclusive]
    void clear() noexcept requires incremental<F> { filter_.clear(); }

    // [any-thread] (plain: [exclusive]) Where F grows; see F.
    result<void> prepare_growth() requires requires(F& f) { f.prepare_growth(); }
    { return filter_.prepare_growth(); }

    // [any-thread] (plain: [exclusive]) Where F forgets by steps; see F.
    result<void> rotate_to(std::uint64_t epoch) requires rotating<F> { return filter_.rotate_to(epoch); }
    std::uint64_t epoch() const noexcept requires rotating<F> { return filter_.epoch(); }

    // [any-thread] Everything else F knows: fill_ratio, approximate_size, expected_fpr, …; and what changes it by
    // hash.
    const F& filter() const noexcept { return filter_; }
    F& filter() noexcept { return filter_; }

    // [immutable]
    const Hasher& hasher() const noexcept { return hasher_; }
    hash_spec hash() const noexcept { return filter_.hash(); }
    std::uint64_t size_bytes() const noexcept { return filter_.size_bytes(); }

    // [any-thread] Same hash, same parameters, same bits. O(m).
    template <class OtherF>
    bool operator==(const keyed<OtherF, Hasher>& other) const noexcept {
        return filter_ == other.filter();
    }

  private:
    keyed(F filter, const Hasher& hasher) noexcept : filter_(std::move(filter)), hasher_(hasher) {}

    static result<keyed> made(result<F> filter, const Hasher& hasher) {
        if (!filter) return filter.error();
        return keyed(std::move(*filter), hasher);
    }

    template <class Keys>
    static result<std::unique_ptr<std::uint64_t[]>> hashes_of(const Hasher& hasher, const Keys& keys,
                                                              unsigned threads) {
        const auto all = std::span(std::ranges::data(keys), std::ranges::size(keys));
        std::unique_ptr<std::uint64_t[]> hashes(new (std::nothrow) std::uint64_t[all.size()]);
        if (!hashes) return no_memory_failure("no memory for the hashes of the keys");
        detail::run_parallel(detail::thread_count(threads, all.size()), [&](unsigned part, unsigned parts) {
            const std::size_t first = all.size() / parts * part;
            const std::size_t last = part + 1 == parts ? all.size() : all.size() / parts * (part + 1);
            hash_batch(hasher, all.subspan(first, last - first),
                       std::span(hashes.get() + first, last - first));
        });
        return hashes;
    }

    template <class Keys, class Work>
    std::size_t in_chunks(const Keys& keys, std::size_t most, Work work) const noexcept {
        const auto all =
            std::span(std::ranges::data(keys), std::min<std::size_t>(std::ranges::size(keys), most));
        std::array<std::uint64_t, detail::keyed_chunk> hashes;
        std::size_t sum = 0;
        for (std::size_t first = 0; first < all.size(); first += hashes.size()) {
            const auto chunk = all.subspan(first, std::min(hashes.size(), all.size() - first));
            hash_batch(hasher_, chunk, hashes);
            sum += work(first, std::span<const std::uint64_t>(hashes.data(), chunk.size()));
        }
        return sum;
    }

    F filter_;
    [[no_unique_address]] Hasher hasher_;
};

} // namespace bouncer
