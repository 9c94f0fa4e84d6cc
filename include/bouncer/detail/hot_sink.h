// Where a rebuild's source puts its keys.
#pragma once

#include <bouncer/detail/hot_guard.h>
#include <bouncer/detail/hot_memory.h>
#include <bouncer/hot.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

namespace bouncer {

// Of one rebuild, for its source. Every call looks up the new filter afresh, so that a cancel frees it at once even
// while the source is stalled.
// Thread safety: [exclusive]: one thread at a time.
template <class F>
class rebuild_sink {
  public:
    rebuild_sink(const rebuild_sink&) = delete;
    rebuild_sink& operator=(const rebuild_sink&) = delete;

    // [exclusive] False: stop, the key was not needed. Throws only what the progress callback throws.
    template <class Key>
    requires requires(F& f, const Key& key) { f.add(key); }
    bool add(const Key& key) {
        return write([&](F& f) { return std::size_t{f.add(key)}; }) && took(1);
    }

    // [exclusive] A vector, array or span of keys; in pieces, so that a cancel need not wait for all.
    template <class Keys>
    requires requires(F& f, const Keys& keys) { f.add_batch(keys); }
    bool add_batch(const Keys& keys) {
        std::span left(std::ranges::data(keys), std::ranges::size(keys));
        while (!left.empty()) {
            const auto piece = left.first(std::min({left.size(), piece_keys, until_look()}));
            if (!write([&](F& f) { return f.add_batch(piece); }) || !took(piece.size())) return false;
            left = left.subspan(piece.size());
        }
        return !stopped_;
    }

    // [exclusive] Keys taken so far.
    std::uint64_t keys() const noexcept { return keys_; }

  private:
    friend class rebuilder<F>;
    static constexpr std::size_t piece_keys = 4096;

    struct limits {
        std::uint64_t most = detail::unlimited; // keys that the new filter may have
        std::uint64_t announced = 0;
        std::optional<double> rate;
        const std::function<bool(std::uint64_t, std::uint64_t)>* progress = nullptr;
        std::uint64_t progress_every = 1;
    };

    rebuild_sink(hot<F>& target, std::uint64_t rebuild, const limits& within)
        : target_(target), rebuild_(rebuild), within_(within), next_progress_(within.progress_every) {
        plan_look();
    }

    template <class Work>
    bool write(Work work) noexcept {
        if (stopped_) return false;
        const detail::hot_guard held(target_.publisher_.current(), detail::hot_use::add);
        const auto& version = held.as<F>();
        if (version.shadow_id != rebuild_) {
            stopped_ = true;
            return false;
        }
        inserted_ += work(version.shadow->filter);
        return true;
    }

    std::size_t until_look() const noexcept { return static_cast<std::size_t>(next_look_ - keys_); }

    bool took(std::size_t count) {
        keys_ += count;
        return keys_ < next_look_ || look();
    }

    // Too many keys inside, or progress due? A new filter that may not have them is dropped on the spot.
    bool look() {
        count_others();
        if (inserted_ > within_.most || added_meanwhile_ > within_.most - inserted_)
            return stop(detail::too_many_keys(inserted_ + added_meanwhile_, within_.most, within_.announced,
                                              within_.rate));
        if (within_.progress != nullptr && keys_ >= next_progress_) {
            next_progress_ = keys_ + within_.progress_every;
            if (!(*within_.progress)(keys_, within_.announced))
                return stop({error_code::cancelled,
                             "the progress callback said stop after " + std::to_string(keys_) + " keys"});
        }
        plan_look();
        return true;
    }

    bool stop(failure why) {
        if (!why_) why_ = std::move(why);
        stopped_ = true;
        target_.drop(rebuild_);
        return false;
    }

    void plan_look() noexcept {
        const std::uint64_t room = within_.most - std::min(within_.most, inserted_ + added_meanwhile_);
        std::uint64_t distance = std::min<std::uint64_t>(room, piece_keys - 1) + 1;
        if (within_.progress != nullptr) distance = std::min(distance, next_progress_ - keys_);
        next_look_ = keys_ + distance;
    }

    void count_others() noexcept {
        const detail::hot_guard held(target_.publisher_.current(), detail::hot_use::ask);
        const auto& version = held.as<F>();
        if (version.shadow_id == rebuild_) added_meanwhile_ = version.shadow->added.total();
    }

    hot<F>& target_;
    const std::uint64_t rebuild_;
    const limits within_;
    std::uint64_t keys_ = 0;
    std::uint64_t inserted_ = 0; // of them, those that changed the filter: about the distinct ones
    std::uint64_t added_meanwhile_ = 0;
    std::uint64_t next_look_ = 0;
    std::uint64_t next_progress_;
    bool stopped_ = false;
    std::optional<failure> why_;
};

} // namespace bouncer
