// rebuilder<F>: fills a new filter, larger or with another hash, from a source of truth while the old one serves, and
// swaps when it is complete. docs/lifecycle.md
//
// The contract, by which there is no false negative at any moment: a key is in the source of truth before its add() is
// called, or its add() begins after the new filter was published: after hot::rebuilding() was seen true, or the source
// was called. (running() is true before that.) Adds from then on go to both filters. Removing keys during a rebuild is not
// supported: a key that the source gave before, or gives after, its removal is in the new filter. A filter that counts has
// counted a key twice that came from the source and was added meanwhile. One that forgets by steps gets the keys of the
// source in the current step, so its plan must hold window_steps() times as many: otherwise `full`.
//
// Thread safety: rebuild() runs on the caller's thread; everything is [any-thread] while other threads ask, add and
// swap by the same hot<F>. For a plain F: as long as nobody adds.
//   1. One rebuild at a time of one hot<F>; a second one is refused.
//   2. Until the swap at its end, queries see only the old filter. A rebuild that fails, throws or is cancelled leaves
//      no trace but the time it took.
//   3. The source is asked only after every add that did not know of the new filter has ended.
// verification/hot_guard.pml checks the contract and 3, with swaps and cancels at every step.
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/hot_memory.h>
#include <bouncer/detail/hot_sink.h>
#include <bouncer/goal.h>
#include <bouncer/hot.h>
#include <bouncer/result.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

namespace bouncer {

namespace detail {

// keyed<F> and wrappers that do not size themselves have a filter inside, which knows the math.
template <class F>
struct bare_filter {
    using type = F;
};
template <class F>
requires(
    !requires(const goal& wanted) { F::solve(wanted); } &&
    requires { typename F::filter_type; }) struct bare_filter<F> : bare_filter<typename F::filter_type> {
};

// The expected rate with so many keys, where F can tell.
template <class F>
std::optional<double> rate_at(const F& filter, std::uint64_t keys) {
    if constexpr (requires { filter.fpr_at(keys); })
        return filter.fpr_at(keys);
    else if constexpr (requires { filter.filter(); })
        return rate_at(filter.filter(), keys);
    else
        return std::nullopt;
}

// Over how many steps the math of F spreads its keys; a source gives all of them in one.
template <class F>
std::uint64_t steps_of(const F& filter) {
    if constexpr (requires { filter.window_steps(); })
        return filter.window_steps();
    else if constexpr (requires { filter.filter(); })
        return steps_of(filter.filter());
    else
        return 1;
}

// The most keys by which the filter keeps the rate, at least `surely`; unlimited from 2^40 on (a filter that grows).
template <class F>
std::uint64_t most_keys_within(const F& filter, double rate, std::uint64_t surely) {
    if constexpr (requires { filter.promised_fpr(); }) {
        if (filter.promised_fpr() <= rate) return unlimited; // it grows
    } else if constexpr (requires { filter.filter().promised_fpr(); }) {
        if (filter.filter().promised_fpr() <= rate) return unlimited;
    }
    if (surely >> 40 != 0) return unlimited;
    const auto keeps = [&](std::uint64_t keys) { return rate_at(filter, keys).value_or(1) <= rate; };
    std::uint64_t good = surely;
    std::uint64_t bad = std::max<std::uint64_t>(surely, 1) * 2;
    for (; keeps(bad); bad *= 2) {
        if (bad >> 40 != 0) return unlimited;
        good = bad;
    }
    // To 0.1 %: each step is an exact sum over the occupancies of a block.
    while (bad - good > good / 1024 + 1) {
        const std::uint64_t middle = good + (bad - good) / 2;
        (keeps(middle) ? good : bad) = middle;
    }
    return good;
}

} // namespace detail

// What to build. `make` is called once per rebuild; the other fields let the rebuild refuse before it allocates, and
// notice too many keys.
template <class F>
struct rebuild_plan {
    std::function<result<F>()> make;
    std::uint64_t size_bytes = 0;                             // 0: known only when it is made
    std::uint64_t keys = 0;                                   // 0: unknown
    std::optional<double> false_positive_rate = std::nullopt; // what the new filter must keep
    // Where it grows: the bytes with so many keys, at least size_bytes.
    std::function<result<std::uint64_t>(std::uint64_t keys)> size_bytes_with = nullptr;

    // [any-thread] For a goal. `with` is what F::create takes besides it: filter_options, or for a keyed<F> the hasher
    // (another seed; for a keyed<F, any_hasher> any hash: siphash13 with a secret key) and memory_options.
    template <class... With>
    static result<rebuild_plan> of(const goal& wanted, const With&... with) {
        return detail::guarded([&]() -> result<rebuild_plan> {
            using bare = typename detail::bare_filter<F>::type;
            const auto solved = bare::solve(wanted);
            if (!solved) return solved.error();
            rebuild_plan out{[wanted, with...] { return F::create(wanted, with...); },
                             bare::size_bytes_of(*solved), wanted.keys, wanted.false_positive_rate};
            if constexpr (requires { bare::size_bytes_with(*solved, wanted.keys); })
                out.size_bytes_with = [chosen = *solved](std::uint64_t count) {
                    return bare::size_bytes_with(chosen, count);
                };
            return out;
        });
    }
};

struct rebuild_options {
    // How many keys the source will give; unset: the plan's number (of a window: divided by its steps).
    std::optional<std::uint64_t> announced_keys = std::nullopt;
    // Old and new filter together; beyond it too_large.
    std::uint64_t memory_budget_bytes = detail::unlimited;
    // What the new filter may take; unset: what the machine and the cgroup have left. Beyond it out_of_memory.
    std::optional<std::uint64_t> memory_left_bytes = std::nullopt;
    // Otherwise the rebuild ends with `full` as soon as the new filter has more keys than keep the plan's rate, or,
    // where there is no rate, 10 % more than announced. Without either number all keys are accepted.
    bool accept_more_keys = false;
    // (keys so far, announced or 0), on the thread of the source; false: stop.
    std::function<bool(std::uint64_t keys, std::uint64_t announced)> progress = nullptr;
    std::uint64_t progress_every = 65'536;
    // request_stop() is as cancel().
    std::stop_token stop = {};
};

struct rebuild_report {
    std::uint64_t keys = 0;            // that the source gave
    std::uint64_t inserted = 0;        // of them, those that changed the new filter: about the distinct ones
    std::uint64_t added_meanwhile = 0; // adds by others that changed it
    std::uint64_t old_size_bytes = 0;
    std::uint64_t new_size_bytes = 0;
};

template <class F>
class rebuilder {
  public:
    // [any-thread] The target must outlive it.
    explicit rebuilder(hot<F>& target) noexcept : target_(target) {}
    rebuilder(const rebuilder&) = delete;
    rebuilder& operator=(const rebuilder&) = delete;

    // [any-thread] source(rebuild_sink<F>& sink) -> result<void> gives every key of the source of truth by sink.add(key)
    // and sink.add_batch(keys), and returns when they return false.
    // Errors, the old filter serves on with all: invalid_argument (a rebuild is running), too_large and
    // out_of_memory (the two filters do not fit), mismatch (the plan's hash is not the one callers use), full (more
    // keys than the new filter is for), cancelled, what the plan or the source returned, and io with its text for what
    // the source threw. A handle may be held meanwhile: only adds are waited for.
    template <class Source>
    requires std::is_invocable_r_v<result<void>, Source&, rebuild_sink<F>&> result<rebuild_report>
    rebuild(const rebuild_plan<F>& plan, Source&& source, const rebuild_options& options = {}) {
        const auto claimed = target_.claim();
        if (!claimed) return claimed.error();
        const ending at_end(*this, *claimed); // also when there is no memory for a message
        try {
            const std::stop_callback stopping(options.stop, [&] { target_.drop(*claimed); });
            return run(*claimed, plan, source, options);
        } catch (...) {
            return detail::failure_of_exception("the rebuild");
        }
    }

    // [any-thread] Ends the rebuild that is running: its filter is dropped and its memory freed at once, even while the
    // source is stalled in its own code; rebuild() returns `cancelled` when the source returns. False: none was
    // running, or it is complete.
    bool cancel() noexcept {
        const std::uint64_t running = running_.load(std::memory_order_acquire);
        return running != 0 && target_.drop(running);
    }

    // [any-thread] From the call of rebuild() to its return.
    bool running() const noexcept { return running_.load(std::memory_order_acquire) != 0; }

  private:
    using sink_type = rebuild_sink<F>;

    // From claim to release of one rebuild.
    class ending {
      public:
        ending(rebuilder& of, std::uint64_t rebuild) noexcept : of_(of), rebuild_(rebuild) {
            of_.running_.store(rebuild, std::memory_order_release);
        }
        ~ending() {
            of_.target_.drop(rebuild_); // where it did not come to its end
            of_.running_.store(0, std::memory_order_release);
            of_.target_.release(rebuild_);
        }
        ending(const ending&) = delete;
        ending& operator=(const ending&) = delete;

      private:
        rebuilder& of_;
        std::uint64_t rebuild_;
    };

    static failure cancelled(std::uint64_t keys) {
        return {error_code::cancelled, "the rebuild was cancelled after " + std::to_string(keys) + " keys"};
    }

    template <class Source>
    result<rebuild_report> run(std::uint64_t rebuild, const rebuild_plan<F>& plan, Source& source,
                               const rebuild_options& options) {
        rebuild_report report;
        report.old_size_bytes = target_.read()->size_bytes();
        std::uint64_t planned_bytes = plan.size_bytes;
        if (plan.size_bytes_with) {
            const auto grown = plan.size_bytes_with(options.announced_keys.value_or(plan.keys));
            if (!grown) return grown.error();
            planned_bytes = std::max(planned_bytes, *grown);
        }
        if (auto ok = check_memory(report.old_size_bytes, planned_bytes, options); !ok) return ok.error();
        auto made = make(plan);
        if (!made) return made.error();
        report.new_size_bytes = made->size_bytes();
        if (report.new_size_bytes > planned_bytes) {
            // Made already: only the budget can still be kept.
            auto ok = detail::check_rebuild_memory(report.old_size_bytes, report.new_size_bytes,
                                                   options.memory_budget_bytes, detail::unlimited);
            if (!ok) return ok.error();
        }
        const auto within = limits_of(*made, plan, options);
        if (!within) return within.error();
        if (auto ok = target_.begin(rebuild, std::move(*made)); !ok) return ok.error();
        if (auto ok = wait_for_older_adds(rebuild); !ok) return ok.error();

        sink_type sink(target_, rebuild, *within);
        const result<void> asked = ask(source, sink);
        if (!sink.stopped_) sink.look(); // the last few keys
        if (sink.why_) return *sink.why_;
        if (sink.stopped_) return cancelled(sink.keys());
        if (!asked) return asked.error();
        if (!target_.promote(rebuild)) return cancelled(sink.keys());
        report.new_size_bytes = target_.read()->size_bytes(); // one that grows has grown
        report.keys = sink.keys();
        report.inserted = sink.inserted_;
        report.added_meanwhile = sink.added_meanwhile_;
        return report;
    }

    static result<void> check_memory(std::uint64_t old_bytes, std::uint64_t new_bytes,
                                     const rebuild_options& options) {
        const std::uint64_t left =
            options.memory_left_bytes ? *options.memory_left_bytes : detail::memory_left_bytes();
        return detail::check_rebuild_memory(old_bytes, new_bytes, options.memory_budget_bytes, left);
    }

    static result<F> make(const rebuild_plan<F>& plan) {
        if (!plan.make)
            return failure{error_code::invalid_argument, "the plan has no function that makes a filter"};
        try {
            return plan.make();
        } catch (...) {
            return detail::failure_of_exception("the plan");
        }
    }

    static result<typename sink_type::limits> limits_of(const F& made, const rebuild_plan<F>& plan,
                                                        const rebuild_options& options) {
        typename sink_type::limits within;
        const std::uint64_t steps = detail::steps_of(made);
        within.announced = options.announced_keys.value_or(plan.keys / steps);
        if (options.progress) within.progress = &options.progress;
        within.progress_every = std::max<std::uint64_t>(options.progress_every, 1);
        if (options.accept_more_keys) return within;
        if (plan.false_positive_rate && detail::rate_at(made, 1)) {
            within.rate = plan.false_positive_rate;
            within.most = detail::most_keys_within(made, *within.rate, plan.keys);
            if (within.most != detail::unlimited) within.most /= steps;
            if (within.announced > within.most)
                return detail::too_many_keys(within.announced, within.most, within.announced, within.rate);
        } else if (within.announced != 0) {
            const std::uint64_t more = within.announced / 10;
            within.most = within.announced + std::min(more, detail::unlimited - within.announced);
        }
        return within;
    }

    // Adds that began before the new filter was published write only the old one; their keys are in the source, by the
    // contract, once they have ended.
    result<void> wait_for_older_adds(std::uint64_t rebuild) {
        for (detail::hot_backoff backoff;; backoff.pause()) {
            const auto ended = target_.publisher_.older_adds_ended(rebuild);
            if (!ended) return ended.error();
            if (*ended) return {};
            if (target_.dropped(rebuild)) return cancelled(0);
        }
    }

    template <class Source>
    static result<void> ask(Source& source, sink_type& sink) {
        try {
            return source(sink);
        } catch (...) {
            return detail::failure_of_exception("the source");
        }
    }

    hot<F>& target_;
    std::atomic<std::uint64_t> running_{0};
};

} // namespace bouncer
