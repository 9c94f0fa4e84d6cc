// sharded<F, Lock>: 2^s filters, each behind a lock of its own on cache lines of its own; a key belongs to the shard
// that the high bits of its hash name. Spreads the lock of filters that need one; atomic filters need none of this,
// and get no_lock.
//
// Thread safety: every method is [any-thread]; a call locks one shard at a time, so a whole-filter report is not a
// snapshot of one moment. With no_lock it is what F is, and clear is [exclusive].
//
// The shards themselves stay inside: their filters hold mixed hashes (see inner_hash), so their bits mean nothing to
// any other filter.
#pragma once

#include <bouncer/locked.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace bouncer {

namespace detail {

template <class F>
using lock_for = std::conditional_t<F::concurrency == concurrency_level::exclusive, std::mutex, no_lock>;

} // namespace detail

template <class F, class Lock = detail::lock_for<F>>
class sharded {
    static_assert(!std::is_same_v<Lock, no_lock> || F::concurrency != concurrency_level::exclusive,
                  "a filter that is not safe for threads needs a lock");

  public:
    using filter_type = F;
    using parameters = typename F::parameters;
    using default_hasher = typename F::default_hasher;
    static constexpr concurrency_level concurrency = locked<F, Lock>::concurrency;
    static constexpr bool no_false_negatives = F::no_false_negatives;
    static constexpr std::uint32_t shards_most = 1u << 16;

    // [any-thread] The goal is for the whole; `shards` is a power of two (0: four per core). A shard is sized for
    // its mean load plus three standard deviations, so that the uneven spread of keys does not break the rate.
    static result<sharded> create(const goal& wanted, const filter_options& options = {},
                                  std::uint32_t shards = 0) {
        return detail::guarded([&]() -> result<sharded> {
            const std::uint32_t count = shards == 0 ? default_shards() : shards;
            if (auto ok = check_shards(count); !ok) return ok.error();
            if (auto ok = detail::check_goal(wanted); !ok) return ok.error();
            goal each = wanted;
            const double mean = static_cast<double>(wanted.keys) / count;
            if (count > 1) each.keys = static_cast<std::uint64_t>(std::ceil(mean + 3 * std::sqrt(mean)));
            if (each.size_bytes) *each.size_bytes /= count;
            const auto solved = F::solve(each);
            if (!solved) return of_each(count, solved.error());
            return create(*solved, options, count);
        });
    }
    // [any-thread] Explicit parameters of one shard. The total is checked before anything is allocated.
    static result<sharded> create(const parameters& of_shard, const filter_options& options = {},
                                  std::uint32_t shards = 0) {
        return detail::guarded([&]() -> result<sharded> {
            const std::uint32_t count = shards == 0 ? default_shards() : shards;
            if (auto ok = check_shards(count); !ok) return ok.error();
            if (auto ok = F::check(of_shard); !ok) return of_each(count, ok.error());
            const std::uint64_t each_bytes =
                F::size_bytes_of(of_shard); // at most 2^47, and count at most 2^16
            if (each_bytes > memory_limit_bytes() / count)
                return failure{error_code::too_large, std::to_string(count) + " shards of " +
                                                          std::to_string(each_bytes) +
                                                          " bytes are beyond the memory limit of " +
                                                          std::to_string(memory_limit_bytes()) + " bytes"};
            std::vector<locked<F, Lock>> made;
            made.reserve(count);
            for (std::uint32_t i = 0; i < count; ++i) {
                auto shard = locked<F, Lock>::create(of_shard, options);
                if (!shard) return of_each(count, shard.error());
                made.push_back(std::move(*shard));
            }
            return sharded(std::move(made));
        });
    }

    // [any-thread] F's methods of the same name, on the key's shard, under its lock.
    bool add(std::uint64_t hash) noexcept { return shard_of(hash).add(inner_hash(hash)); }
    bool may_contain(std::uint64_t hash) const noexcept {
        return shard_of(hash).may_contain(inner_hash(hash));
    }
    bool test_and_add(std::uint64_t hash) noexcept { return shard_of(hash).test_and_add(inner_hash(hash)); }

    // [any-thread] Batches go key by key: neighbours in a batch belong to different shards.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        const std::size_t count = std::min(hashes.size(), answers.size());
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i) found += answers[i] = may_contain(hashes[i]);
        return found;
    }
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept {
        std::size_t changed = 0;
        for (const std::uint64_t hash : hashes) changed += add(hash);
        return changed;
    }
    std::size_t test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) noexcept {
        const std::size_t count = std::min(hashes.size(), answers.size());
        std::size_t added = 0;
        for (std::size_t i = 0; i < count; ++i) added += !(answers[i] = test_and_add(hashes[i]));
        return added;
    }

    // [any-thread] (no_lock: [exclusive]) Forgets every key, shard by shard: an add that races with it may be forgotten or not.
    void clear() noexcept {
        for (auto& shard : shards_) shard.clear();
    }

    // [any-thread] The union, shard by shard; returns the mean expected rate after. Refuses another shard count and
    // filters that F refuses for their parameters or hash, and changes nothing then: the shards are alike, so the first one
    // decides. An F whose merge needs memory or room (scalable) can fail at any shard, out_of_memory or full: the shards
    // before that one are then merged, the others not. No key is lost.
    result<double> merge(const sharded& other) {
        return detail::guarded([&]() -> result<double> {
            if (shards_.size() != other.shards_.size())
                return failure{error_code::mismatch,
                               "the filters differ in shards: " + std::to_string(shards_.size()) + " and " +
                                   std::to_string(other.shards_.size())};
            double sum = 0;
            for (std::size_t i = 0; i < shards_.size(); ++i) {
                auto rate = shards_[i].merge(other.shards_[i]);
                if (!rate) return rate.error();
                sum += *rate;
            }
            return sum / static_cast<double>(shards_.size());
        });
    }

    // [any-thread] The estimates of F over all shards. O(m).
    double approximate_size() const {
        double sum = 0;
        for (const auto& shard : shards_)
            sum += shard.reading([](const F& f) { return f.approximate_size(); });
        return sum;
    }
    double expected_fpr() const {
        return mean([](const F& f) { return f.expected_fpr(); });
    }
    double fill_ratio() const {
        return mean([](const F& f) { return f.fill_ratio(); });
    }

    // [any-thread] Same shards, same bits. O(m).
    bool operator==(const sharded& other) const {
        return std::equal(shards_.begin(), shards_.end(), other.shards_.begin(), other.shards_.end());
    }

    // [immutable] The shard a hash belongs to, and the exact expected rate of one shard with `keys` keys in it.
    std::size_t shard_index(std::uint64_t hash) const noexcept {
        return static_cast<std::size_t>(detail::fast_range(hash, shards_.size()));
    }
    double shard_fpr_at(std::uint64_t keys) const {
        return shards_.front().reading([&](const F& f) { return f.fpr_at(keys); });
    }

    // [immutable]
    std::size_t shard_count() const noexcept { return shards_.size(); }
    hash_spec hash() const noexcept { return shards_.front().hash(); }
    std::uint64_t size_bytes() const noexcept {
        std::uint64_t sum = 0;
        for (const auto& shard : shards_) sum += shard.size_bytes();
        return sum;
    }

  private:
    explicit sharded(std::vector<locked<F, Lock>> made) noexcept : shards_(std::move(made)) {}

    static std::uint32_t default_shards() noexcept {
        return std::bit_ceil(std::clamp(4 * std::thread::hardware_concurrency(), 1u, 1024u));
    }

    static result<void> check_shards(std::uint32_t shards) {
        if (std::has_single_bit(shards) && shards <= shards_most) return {};
        return failure{error_code::invalid_argument,
                       "shards must be a power of two up to 65536, and is " + std::to_string(shards)};
    }

    static failure of_each(std::uint32_t count, failure why) {
        if (count > 1) why.message = "each of " + std::to_string(count) + " shards: " + why.message;
        return why;
    }

    template <class Of>
    double mean(Of of) const {
        double sum = 0;
        for (const auto& shard : shards_) sum += shard.reading(of);
        return sum / static_cast<double>(shards_.size());
    }

    locked<F, Lock>& shard_of(std::uint64_t hash) noexcept { return shards_[shard_index(hash)]; }
    const locked<F, Lock>& shard_of(std::uint64_t hash) const noexcept { return shards_[shard_index(hash)]; }

    // The shard has spent the high bits of the hash, and F would take its block from the same bits: unmixed, every
    // shard would use only 1/shards of its blocks. Bijective, so no two hashes become equal.
    static std::uint64_t inner_hash(std::uint64_t hash) noexcept { return detail::mix64(hash); }

    std::vector<locked<F, Lock>> shards_;
};

} // namespace bouncer
