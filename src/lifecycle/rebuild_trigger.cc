#include "bouncer/rebuild_trigger.h"

#include "bouncer/detail/format.h"

#include <utility>

namespace bouncer {

using detail::scientific;

namespace {

// 0 is "nobody gathers it", and above no limit, a negative one included. NaN on either side is no.
bool is_above(double gathered, double limit) {
    return gathered > 0 && gathered > limit;
}

} // namespace

rebuild_trigger operator||(rebuild_trigger left, rebuild_trigger right) {
    return rebuild_trigger([left = std::move(left), right = std::move(right)](
                               const rebuild_signals& now) -> std::optional<std::string> {
        auto one = left(now);
        auto other = right(now);
        if (one && other) return *one + "; " + *other;
        return one ? one : other;
    });
}

rebuild_trigger operator&&(rebuild_trigger left, rebuild_trigger right) {
    return rebuild_trigger([left = std::move(left), right = std::move(right)](
                               const rebuild_signals& now) -> std::optional<std::string> {
        const auto one = left(now);
        const auto other = right(now);
        if (one && other) return *one + "; " + *other;
        return std::nullopt;
    });
}

rebuild_trigger expected_fpr_above(double factor, double promised_fpr) {
    return rebuild_trigger([factor, promised_fpr](const rebuild_signals& now) -> std::optional<std::string> {
        if (!is_above(now.expected_fpr, factor * promised_fpr)) return std::nullopt;
        return "expected false-positive rate " + scientific(now.expected_fpr) + " is above " +
               scientific(factor) + " times the promised " + scientific(promised_fpr);
    });
}

rebuild_trigger fill_above(double fill) {
    return rebuild_trigger([fill](const rebuild_signals& now) -> std::optional<std::string> {
        if (!is_above(now.fill, fill)) return std::nullopt;
        return "fill " + scientific(now.fill) + " is above " + scientific(fill);
    });
}

rebuild_trigger inserted_above(std::uint64_t keys) {
    return rebuild_trigger([keys](const rebuild_signals& now) -> std::optional<std::string> {
        if (now.inserted <= keys) return std::nullopt;
        return std::to_string(now.inserted) + " keys inserted, more than " + std::to_string(keys);
    });
}

rebuild_trigger observed_fpr_above(double rate, std::uint64_t min_absent) {
    return rebuild_trigger([rate, min_absent](const rebuild_signals& now) -> std::optional<std::string> {
        const observed_fpr& seen = now.observed_fpr;
        if (seen.absent < min_absent || !is_above(seen.rate(), rate)) return std::nullopt;
        return "observed false-positive rate " + scientific(seen.rate()) + " (" +
               std::to_string(seen.false_positives) + " of " + std::to_string(seen.absent) + ") is above " +
               scientific(rate);
    });
}

rebuild_trigger epoch_reached(std::uint64_t epoch) {
    return rebuild_trigger([epoch](const rebuild_signals& now) -> std::optional<std::string> {
        if (epoch == 0 || now.epoch < epoch) return std::nullopt;
        return "epoch " + std::to_string(now.epoch) + " has reached " + std::to_string(epoch);
    });
}

rebuild_trigger attack_suspected() {
    return rebuild_trigger([](const rebuild_signals& now) -> std::optional<std::string> {
        if (!now.suspected_attack) return std::nullopt;
        return "an attack is suspected";
    });
}

observed_fpr fpr_meter::read() const noexcept {
    const std::lock_guard held(restarting_);
    // False positives first: what comes between the two reads can only lower the rate.
    const std::uint64_t wrong = false_positives_.total<std::memory_order_acquire>() - false_positives_before_;
    const std::uint64_t no = said_no_.total<std::memory_order_acquire>() - said_no_before_;
    return {no + wrong, wrong};
}

void fpr_meter::restart() noexcept {
    const std::lock_guard held(restarting_);
    // The other way round than read(), for the same reason: false positives that come between the two belong to before.
    said_no_before_ = said_no_.total<std::memory_order_acquire>();
    false_positives_before_ = false_positives_.total<std::memory_order_acquire>();
}

} // namespace bouncer
