// What a kind can do, as concepts. The battery picks its suites by them.
#pragma once

#include <bouncer/build.h>
#include <bouncer/goal.h>
#include <bouncer/hash.h>
#include <bouncer/result.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bouncer {

// What a class promises when several threads use one object; its trait `concurrency`.
enum class concurrency_level : std::uint8_t {
    exclusive, // whoever changes it must be alone; any number of readers while nobody changes it
    locked,    // any thread, anything; calls wait for each other
    lock_free, // any thread, all but what is tagged [exclusive]; one call may have to try again, not all of them
    wait_free, // any thread, all but what is tagged [exclusive]; every call ends in a bounded number of own steps
};

// Answers membership for 64-bit hashes, one by one and in batches.
template <class F>
concept filter = requires(const F& f, std::uint64_t hash, std::span<const std::uint64_t> hashes,
                          std::span<bool> answers) {
    { f.may_contain(hash) }
    noexcept->std::same_as<bool>;
    { f.may_contain(hashes, answers) }
    noexcept->std::same_as<std::size_t>;
    { f.size_bytes() }
    noexcept->std::same_as<std::uint64_t>;
    { f.hash() } -> std::convertible_to<hash_spec>;
    { F::no_false_negatives } -> std::convertible_to<bool>;
    { F::concurrency } -> std::convertible_to<concurrency_level>;
};

// Takes keys one after the other.
template <class F>
concept incremental = filter<F> &&
    requires(F& f, std::uint64_t hash, std::span<const std::uint64_t> hashes, std::span<bool> answers) {
    { f.add(hash) }
    noexcept->std::same_as<bool>;
    { f.add_batch(hashes) }
    noexcept->std::same_as<std::size_t>;
    { f.test_and_add(hash) }
    noexcept->std::same_as<bool>;
    { f.test_and_add(hashes, answers) }
    noexcept->std::same_as<std::size_t>;
    f.clear();
};

// Loses keys again, one by one. `remove` has a precondition: an add of that key, of its own, came before.
template <class F>
concept deletable = incremental<F> && requires(F& f, const F& c, std::uint64_t hash) {
    { f.remove(hash) }
    noexcept->std::same_as<void>;
    { f.try_remove(hash) }
    noexcept->std::same_as<bool>;
    { c.count(hash) }
    noexcept->std::same_as<std::uint64_t>;
};

// Forgets by steps that the caller numbers.
template <class F>
concept rotating = incremental<F> && requires(F& f, const F& c, std::uint64_t epoch) {
    { f.rotate_to(epoch) } -> std::same_as<result<void>>;
    { c.epoch() }
    noexcept->std::same_as<std::uint64_t>;
};

// Built once from a whole set, and never changed: a static kind.
template <class F>
concept buildable = filter<F> && requires(std::span<const std::uint64_t> hashes, const hash_source& source,
                                          const goal& wanted, const build_options& options) {
    { F::build(hashes, wanted, options) } -> std::same_as<result<F>>;
    { F::build(source, wanted, options) } -> std::same_as<result<F>>;
};

// The same from both sides of a closed universe, and exact there.
template <class F>
concept buildable_exactly = filter<F> &&
    requires(std::span<const std::uint64_t> hashes, const build_options& options) {
    { F::build(hashes, hashes, options) } -> std::same_as<result<F>>;
};

// Becomes the union with another of the same parameters; returns the expected rate after.
template <class F>
concept mergeable = filter<F> && requires(F& f, const F& other, double rate) {
    { f.merge(other) } -> std::same_as<result<double>>;
    { f.merge_if_within(other, rate) } -> std::same_as<result<double>>;
};

// Shrinks without its keys.
template <class F>
concept foldable = filter<F> && requires(const F& f, std::uint64_t factor) {
    f.fold(factor);
};

// Estimates its own key count and rate from its bits.
template <class F>
concept self_estimating = filter<F> && requires(const F& f) {
    { f.fill_ratio() } -> std::same_as<double>;
    { f.approximate_size() } -> std::same_as<double>;
    { f.expected_fpr() } -> std::same_as<double>;
};

} // namespace bouncer
