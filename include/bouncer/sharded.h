// sharded<F, Lock>: 2^s filters, each behind a lock of its own on cache lines of its own; a key belongs to the shard
// that the high bits of its hash name. Spreads the lock of filters that need one; atomic filters need none of this.
//
// Thread safety: every method is [any-thread]; a call locks one shard at a time, so a whole-filter report is not a
// snapshot of one moment. With no_lock it is what F is.
#pragma once

#include <bouncer/locked.h>

#include <bit>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace bouncer {

template <class F, class Lock = no_lock>
class sharded {
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
        const std::uint32_t count = shards == 0 ? default_shards() : shards;
        if (auto ok = check_shards(count); !ok) return ok.error();
        goal each = wanted;
        const double mean = static_cast<double>(wanted.keys) / count;
        if (wanted.keys != 0 && count > 1)
            each.keys = static_cast<std::uint64_t>(std::ceil(mean + 3 * std::sqrt(mean)));
        if (each.size_bytes) *each.size_bytes /= count;
        return fill(count, [&] { return locked<F, Lock>::create(each, options); });
    }
    // [any-thread] Explicit parameters of one shard.
    static result<sharded> create(const parameters& of_shard, const filter_options& options = {},
                                  std::uint32_t shards = 0) {
        const std::uint32_t count = shards == 0 ? default_shards() : shards;
        if (auto ok = check_shards(count); !ok) return ok.error();
        return fill(count, [&] { return locked<F, Lock>::create(of_shard, options); });
    }

    // [any-thread] F's methods of the same name, on the key's shard, under its lock.
    bool add(std::uint64_t hash) noexcept { return shard_of(hash).add(rest_of(hash)); }
    bool may_contain(std::uint64_t hash) const noexcept { return shard_of(hash).may_contain(rest_of(hash)); }
    bool test_and_add(std::uint64_t hash) noexcept { return shard_of(hash).test_and_add(rest_of(hash)); }

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

    // [any-thread] Forgets every key, shard by shard: an add that races with it may be forgotten or not.
    void clear() noexcept {
        for (auto& shard : shards_) shard.clear();
    }

    // [any-thread] The union, shard by shard; returns the mean expected rate after. Refuses another shard count or
    // anything F refuses, and changes nothing then (all shards have equal parameters, so the first one decides).
    result<double> merge(const sharded& other) {
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

    // [any-thread] The shard a hash belongs to.
    std::size_t shard_index(std::uint64_t hash) const noexcept {
        return static_cast<std::size_t>(detail::fast_range(hash, shards_.size()));
    }
    const locked<F, Lock>& shard(std::size_t index) const noexcept { return shards_[index]; }

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

    template <class Make>
    static result<sharded> fill(std::uint32_t count, Make make) {
        std::vector<locked<F, Lock>> shards;
        shards.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            auto shard = make();
            if (!shard) return shard.error();
            shards.push_back(std::move(*shard));
        }
        return sharded(std::move(shards));
    }

    template <class Of>
    double mean(Of of) const {
        double sum = 0;
        for (const auto& shard : shards_) sum += shard.reading(of);
        return sum / static_cast<double>(shards_.size());
    }

    locked<F, Lock>& shard_of(std::uint64_t hash) noexcept { return shards_[shard_index(hash)]; }
    const locked<F, Lock>& shard_of(std::uint64_t hash) const noexcept { return shards_[shard_index(hash)]; }

    // The shard has spent the high bits of the hash, and F would take its block from the same bits: without this
    // every shard would use only 1/shards of its blocks. No two hashes of a shard become equal.
    std::uint64_t rest_of(std::uint64_t hash) const noexcept {
        return detail::fast_range_rest(hash, shards_.size());
    }

    std::vector<locked<F, Lock>> shards_;
};

} // namespace bouncer
