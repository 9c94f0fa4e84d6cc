// When to rebuild: signals that the caller gathers, triggers that compose by || and &&, and a meter for the observed
// false-positive rate. A trigger only says so; rebuilding is the caller's (rebuilder.h).
#pragma once

#include <bouncer/detail/striped_counter.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace bouncer {

// Queries for keys that were truly absent, and how many of them the filter let through.
struct observed_fpr {
    std::uint64_t absent = 0;
    std::uint64_t false_positives = 0;

    // [immutable] 0 without a sample.
    double rate() const noexcept {
        return absent == 0 ? 0 : static_cast<double>(false_positives) / static_cast<double>(absent);
    }
};

// What a trigger looks at. Fields that nobody gathers stay at their defaults: no trigger below fires at those, whatever
// its limit. A NaN never fires, in a field or as a limit.
struct rebuild_signals {
    double fill = 0; // F::fill_ratio()
    // F::expected_fpr(), which reads all of the filter (2 ms at 1M keys), or where F has it F::sampled_fpr().value (0.4 ms
    // at any size). It is the rate of keys that nobody chose: an attack shows in observed_fpr alone.
    double expected_fpr = 0;
    std::uint64_t inserted = 0; // counted<F>::count(), or F::approximate_size()
    struct observed_fpr observed_fpr = {};
    std::uint64_t epoch = 0;
    // The caller's own judgement. Only a secret key ends an attack, and only a keyed<F, any_hasher> can take one by a rebuild: a
    // hash that is part of the type can change its seed, which does not help (docs/under_attack.md).
    bool suspected_attack = false;
};

// Thread safety: immutable; [any-thread].
class rebuild_trigger {
  public:
    using test = std::function<std::optional<std::string>(const rebuild_signals&)>;

    // [any-thread] The reason why to rebuild now, in words; nothing: do not.
    explicit rebuild_trigger(test when) : when_(std::move(when)) {}
    std::optional<std::string> operator()(const rebuild_signals& now) const { return when_(now); }

    // [any-thread] Either, both. The text names every part that fired. No short circuit: both sides are cheap.
    friend rebuild_trigger operator||(rebuild_trigger left, rebuild_trigger right);
    friend rebuild_trigger operator&&(rebuild_trigger left, rebuild_trigger right);

  private:
    test when_;
};

// [any-thread] The rate is above `factor` times the promise: expected_fpr_above(1.5, 0.01) fires at 1.5 %. Pass the rate
// of the goal: a filter does not remember it. For a goal that gave a size and no rate, pass F::fpr_at(goal.keys). This
// is the trigger to use for every kind that runs full. Use a factor above 1: a filter at its goal has about its promised rate.
rebuild_trigger expected_fpr_above(double factor, double promised_fpr);
// [any-thread] More than this share of the bits is set. What rate that is depends on kind and goal: blocked_bloom is half full
// at 0.88 of its keys where it was made for 1 % (0.53 times the rate), at 1.37 for 0.1 % (5.3 times).
rebuild_trigger fill_above(double fill);
// [any-thread]
rebuild_trigger inserted_above(std::uint64_t keys);
// [any-thread] From `min_absent` samples on: with n samples at rate p the standard error is sqrt(p (1 - p) / n), so
// 1 % known to a tenth takes 10,000.
rebuild_trigger observed_fpr_above(double rate, std::uint64_t min_absent = 10'000);
// [any-thread] The epoch is this or a later one. Epoch 0 is "nobody counts", so 0 never fires.
rebuild_trigger epoch_reached(std::uint64_t epoch);
// [any-thread] suspected_attack is set. The trigger finds no attack by itself; observed_fpr_above may.
rebuild_trigger attack_suspected();

// The observed rate, fed by whoever asks the filter and then the store behind it. Striped: threads do not meet.
// Thread safety: [any-thread] throughout; wait-free to feed.
//   1. No count is lost. read() sees what happened-before it; it may miss counts in flight.
//   2. Neither read() nor restart() raises the rate: of a thread's counts, those before a false positive that is seen are
//      seen too, but for what it counted between the last two of them when a restart came. Hence the release and acquire.
class fpr_meter {
  public:
    // [any-thread] The filter said no: the key is surely absent.
    void said_no(std::uint64_t queries = 1) noexcept { said_no_.add<std::memory_order_release>(queries); }
    // [any-thread] The filter said maybe, and the store has no such key. (Maybe and there is no sample: not fed.)
    void false_positive(std::uint64_t queries = 1) noexcept {
        false_positives_.add<std::memory_order_release>(queries);
    }

    // [any-thread] Since the last restart. Reading and restarting wait for each other, counting for nobody.
    observed_fpr read() const noexcept;

    // [any-thread] Begins again, as after a rebuild. Counts that race it fall on either side.
    void restart() noexcept;

  private:
    detail::striped_counter said_no_;
    detail::striped_counter false_positives_;
    mutable std::mutex restarting_;
    std::uint64_t said_no_before_ = 0; // under the mutex
    std::uint64_t false_positives_before_ = 0;
};

} // namespace bouncer
