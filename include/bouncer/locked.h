// locked<F, Mutex>: any filter behind one lock. The honest baseline: correct for every F from any thread, and as slow
// as its lock. With std::shared_mutex queries share the lock; with std::mutex they do not.
//
// Thread safety: every method is [any-thread] and locks; a batch takes the lock once. With no_lock it is what F is, and
// clear is [exclusive].
#pragma once

#include <bouncer/bit_filter.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <type_traits>
#include <utility>

namespace bouncer {

// A lock that does nothing, for filters that need none.
struct no_lock {
    // [any-thread]
    void lock() noexcept {}
    bool try_lock() noexcept { return true; }
    void unlock() noexcept {}
};

namespace detail {

inline constexpr std::size_t cache_line_bytes = 64;

template <class Mutex>
auto lock_to_read(Mutex& mutex) {
    if constexpr (requires { mutex.lock_shared(); })
        return std::shared_lock(mutex);
    else
        return std::unique_lock(mutex);
}

} // namespace detail

template <class F, class Mutex = std::mutex>
class locked {
  public:
    using filter_type = F;
    using parameters = typename F::parameters;
    using default_hasher = typename F::default_hasher;
    static constexpr concurrency_level concurrency =
        std::is_same_v<Mutex, no_lock> ? F::concurrency : concurrency_level::locked;
    static constexpr bool no_false_negatives = F::no_false_negatives;

    // [any-thread]
    static result<locked> create(const goal& wanted, const filter_options& options = {}) {
        return made(F::create(wanted, options));
    }
    static result<locked> create(const parameters& chosen, const filter_options& options = {}) {
        return made(F::create(chosen, options));
    }

    // [any-thread] F's methods of the same name, under the lock. test_and_add tells exactly one thread "new" (none
    // if other keys' bits covered the key; with no_lock, whom F tells).
    bool add(std::uint64_t hash) noexcept {
        return writing([&](F& f) { return f.add(hash); });
    }
    bool may_contain(std::uint64_t hash) const noexcept {
        return reading([&](const F& f) { return f.may_contain(hash); });
    }
    bool test_and_add(std::uint64_t hash) noexcept {
        return writing([&](F& f) { return f.test_and_add(hash); });
    }
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        return reading([&](const F& f) { return f.may_contain(hashes, answers); });
    }
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept {
        return writing([&](F& f) { return f.add_batch(hashes); });
    }
    std::size_t test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) noexcept {
        return writing([&](F& f) { return f.test_and_add(hashes, answers); });
    }
    // [any-thread] (no_lock: [exclusive]) O(m).
    void clear() noexcept {
        writing([&](F& f) { return f.clear(), true; });
    }

    // [any-thread] work(const F&) under the lock, shared where the mutex can be; for everything F reports.
    template <class Work>
    auto reading(Work work) const {
        const auto held = detail::lock_to_read(state_->mutex);
        return work(std::as_const(state_->filter));
    }
    // [any-thread] work(F&) under the exclusive lock.
    template <class Work>
    auto writing(Work work) {
        const std::unique_lock held(state_->mutex);
        return work(state_->filter);
    }

    // [any-thread] The union, as F's. Locks both without deadlock, so two filters may merge crosswise. With itself it locks
    // once, and is F's merge with itself: bits stay as they are, counters double.
    result<double> merge(const locked& other) {
        return with_both(other, [](F& mine, const F& theirs) { return mine.merge(theirs); });
    }
    result<double> merge_if_within(const locked& other, double rate) {
        return with_both(other,
                         [rate](F& mine, const F& theirs) { return mine.merge_if_within(theirs, rate); });
    }

    // [any-thread] Same parameters, same hash, same bits. O(m).
    bool operator==(const locked& other) const {
        return with_both(other, [](const F& mine, const F& theirs) { return mine == theirs; });
    }

    // [immutable]
    std::uint64_t size_bytes() const noexcept { return state_->filter.size_bytes(); }
    hash_spec hash() const noexcept { return state_->filter.hash(); }

  private:
    // On cache lines of its own: neighbours in an array of these do not slow each other.
    struct alignas(detail::cache_line_bytes) state {
        explicit state(F f) noexcept : filter(std::move(f)) {}
        mutable Mutex mutex;
        F filter;
    };

    template <class Work>
    auto with_both(const locked& other, Work work) const {
        if (state_ == other.state_) {
            const std::unique_lock held(state_->mutex);
            return work(state_->filter, state_->filter);
        }
        const std::scoped_lock held(state_->mutex, other.state_->mutex);
        return work(state_->filter, other.state_->filter);
    }

    explicit locked(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}

    static result<locked> made(result<F> filter) {
        if (!filter) return filter.error();
        return detail::guarded(
            [&]() -> result<locked> { return locked(std::make_unique<state>(std::move(*filter))); });
    }

    std::unique_ptr<state> state_;
};

} // namespace bouncer
