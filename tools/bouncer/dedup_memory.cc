#include "dedup_memory.h"

#include "exact_table.h"
#include "seen_table.h"
#include "text.h"
#include "tool_error.h"

#include <bouncer/fingerprint_set.h>
#include <bouncer/scalable.h>
#include <bouncer/snapshot.h>
#include <bouncer/window_schedule.h>
#include <bouncer/windowed_bloom.h>

#include <algorithm>
#include <cmath>
#include <limits>
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
    fingerprint_memory(const any_hasher& hasher, const std::optional<std::string>& state)
        : spec_(hasher.spec()) {
        if (!state) return;
        const auto stored = load_state<plain_fingerprint_set>(*state, hasher);
        std::vector<std::uint64_t> some;
        std::vector<char> seen;
        const auto add = [&] {
            table_.test_and_add(some, {reinterpret_cast<bool*>(seen.data()), some.size()});
            some.clear();
        };
        seen.resize(4096);
        detail::set_layout(stored.params()).for_each(stored.words().line(0), [&](std::uint64_t hash) {
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
    void commit(const std::string& path, const key_form& form) const override {
        std::vector<std::uint64_t> hashes;
        hashes.reserve(table_.size());
        table_.for_each([&](std::uint64_t hash) { hashes.push_back(hash); });
        auto set = plain_fingerprint_set::build(hashes, {.keys = hashes.size(), .false_positive_rate = 0.5},
                                                {.hash = spec_});
        if (!set) throw tool_error(path + ": " + set.error().message);
        ok_or_throw(save(*set, path, {.keys_added = hashes.size(), .keys = form}));
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
    void commit(const std::string&, const key_form&) const override {}

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
    void commit(const std::string& path, const key_form& form) const override {
        ok_or_throw(save(
            filter_, path,
            {.keys_added = filter_.changing_adds(), .fpr_promised = filter_.promised_fpr(), .keys = form}));
    }

  private:
    static plain_scalable_bloom make(const any_hasher& hasher, const filter_choice& how) {
        scalable_parameters chosen{.first_keys = std::max<std::uint64_t>(how.first_keys, 1000),
                                   .rate = how.rate};
        // A first layer that should do for all gets half of the rate: 4 bits a key less than by 0.85, which is for chains.
        if (how.counted) chosen.tightening = 0.5;
        auto made = plain_scalable_bloom::create(chosen, {.hash = hasher.spec()});
        if (!made) throw tool_error(made.error().message);
        return std::move(*made);
    }

    plain_scalable_bloom filter_;
    std::uint64_t loaded_;
};

class window_memory final : public dedup_memory {
  public:
    window_memory(const any_hasher& hasher, const window_choice& how, const std::optional<std::string>& state)
        : filter_(state ? load_state<plain_windowed_bloom>(*state, hasher) : make(hasher, how)), how_(how) {
        if (how.seconds) {
            const std::uint32_t steps = filter_.window_steps();
            const auto nanoseconds = static_cast<std::int64_t>(*how.seconds * 1e9) / steps * steps;
            schedule_ = value_or_throw(window_schedule::make(std::chrono::nanoseconds(nanoseconds), steps));
        } else {
            step_lines_ = (how.keys + filter_.window_steps() - 1) / filter_.window_steps();
            left_ = step_lines_;
        }
        if (state && how.seconds) rotate();
    }

    void test_and_add(const chunk&, std::span<const std::uint64_t> hashes, std::span<bool> seen) override {
        if (schedule_) rotate();
        for (std::size_t done = 0; done < hashes.size();) {
            std::size_t some = hashes.size() - done;
            if (!schedule_) {
                if (left_ == 0) {
                    ok_or_throw(filter_.rotate_to(filter_.epoch() + 1));
                    left_ = step_lines_;
                }
                some = static_cast<std::size_t>(std::min<std::uint64_t>(some, left_));
                left_ -= some;
            }
            const std::size_t added =
                filter_.test_and_add(hashes.subspan(done, some), seen.subspan(done, some));
            // The rate is that of a window at its fullest, or less: a bound, and nearly what is to be expected.
            expected_ += static_cast<double>(added) * how_.rate;
            done += some;
        }
    }
    lost_lines lost() const override { return {expected_, expected_}; }
    std::uint64_t size_bytes() const override { return filter_.size_bytes(); }
    std::string description() const override {
        return "a windowed_bloom of " +
               (how_.seconds ? seconds_text(*how_.seconds) : count_text(how_.keys) + " lines") +
               ", false-positive rate at most " + rate_text(how_.rate);
    }
    void commit(const std::string& path, const key_form& form) const override {
        ok_or_throw(save(filter_, path,
                         {.label = window_label(how_),
                          .keys_designed = how_.keys,
                          .fpr_promised = how_.rate,
                          .keys = form}));
    }

  private:
    static plain_windowed_bloom make(const any_hasher& hasher, const window_choice& how) {
        auto made = plain_windowed_bloom::create({.keys = how.keys, .false_positive_rate = how.rate},
                                                 {.hash = hasher.spec()});
        if (!made) throw tool_error(made.error().message);
        return std::move(*made);
    }
    void rotate() {
        const std::uint64_t now = schedule_->epoch_now();
        if (now > filter_.epoch())
            ok_or_throw(filter_.rotate_to(now)); // a clock that goes back changes nothing
    }

    plain_windowed_bloom filter_;
    window_choice how_;
    std::optional<window_schedule> schedule_;
    std::uint64_t step_lines_ = 0;
    std::uint64_t left_ = 0;
    double expected_ = 0;
};

} // namespace

std::string window_label(const window_choice& how) {
    return how.seconds ? "dedup: the last " + number_text(*how.seconds, 15) + " s"
                       : "dedup: the last " + std::to_string(how.keys) + " lines";
}

std::unique_ptr<dedup_memory> make_fingerprint_memory(const any_hasher& hasher,
                                                      const std::optional<std::string>& state) {
    return std::make_unique<fingerprint_memory>(hasher, state);
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
