// hot<F>: a filter that is replaced while it is in use. Queries take the current filter with no lock, no fence and no
// reference count; swap() publishes another with one store, and the old one is freed after its last reader has left.
// F is a filter or a keyed<F>; a kind that is only asked (a view, a static filter) may be hot too. docs/lifecycle.md
//
// Thread safety: every method is [any-thread] where F's own method of that name is, and lock-free (F's promise at
// best); swap and what looks after retired versions are [any-thread] and locked: writers wait for each other, readers
// for nobody.
//   1. There is always exactly one current version {serving, shadow}; a query asks serving, an add writes both.
//   2. A call sees one version from begin to end. Calls that happen-after a swap see that version or a later one.
//   3. A version is freed when it was replaced and no handle or call uses it; never earlier, however long that is.
//   4. Two filters are never merged: what was added to the old one only is gone with it. To keep keys, rebuild
//      (rebuilder.h), whose shadow gets every add as well.
//   5. Of filters that forget by steps: epochs never go back, and the shadow is at the epoch of the serving filter, or for
//      the time of a rotation ahead of it. So no key is gone from the shadow before the serving filter would lose it.
// verification/hot_guard.pml checks 3.
// The read side costs two loads and two stores to a line of the thread's own: 1.5 to 2 ns at 1M keys, up to 2.6 at 10M; the writer pays with
// membarrier. Where that is missing (or BOUNCER_MEMBARRIER=off) a query has one locked instruction, 7 to 8 ns.
// In a child after fork() what other threads of the parent held stays held: the child must not swap or rotate. A thread's
// first query, and handles nested deeper than any before, need a record of some hundred bytes and wait until there is memory
// for it. Should the system refuse membarrier later on, replaced filters stay in memory: see wait_for_readers.
#pragma once

#include <bouncer/detail/hot_guard.h>
#include <bouncer/detail/hot_publisher.h>
#include <bouncer/detail/hot_version.h>
#include <bouncer/hash.h>
#include <bouncer/result.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bouncer {

template <class F>
class rebuilder;
template <class F>
class rebuild_sink;

template <class F>
class hot {
    using version = detail::hot_version_of<F>;
    using shadow = detail::hot_shadow<F>;
    static constexpr bool rotates = requires(F & f, const F& asked) { f.rotate_to(asked.epoch()); };

  public:
    using filter_type = F;

    // The current filter, as long as this lives: a snapshot, which later swaps do not change. Keep it for one piece of
    // work: it keeps a replaced filter in memory (holders() finds who does). It cannot be copied, moved or
    // allocated; several may nest, to any depth. Never across a co_await or into another thread.
    class handle {
      public:
        handle(const handle&) = delete;
        handle& operator=(const handle&) = delete;
        static void* operator new(std::size_t) = delete;
        static void* operator new[](std::size_t) = delete;

        // [any-thread] Of a handle with a name: a reference from a temporary one would outlive it.
        const F& operator*() const& noexcept { return *guard_.as<F>().serving; }
        const F& operator*() const&& = delete;
        const F* operator->() const noexcept { return guard_.as<F>().serving; }

      private:
        friend class hot;
        explicit handle(const std::atomic<detail::hot_version*>& current) noexcept
            : guard_(current, detail::hot_use::ask) {}

        detail::hot_guard guard_;
    };

    // [any-thread] Serves `first`. The constructor throws std::bad_alloc, create says out_of_memory; it takes what
    // F::create returns: hot<F>::create(F::create({.keys = …})).
    explicit hot(F first) : publisher_(serve_first(std::make_shared<F>(std::move(first)))) {}
    static result<hot> create(result<F> first) {
        if (!first) return first.error();
        return detail::guarded([&]() -> result<hot> { return hot(std::move(*first)); });
    }

    // [exclusive] No handle, no call and no rebuilder of `other`; it can only be destroyed after.
    hot(hot&& other) noexcept : publisher_(std::move(other.publisher_)) {}

    // ---- asking ---------------------------------------------------------------------------------------------------

    // [any-thread]
    handle read() const noexcept { return handle(publisher_.current()); }

    // [any-thread] F's methods of the same name, on the current filter. A batch sees one version.
    template <class Key>
    requires requires(const F& f, const Key& key) { f.may_contain(key); }
    [[gnu::always_inline]] bool may_contain(const Key& key) const noexcept {
        const detail::hot_guard held(publisher_.current(), detail::hot_use::ask);
        return std::as_const(*held.as<F>().serving).may_contain(key);
    }
    template <class Keys>
    requires requires(const F& f, const Keys& keys, std::span<bool> answers) { f.may_contain(keys, answers); }
    std::size_t may_contain(const Keys& keys, std::span<bool> answers) const noexcept {
        const detail::hot_guard held(publisher_.current(), detail::hot_use::ask);
        return std::as_const(*held.as<F>().serving).may_contain(keys, answers);
    }

    // ---- adding: to the current filter and, during a rebuild, to the new one; what it returns is the current one's

    // [any-thread] (plain F: [exclusive])
    template <class Key>
    requires requires(F& f, const Key& key) { f.add(key); }
    [[gnu::always_inline]] bool add(const Key& key) noexcept {
        return adding([&](F& f) { return f.add(key); }, [&](F& f) { return std::size_t{f.add(key)}; });
    }
    template <class Key>
    requires requires(F& f, const Key& key) { f.test_and_add(key); }
    [[gnu::always_inline]] bool test_and_add(const Key& key) noexcept {
        return adding([&](F& f) { return f.test_and_add(key); },
                      [&](F& f) { return std::size_t{f.add(key)}; });
    }
    template <class Keys>
    requires requires(F& f, const Keys& keys) { f.add_batch(keys); }
    std::size_t add_batch(const Keys& keys) noexcept {
        return adding([&](F& f) { return f.add_batch(keys); }, [&](F& f) { return f.add_batch(keys); });
    }
    template <class Keys>
    requires requires(F& f, const Keys& keys, std::span<bool> answers) { f.test_and_add(keys, answers); }
    std::size_t test_and_add(const Keys& keys, std::span<bool> answers) noexcept {
        return adding([&](F& f) { return f.test_and_add(keys, answers); },
                      [&](F& f) {
                          const std::span all(std::ranges::data(keys), std::ranges::size(keys));
                          return f.add_batch(all.first(std::min(all.size(), answers.size())));
                      });
    }

    // [any-thread] For an F that forgets by steps: the current filter and, during a rebuild, the new one go on to `epoch`.
    // Waits for swaps, other rotations and the start of a rebuild, and they for it; cancel, holders and reclaim do not
    // wait for its sweep.
    result<void> rotate_to(std::uint64_t epoch) requires rotates {
        const std::lock_guard moving(epochs_);
        const auto [serving, second] = owners();
        // The new one first: an add writes the serving filter first, so it is never in an older step of the new one, from
        // which it would be gone early. Both are at one epoch: what one refuses the other would refuse too.
        if (second != nullptr)
            if (auto ok = second->filter.rotate_to(epoch); !ok) return ok;
        return serving->rotate_to(epoch);
    }

    // [any-thread] For an F that grows: prepares the next layer of the current filter and, during a rebuild, of the new one.
    // The first refusal of the two.
    result<void> prepare_growth() requires requires(F& f) { f.prepare_growth(); }
    {
        const detail::hot_guard held(publisher_.current(), detail::hot_use::ask);
        const result<void> first = held.as<F>().serving->prepare_growth();
        if (shadow* const second = held.as<F>().shadow; second != nullptr) {
            const result<void> other = second->filter.prepare_growth();
            if (first) return other;
        }
        return first;
    }

    // ---- replacing ------------------------------------------------------------------------------------------------

    // [any-thread] Serves `next` from now on, whatever its parameters. An F that takes hashes must have the
    // same hash (mismatch, wrong_key otherwise), because callers hash outside; a keyed<F> brings its hasher along.
    // Keys that were added to the old filter and are not in `next` are not found any more: rebuild() keeps them. A
    // rebuild that is running goes on, and replaces `next` when it ends. An F that forgets by steps never goes back: the
    // later of the two epochs, that of `next` and that of the current filter, is the one from now on, and `next` (or a
    // rebuild's new filter) is rotated to it first.
    result<void> swap(F next) {
        auto swapped = detail::guarded([&]() -> result<void> {
            auto made = std::make_unique<version>();
            auto serving = std::make_shared<F>(std::move(next));
            std::unique_lock<std::mutex> moving;
            if constexpr (rotates) {
                if (auto ok = check_like(*owners().serving, *serving); !ok)
                    return ok.error(); // before anything rotates
                if (auto ok = catch_up(*serving); !ok) return ok.error();
                moving = std::unique_lock(epochs_);
                if (auto ok = catch_up(*serving); !ok) return ok.error();
                if (const auto second = owners().second; second != nullptr)
                    if (auto ok = second->filter.rotate_to(serving->epoch()); !ok) return ok.error();
            }
            const auto held = publisher_.lock();
            if (auto ok = check_like(*now().serving, *serving); !ok) return ok.error();
            publisher_.publish(made.release()->with(std::move(serving), now().shadow_owner, now().shadow_id));
            return {};
        });
        if (swapped) publisher_.reclaim();
        return swapped;
    }

    // [any-thread] Returns when no reader holds a version that was replaced; all of them are freed then. Never call it
    // while holding a handle: it would wait for itself. False: the time was over first, or the system refuses
    // membarrier since it was decided to use it.
    bool wait_for_readers(std::chrono::nanoseconds at_most = std::chrono::nanoseconds::max()) noexcept {
        return publisher_.wait_for_readers(at_most);
    }

    // [any-thread] Frees the replaced versions that nobody holds any more, and returns how many. swap() does so
    // too: this is for the last one, which was still held then.
    std::size_t reclaim() noexcept { return publisher_.reclaim(); }

    // [any-thread] Replaced versions that are still in memory.
    std::size_t retired() const noexcept { return publisher_.retired(); }

    // [any-thread] Who holds a version that was replaced at least so long ago: the check for handles that were kept.
    // It costs readers nothing, and so knows only of replaced versions: to check, swap or rebuild first.
    std::vector<hot_holder> holders(std::chrono::nanoseconds older_than = {}) const {
        return publisher_.holders(older_than);
    }

    // [any-thread] Whether adds are written to a rebuild's new filter too. Not while that is still being made, and not
    // any more when it was cancelled: rebuilder::running() tells of these.
    bool rebuilding() const noexcept {
        const auto held = publisher_.lock();
        return now().shadow_id != no_rebuild;
    }

  private:
    friend class rebuilder<F>;
    friend class rebuild_sink<F>;
    static constexpr std::uint64_t no_rebuild = 0;

    struct both_owners {
        std::shared_ptr<F> serving;
        std::shared_ptr<shadow> second; // but during a rebuild nullptr
    };
    both_owners owners() const noexcept {
        const auto held = publisher_.lock();
        return {now().serving_owner, now().shadow_owner};
    }

    // Rotates a filter that nobody else knows yet to the current epoch, if that is later. O(m): first without any lock,
    // then again, for what moved meanwhile.
    result<void> catch_up(F& next) const requires rotates {
        const std::uint64_t epoch = read()->epoch();
        return epoch > next.epoch() ? next.rotate_to(epoch) : result<void>{};
    }

    static version* serve_first(std::shared_ptr<F> first) {
        return (new version)->with(std::move(first), nullptr, no_rebuild);
    }

    static result<void> check_like(const F& built, const F& next) {
        if constexpr (
            !requires { typename F::hasher_type; } && requires { next.hash(); })
            return check_same_hash(built.hash(), next.hash());
        return {};
    }

    template <class Serve, class Also>
    [[gnu::always_inline]] auto adding(Serve serve, Also also) noexcept {
        const detail::hot_guard held(publisher_.current(), detail::hot_use::add);
        const auto answer = serve(*held.as<F>().serving);
        if (shadow* const second = held.as<F>().shadow; second != nullptr) [[unlikely]]
            second->added.add(also(second->filter));
        return answer;
    }

    // Under the lock.
    const version& now() const noexcept {
        return static_cast<const version&>(*publisher_.current().load(std::memory_order_relaxed));
    }

    // ---- for the rebuilder: claim, begin, then promote or drop, release ----------------------------------------------

    result<std::uint64_t> claim() {
        return detail::guarded([&]() -> result<std::uint64_t> {
            const auto held = publisher_.lock();
            if (rebuild_ != no_rebuild)
                return failure{error_code::invalid_argument,
                               "a rebuild of this filter is running already (its number " +
                                   std::to_string(rebuild_) + "): wait for it or cancel it"};
            rebuild_ = ++last_rebuild_;
            dropped_ = false;
            return rebuild_;
        });
    }

    // From here on adds write `made` too. The version for its end is made now: dropping must not need memory.
    result<void> begin(std::uint64_t rebuild, F made) {
        auto begun = detail::guarded([&]() -> result<void> {
            auto second = std::make_shared<shadow>(std::move(made));
            auto both = std::make_unique<version>();
            auto end = std::make_unique<version>();
            std::unique_lock<std::mutex> moving;
            if constexpr (rotates) {
                if (auto ok = catch_up(second->filter); !ok) return ok.error();
                moving = std::unique_lock(epochs_);
                // Not beyond: a plan's filter that is ahead is refused here.
                if (auto ok = second->filter.rotate_to(read()->epoch()); !ok) return ok.error();
            }
            const auto held = publisher_.lock();
            if (auto ok = check_like(*now().serving, second->filter); !ok) return ok.error();
            if (dropped_) return failure{error_code::cancelled, "cancelled before the source was asked"};
            publisher_.publish(both.release()->with(now().serving_owner, std::move(second), rebuild));
            end_ = std::move(end);
            return {};
        });
        if (begun) publisher_.reclaim();
        return begun;
    }

    // False: it was dropped before.
    bool promote(std::uint64_t rebuild) noexcept {
        {
            const auto held = publisher_.lock();
            if (rebuild_ != rebuild || dropped_) return false;
            const std::shared_ptr<shadow> second = now().shadow_owner;
            publisher_.publish(
                end_.release()->with(std::shared_ptr<F>(second, &second->filter), nullptr, no_rebuild));
            dropped_ = true; // too late to cancel
        }
        publisher_.reclaim();
        return true;
    }

    // False: there is nothing to drop any more.
    bool drop(std::uint64_t rebuild) noexcept {
        {
            const auto held = publisher_.lock();
            if (rebuild_ != rebuild || dropped_) return false;
            dropped_ = true;
            if (now().shadow_id == rebuild)
                publisher_.publish(end_.release()->with(now().serving_owner, nullptr, no_rebuild));
        }
        publisher_.reclaim();
        return true;
    }

    bool dropped(std::uint64_t rebuild) const noexcept {
        const auto held = publisher_.lock();
        return rebuild_ != rebuild || dropped_;
    }

    void release(std::uint64_t rebuild) noexcept {
        const auto held = publisher_.lock();
        if (rebuild_ == rebuild) rebuild_ = no_rebuild;
    }

    detail::hot_publisher publisher_;
    // Held by whoever moves an epoch, or publishes a filter that has one; before the publisher's lock, never after it.
    std::mutex epochs_;
    // Under the publisher's lock.
    std::uint64_t rebuild_ = no_rebuild;
    std::uint64_t last_rebuild_ = no_rebuild;
    bool dropped_ = false;         // or promoted: cancelling has no effect
    std::unique_ptr<version> end_; // what promote or drop will publish
};

} // namespace bouncer
