// counted<F>: a filter that counts its changing adds as they happen, where approximate_size() would scan all bits.
// The count is striped per thread, so that counting does not put all adders on one cache line; a plain filter that
// nobody counts pays nothing.
//
// Thread safety: F's; count() is [any-thread].
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/striped_counter.h>

#include <span>
#include <utility>

namespace bouncer {

template <class F>
class counted {
  public:
    using filter_type = F;
    using parameters = typename F::parameters;
    using default_hasher = typename F::default_hasher;
    static constexpr concurrency_level concurrency = F::concurrency;
    static constexpr bool no_false_negatives = F::no_false_negatives;

    // [any-thread]
    static result<counted> create(const goal& wanted, const filter_options& options = {}) {
        return made(F::create(wanted, options));
    }
    static result<counted> create(const parameters& chosen, const filter_options& options = {}) {
        return made(F::create(chosen, options));
    }

    // [any-thread] (plain: [exclusive]) F's methods of the same name.
    bool add(std::uint64_t hash) noexcept {
        const bool changed = filter_.add(hash);
        if (changed) count_.add(1);
        return changed;
    }
    bool may_contain(std::uint64_t hash) const noexcept { return filter_.may_contain(hash); }
    bool test_and_add(std::uint64_t hash) noexcept {
        const bool was_there = filter_.test_and_add(hash);
        if (!was_there) count_.add(1);
        return was_there;
    }
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        return filter_.may_contain(hashes, answers);
    }
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept {
        const std::size_t changed = filter_.add_batch(hashes);
        count_.add(changed);
        return changed;
    }
    std::size_t test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) noexcept {
        const std::size_t added = filter_.test_and_add(hashes, answers);
        count_.add(added);
        return added;
    }

    // [exclusive]
    void clear() noexcept {
        filter_.clear();
        count_.reset();
    }

    // [any-thread] How many adds found a zero bit: at least the adds that set one. Above the number of distinct
    // keys only by races (two threads adding one new key may both count), below it by false positives. Keys that
    // arrive by merging into filter() are not counted.
    std::uint64_t count() const noexcept { return count_.total(); }

    // [any-thread] Everything else F knows.
    const F& filter() const noexcept { return filter_; }
    F& filter() noexcept { return filter_; }

    // [immutable]
    hash_spec hash() const noexcept { return filter_.hash(); }
    std::uint64_t size_bytes() const noexcept { return filter_.size_bytes(); }

  private:
    explicit counted(F filter) noexcept : filter_(std::move(filter)) {}

    static result<counted> made(result<F> filter) {
        if (!filter) return filter.error();
        return counted(std::move(*filter));
    }

    F filter_;
    detail::striped_counter count_;
};

} // namespace bouncer
