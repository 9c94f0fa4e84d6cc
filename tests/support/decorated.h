// The kind of the running case as one type, for what wraps filters: counted, locked, sharded, keyed.
//
// A decorator is a template of its filter, and uses it by name only. So it is compiled once, over this type, and its
// suites still run over every kind. What depends on the filter's type itself (access, hasher, views) is tested with a
// kind or two beside them.
#pragma once

#include "support/subject.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace bouncer::test {

class subject_filter {
  public:
    using parameters = choice;
    using default_hasher = xxh3;
    // The most careful answers; the kind's own are in its facts.
    static constexpr concurrency_level concurrency = concurrency_level::exclusive;
    static constexpr bool no_false_negatives = false;

    static inline const kind* made_of = nullptr; // set by decorator_test

    explicit subject_filter(subject filter) : inner(std::move(filter)) {}

    static result<choice> solve(const goal& wanted) { return made_of->solve(wanted); }
    static result<void> check(const choice& chosen) { return made_of->check(chosen); }
    static std::uint64_t size_bytes_of(const choice& chosen) { return made_of->size_bytes_of(chosen); }
    static result<subject_filter> create(const goal& wanted, const filter_options& options = {}) {
        return made(made_of->create(wanted, options));
    }
    static result<subject_filter> create(const choice& chosen, const filter_options& options = {}) {
        return made(made_of->create(chosen, options));
    }

    bool may_contain(std::uint64_t hash) const noexcept { return inner.may_contain(hash); }
    std::size_t may_contain(hash_span hashes, std::span<bool> answers) const noexcept {
        return inner.may_contain(hashes, answers);
    }
    bool add(std::uint64_t hash) noexcept { return inner.add(hash); }
    std::size_t add_batch(hash_span hashes) noexcept { return inner.add_batch(hashes); }
    bool test_and_add(std::uint64_t hash) noexcept { return inner.test_and_add(hash); }
    std::size_t test_and_add(hash_span hashes, std::span<bool> answers) noexcept {
        return inner.test_and_add(hashes, answers);
    }
    void add_all(hash_span hashes, unsigned threads = 0) { inner.add_all(hashes, threads); }
    void clear() noexcept { inner.clear(); }
    result<double> merge(const subject_filter& other) { return inner.merge(other.inner); }
    result<double> merge_if_within(const subject_filter& other, double rate) {
        return inner.merge_if_within(other.inner, rate);
    }
    bool operator==(const subject_filter& other) const { return inner == other.inner; }
    subject_filter clone() const { return subject_filter(inner.clone()); }
    subject_filter view() const { return subject_filter(inner.view()); }
    double fill_ratio() const { return inner.fill_ratio(); }
    double approximate_size() const { return inner.approximate_size(); }
    double expected_fpr() const { return inner.expected_fpr(); }
    double fpr_at(std::uint64_t keys) const { return inner.fpr_at(keys); }
    std::uint64_t size_bytes() const noexcept { return inner.size_bytes(); }
    hash_spec hash() const noexcept { return inner.hash(); }
    choice params() const { return inner.params(); }

  private:
    static result<subject_filter> made(result<subject> filter) {
        if (!filter) return filter.error();
        return subject_filter(std::move(*filter));
    }

    subject inner;
};
static_assert(incremental<subject_filter> && mergeable<subject_filter> && self_estimating<subject_filter>);

class decorator_test : public kind_test {
  protected:
    void SetUp() override { subject_filter::made_of = &k; }
};

} // namespace bouncer::test
