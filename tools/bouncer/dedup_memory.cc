#include "dedup_memory.h"

#include "exact_table.h"
#include "seen_table.h"
#include "text.h"
#include "tool_error.h"

#include <bouncer/fingerprint_set.h>
#include <bouncer/region.h>
#include <bouncer/scalable.h>
#include <bouncer/snapshot.h>
#include <bouncer/window_schedule.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace bouncer::tool {

namespace {

template <class F>
F load_state(const std::string& path, const any_hasher& hasher) {
    auto loaded = load<F>(path);
    if (!loaded) {
        if (loaded.error().code == error_code::mismatch)
            throw tool_error(loaded.error().message + "; it was made by another way of remembering");
        throw tool_error(loaded.error().message);
    }
    if (auto same = check_same_hash(loaded->hash(), hasher.spec()); !same)
        throw tool_error(path + ": " + same.error().message);
    return std::move(*loaded);
}

class fingerprint_memory final : public dedup_memory {
  public:
    fingerprint_memory(const any_hasher& hasher, std::uint64_t distinct,
                       const std::optional<std::string>& state)
        : spec_(hasher.spec()) {
        table_.expect(distinct);
        if (!state) return;
        const auto stored = load_state<fingerprint_set>(*state, hasher);
        std::vector<std::uint64_t> some;
        std::vector<char> seen;
        const auto add = [&] {
            table_.test_and_add(some, {reinterpret_cast<bool*>(seen.data()), some.size()});
            some.clear();
        };
        seen.resize(4096);
        detail::set_layout(stored.params()).for_each(stored.data(), [&](std::uint64_t hash) {
            some.push_back(hash);
            if (some.size() == seen.size()) add();
        });
        add();
        loaded_ = table_.size();
    }

    void test_and_add(const chunk&, std::span<const std::uint64_t> hashes, std::span<bool> seen) override {
        table_.test_and_add(hashes, seen);
    }
    lost_lines lost() const override {
        // New line number i meets one of those before it with i / 2^64.
        const double last = static_cast<double>(table_.size());
        const double first = static_cast<double>(loaded_);
        return {(last * last - first * first) * 0x1p-65, std::nullopt};
    }
    std::uint64_t size_bytes() const override { return table_.size_bytes(); }
    std::string description() const override { return "64-bit fingerprints"; }
    void commit(const std::string& path, const key_form& form, change_lock& lock) const override {
        std::vector<std::uint64_t> hashes;
        hashes.reserve(table_.size());
        table_.for_each([&](std::uint64_t hash) { hashes.push_back(hash); });
        auto set = fingerprint_set::build(hashes, {.keys = hashes.size(), .false_positive_rate = 0.5},
                                          {.hash = spec_});
        if (!set) throw tool_error(path + ": " + set.error().message);
        ok_or_throw(save(
            *set, path,
            {.keys_added = hashes.size(), .replace = static_cast<bool>(lock), .lock = &lock, .keys = form}));
    }

  private:
    hash_spec spec_;
    seen_table table_;
    std::uint64_t loaded_ = 0;
};

class exact_memory final : public dedup_memory {
  public:
    exact_memory(const input_options& where, const key_form& form) : keys_(where, form) {}

    void test_and_add(const chunk& records, std::span<const std::uint64_t> hashes,
                      std::span<bool> seen) override {
        constexpr std::size_t ahead = 16;
        keys_.each_batch(records, [&](std::size_t first, std::span<const std::string_view> keys) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (i + ahead < keys.size()) table_.prefetch(hashes[first + i + ahead]);
                seen[first + i] = table_.test_and_add(hashes[first + i], keys[i]);
            }
        });
    }
    lost_lines lost() const override { return {0, 0.0}; }
    std::uint64_t size_bytes() const override { return table_.size_bytes(); }
    std::string description() const override { return "the keys themselves"; }
    void commit(const std::string&, const key_form&, change_lock&) const override {}

  private:
    key_maker keys_;
    exact_table table_;
};

// The number of lines that seemed seen and were new: the rate at every moment, summed over new lines. `rate_at(n)` is the
// rate with n keys.
template <class RateAt>
double summed_rate(double first, double last, RateAt rate_at) {
    constexpr int parts = 64;
    double out = 0;
    for (int i = 0; i < parts; ++i) {
        const double middle = first + (last - first) * (i + 0.5) / parts;
        out += rate_at(static_cast<std::uint64_t>(middle)) * (last - first) / parts;
    }
    return out;
}

class filter_memory final : public dedup_memory {
  public:
    filter_memory(const any_hasher& hasher, const filter_choice& how, const std::optional<std::string>& state)
        : filter_(state ? load_state<plain_scalable_bloom>(*state, hasher) : make(hasher, how)),
          loaded_(filter_.changing_adds()) {}

    void test_and_add(const chunk&, std::span<const std::uint64_t> hashes, std::span<bool> seen) override {
        filter_.test_and_add(hashes, seen);
    }
    lost_lines lost() const override {
        const double first = static_cast<double>(loaded_);
        const double last = static_cast<double>(filter_.changing_adds());
        return {summed_rate(first, last, [&](std::uint64_t keys) { return filter_.fpr_at(keys); }),
                (last - first) * filter_.promised_fpr()};
    }
    std::uint64_t size_bytes() const override { return filter_.size_bytes(); }
    std::string description() const override {
        return "a scalable_bloom of " + std::to_string(filter_.layer_count()) +
               (filter_.layer_count() == 1 ? " layer" : " layers") + ", false-positive rate at most " +
               rate_text(filter_.promised_fpr());
    }
    void commit(const std::string& path, const key_form& form, change_lock& lock) const override {
        ok_or_throw(save(filter_, path,
                         {.keys_added = filter_.changing_adds(),
                          .fpr_promised = filter_.promised_fpr(),
                          .replace = static_cast<bool>(lock),
                          .lock = &lock,
                          .keys = form}));
    }

  private:
    static plain_scalable_bloom make(const any_hasher& hasher, const filter_choice& how) {
        if (how.guessed_keys > 0) {
            // Worth a sixteenth of the memory at most, and no error: a file that repeats itself seems to be of distinct
            // lines. The chain that grows does as well, in up to twice the memory.
            const std::uint64_t keys = how.guessed_keys + how.guessed_keys / 20;
            const double bytes = static_cast<double>(keys) * -std::log2(how.rate) * 1.5 / 8;
            if (bytes < static_cast<double>(memory_limit_bytes()) / 16)
                if (auto made = create(hasher, {.rate = how.rate, .first_keys = keys, .counted = true}))
                    return std::move(*made);
        }
        auto made = create(hasher, how);
        if (!made) throw tool_error(made.error().message);
        return std::move(*made);
    }
    static result<plain_scalable_bloom> create(const any_hasher& hasher, const filter_choice& how) {
        scalable_parameters chosen{.first_keys = std::max<std::uint64_t>(how.first_keys, 1000),
                                   .rate = how.rate};
        // A first layer that should do for all gets half of the rate: 4 bits a key less than by 0.85, which is for chains.
        if (how.counted) chosen.tightening = 0.5;
        return plain_scalable_bloom::create(chosen, {.hash = hasher.spec()});
    }

    plain_scalable_bloom filter_;
    std::uint64_t loaded_;
};

// The lines of a window: fingerprints of 61 bits, and in the other 3 the step in which a line was last seen, modulo 8. A
// window is six steps and the one that is going on; what is older is swept out when a step ends, so the eighth value of a
// tag is free when it is given again. However many lines come in a step, none is lost but by a collision.
class window_memory final : public dedup_memory {
  public:
    window_memory(const any_hasher& hasher, const window_choice& how, const std::optional<std::string>& state)
        : how_(how), hash_(hasher.spec()), table_(3) {
        if (how.seconds) {
            const auto nanoseconds = static_cast<std::int64_t>(*how.seconds * 1e9) / steps * steps;
            schedule_ = value_or_throw(window_schedule::make(std::chrono::nanoseconds(nanoseconds), steps),
                                       "--window");
            step_ = schedule_->epoch_now();
        } else {
            step_lines_ = (how.lines + steps - 1) / steps;
        }
        if (state) resume(*state);
    }

    void test_and_add(const chunk&, std::span<const std::uint64_t> hashes, std::span<bool> seen) override {
        if (schedule_) go_to(schedule_->epoch_now());
        for (std::size_t done = 0; done < hashes.size();) {
            std::size_t some = hashes.size() - done;
            if (!schedule_) {
                if (step_used_ == step_lines_) {
                    go_to(step_ + 1);
                    step_used_ = 0;
                }
                some = static_cast<std::size_t>(std::min<std::uint64_t>(some, step_lines_ - step_used_));
                step_used_ += some;
            }
            const std::uint64_t before = table_.size();
            table_.test_and_add(hashes.subspan(done, some), seen.subspan(done, some), step_ % 8);
            // A new line meets one of those that are remembered with n / 2^61.
            expected_ +=
                static_cast<double>(table_.size() - before) * static_cast<double>(table_.size()) * 0x1p-61;
            done += some;
        }
    }
    lost_lines lost() const override { return {expected_, std::nullopt}; }
    std::uint64_t size_bytes() const override { return table_.size_bytes(); }
    std::string description() const override {
        return "61-bit fingerprints of the last " +
               (how_.seconds ? seconds_text(*how_.seconds) : count_text(how_.lines) + " lines");
    }
    void commit(const std::string& path, const key_form& form, change_lock& lock) const override {
        std::vector<std::uint64_t> slots;
        slots.reserve(table_.size());
        table_.for_each([&](std::uint64_t slot) { slots.push_back(slot); });
        // Prehashed: a slot is no hash of a key, and nobody shall ask for one.
        auto set = fingerprint_set::build(slots, {.keys = slots.size(), .false_positive_rate = 0.5});
        if (!set) throw tool_error(path + ": " + set.error().message);
        ok_or_throw(save(*set, path,
                         {.label = label(),
                          .keys_added = slots.size(),
                          .replace = static_cast<bool>(lock),
                          .lock = &lock,
                          .keys = form}));
    }

  private:
    static constexpr std::uint32_t steps = 6;

    // What another run must know, and whether it is the same window.
    std::string window() const {
        return how_.seconds ? number_text(*how_.seconds, 15) + " s" : std::to_string(how_.lines) + " lines";
    }
    std::string label() const {
        return "dedup: the last " + window() + " by " + to_string(hash_) + "; step " + std::to_string(step_) +
               ", " + std::to_string(step_used_) + " lines into it";
    }
    void resume(const std::string& path) {
        const auto stored = load<fingerprint_set>(path);
        const auto info = inspect(path);
        if (!stored || !info)
            throw tool_error((stored ? info.error() : stored.error()).message +
                             "; a --state of another way of remembering?");
        const std::string same = "dedup: the last " + window() + " by " + to_string(hash_) + "; step ";
        unsigned long long step = 0;
        unsigned long long used = 0;
        if (!info->label.starts_with(same) ||
            std::sscanf(info->label.c_str() + same.size(), "%llu, %llu lines", &step, &used) != 2 ||
            (!schedule_ && used > step_lines_))
            throw tool_error(path + ": it remembers \"" + info->label +
                             "\", and --window asks for the last " + window() + " by " + to_string(hash_));
        const std::uint64_t now = step_;
        step_ = step;
        step_used_ = used;
        detail::set_layout(stored->params()).for_each(stored->data(), [&](std::uint64_t slot) {
            table_.restore(slot);
        });
        if (schedule_) go_to(now);
    }
    // A clock that goes back changes nothing.
    void go_to(std::uint64_t step) {
        if (step <= step_) return;
        // A tag of t is that of the last step up to now with t as its remainder.
        const std::uint64_t was = step_;
        step_ = step;
        table_.sweep([&](std::uint64_t tag) {
            const std::uint64_t age = (was - tag) % 8; // in steps, when it was `was`
            return step - was + age <= steps;
        });
    }

    window_choice how_;
    hash_spec hash_;
    seen_table table_;
    std::optional<window_schedule> schedule_;
    std::uint64_t step_ = 0;
    std::uint64_t step_lines_ = 0;
    std::uint64_t step_used_ = 0;
    double expected_ = 0;
};

} // namespace

std::unique_ptr<dedup_memory> make_fingerprint_memory(const any_hasher& hasher, std::uint64_t distinct,
                                                      const std::optional<std::string>& state) {
    return std::make_unique<fingerprint_memory>(hasher, distinct, state);
}
std::unique_ptr<dedup_memory> make_exact_memory(const input_options& where, const key_form& form) {
    return std::make_unique<exact_memory>(where, form);
}
std::unique_ptr<dedup_memory> make_filter_memory(const any_hasher& hasher, const filter_choice& how,
                                                 const std::optional<std::string>& state) {
    return std::make_unique<filter_memory>(hasher, how, state);
}
std::unique_ptr<dedup_memory> make_window_memory(const any_hasher& hasher, const window_choice& how,
                                                 const std::optional<std::string>& state) {
    return std::make_unique<window_memory>(hasher, how, state);
}

} // namespace bouncer::tool
