// The model of every kind whose state is a function of the set of hashes added (of the multiset, where it counts): a plain
// and an atomic filter are told the same, and after every step must equal one made afresh from the exact set. The other
// laws (no false negative, equal answers by every way of asking) are checked on their own. The property tests draw the
// steps (property/model_test.cc), the fuzzer finds them (fuzz/operations.cc).
//
// `Ways` says how filters are made, and what a kind can, beyond the methods that filters and subjects share:
//   plain, atomic                    their types
//   law(holds, text)                 reports a broken law
//   bits(), idempotent(), foldable(), released()    as in facts (support/subject.h)
//   empty_like(plain), other_size(plain)            new plain filters
//   plain_copy(filter), atomic_copy(filter)
//   assign(into, from)               moves the filter itself
//   shape_of(plain)                  of a bit filter
//   is_random(hash)                  no structure, and not chosen with an eye on the answers
#pragma once

#include "support/random_hashes.h"

#include <bouncer/math.h>
#include <bouncer/result.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bouncer::test {

template <class Ways>
class filter_model {
  public:
    using plain = typename Ways::plain;
    using atomic = typename Ways::atomic;
    using hash_list = std::span<const std::uint64_t>;

    filter_model(Ways ways, plain one, atomic other)
        : ways_(ways), plain_(std::move(one)), atomic_(std::move(other)) {
        law(plain_.params() == atomic_.params(), "both have the same parameters");
        check();
    }

    // ---- steps -----------------------------------------------------------------------------------------------------

    void add(hash_list hashes) {
        for (const std::uint64_t hash : hashes) {
            const bool before = plain_.may_contain(hash);
            law(plain_.add(hash) == !before, "plain add says whether the key looked new");
            law(atomic_.add(hash) == !before, "atomic add says whether the key looked new");
            law(plain_.may_contain(hash) && atomic_.may_contain(hash), "an added key is there");
        }
        remember(hashes);
    }

    void test_and_add(hash_list hashes) {
        for (const std::uint64_t hash : hashes) {
            const bool before = plain_.may_contain(hash);
            law(plain_.test_and_add(hash) == before, "plain test_and_add says what was");
            law(atomic_.test_and_add(hash) == before, "atomic test_and_add says what was");
        }
        remember(hashes);
    }

    // One by batch, the other one by one.
    void add_batch(hash_list hashes, bool batch_to_plain) {
        const auto both = [&](auto& batched, auto& single) {
            std::size_t changed = 0;
            for (const std::uint64_t hash : hashes) changed += single.add(hash);
            law(batched.add_batch(hashes) == changed, "add_batch counts what single adds count");
        };
        if (batch_to_plain)
            both(plain_, atomic_);
        else
            both(atomic_, plain_);
        remember(hashes);
    }

    void test_and_add_batch(hash_list hashes, bool batch_to_plain) {
        const auto both = [&](auto& batched, auto& single) {
            answers got(hashes.size());
            const std::size_t added = batched.test_and_add(hashes, got.span());
            std::size_t fresh = 0;
            for (std::size_t i = 0; i < hashes.size(); ++i) {
                const bool before = single.may_contain(hashes[i]);
                law(single.test_and_add(hashes[i]) == before, "test_and_add says what was");
                law(got[i] == before, "a batch of test_and_add answers as single ones");
                fresh += !before;
            }
            law(added == fresh, "a batch of test_and_add counts the new");
        };
        if (batch_to_plain)
            both(plain_, atomic_);
        else
            both(atomic_, plain_);
        remember(hashes);
    }

    void add_all(hash_list hashes, unsigned plain_threads, unsigned atomic_threads) {
        if (!ways_.bits()) return add_batch(hashes, true);
        plain_.add_all(hashes, plain_threads);
        atomic_.add_all(hashes, atomic_threads);
        remember(hashes);
    }

    // A union of either order and either access; the argument of merge stays as it was.
    void merge(hash_list hashes) {
        const plain other = filled(hashes);
        double together = 0;
        if (ways_.bits()) {
            together = plain_.union_size(other).value();
            law(atomic_.intersection_size(other).value() >= 0, "no negative intersection");
        }
        plain reversed = ways_.plain_copy(other);
        const double rate = reversed.merge(atomic_).value();
        law(plain_.merge(other).value() == rate, "a union commutes");
        law(atomic_.merge(other.view()).value() == rate, "atomic merges as plain");
        law(plain_ == reversed, "a union commutes, bit by bit");
        law(plain_.expected_fpr() == rate, "merge returns the rate after");
        if (ways_.bits()) law(plain_.approximate_size() == together, "union_size forecasts the merge");
        if (ways_.idempotent())
            law(plain_.merge(plain_).value() == rate, "a merge with itself changes nothing");
        remember(hashes);
    }

    // limit_of(the rate after) is the limit.
    template <class LimitOf>
    void merge_if_within(hash_list hashes, LimitOf limit_of) {
        const plain other = filled(hashes);
        plain joined = ways_.plain_copy(plain_);
        const double after = joined.merge(other).value();
        const double limit = limit_of(after);
        const auto of_plain = plain_.merge_if_within(other, limit);
        const auto of_atomic = atomic_.merge_if_within(other, limit);
        if (!(limit > 0) || !(limit < 1)) { // an empty union, or a full one, as the limit
            law(!of_plain && of_plain.error().code == error_code::invalid_argument,
                "a limit that is no rate is refused");
            return;
        }
        law(of_plain.has_value() == (after <= limit), "plain merges if within the limit");
        law(of_atomic.has_value() == (after <= limit), "atomic merges if within the limit");
        if (!of_plain) {
            law(of_plain.error().code == error_code::full, "beyond the limit is full");
            return;
        }
        law(*of_plain == after, "merge_if_within returns the rate after");
        remember(hashes);
    }

    // Another size is refused, and changes nothing.
    void merge_other(hash_list hashes) {
        plain other = ways_.other_size(plain_);
        if (other.params() == plain_.params()) return;
        other.add_batch(hashes);
        const auto is_mismatch = [&](const result<double>& refused) {
            law(!refused && refused.error().code == error_code::mismatch, "another size is a mismatch");
        };
        is_mismatch(plain_.merge(other));
        is_mismatch(atomic_.merge_if_within(other, 0.5));
        if (ways_.bits()) is_mismatch(plain_.union_size(other));
    }

    // As if the same keys had been added to a filter of 1/factor of the size; then goes on with that one.
    void fold(std::uint64_t factor) {
        if constexpr (requires { plain_.fold(factor); }) {
            if (!ways_.foldable()) return;
            auto small = atomic_.fold(factor);
            law(factor != 0 || !small, "nothing folds by 0");
            law(factor != 1 || small, "everything folds by 1");
            if (!small) {
                law(small.error().code == error_code::invalid_argument,
                    "a factor that does not divide is refused");
                return;
            }
            law(small->size_bytes() * factor == plain_.size_bytes(), "a fold divides the size");
            ways_.assign(plain_, plain_.fold(factor).value());
            ways_.assign(atomic_, std::move(*small));
            law(plain_ == atomic_, "plain and atomic fold alike");
        }
    }

    void clear() {
        plain_.clear();
        atomic_.clear();
        hashes_.clear();
    }

    // A copy does not write through; then goes on with it.
    void clone(hash_list hashes) {
        plain copy = ways_.plain_copy(atomic_);
        law(copy == plain_, "a clone has the same bits");
        copy.add_batch(hashes);
        check();
        ways_.assign(plain_, std::move(copy));
        ways_.assign(atomic_, ways_.atomic_copy(plain_));
        remember(hashes);
    }

    // ---- laws ------------------------------------------------------------------------------------------------------

    void check() const {
        const std::vector<std::uint64_t> added(hashes_.begin(), hashes_.end());
        const plain fresh = filled(added);
        law(plain_ == fresh, "plain bits are those of the set");
        law(atomic_ == fresh, "atomic bits are those of the set");
        law(atomic_.view() == fresh, "the view's bits are those of the set");
        for (const std::uint64_t hash : added) law(plain_.may_contain(hash), "no false negative");
        answers got(added.size());
        law(plain_.may_contain(added, got.span()) == added.size(), "no false negative in a batch");
        law(std::ranges::all_of(got.span(), [](bool yes) { return yes; }), "a batch says yes to every key");
        check_estimates();
    }

    // Any key: every way of asking gives one answer.
    void ask(hash_list hashes) const {
        const auto view = plain_.view();
        answers of_plain(hashes.size());
        answers of_atomic(hashes.size());
        answers of_view(hashes.size() / 2); // the shorter span counts
        const std::size_t found = plain_.may_contain(hashes, of_plain.span());
        law(atomic_.may_contain(hashes, of_atomic.span()) == found, "atomic and plain batches find as many");
        law(view.may_contain(hashes, of_view.span()) <= found, "half a batch finds no more than all of it");
        std::size_t yes = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const bool answer = plain_.may_contain(hashes[i]);
            yes += answer;
            law(of_plain[i] == answer, "plain: batch as single");
            law(of_atomic[i] == answer, "atomic: batch as single");
            law(i >= hashes.size() / 2 || of_view[i] == answer, "view: batch as single");
            law(atomic_.may_contain(hashes[i]) == answer, "atomic answers as plain");
            if constexpr (requires { atomic_.may_contain_acquire(hashes[i]); })
                if (ways_.released())
                    law(atomic_.may_contain_acquire(hashes[i]) == answer, "acquire answers as relaxed");
            law(view.may_contain(hashes[i]) == answer, "the view answers as plain");
            law(!(answer && hashes_.empty()), "an empty filter says no");
        }
        law(yes == found, "a batch counts its answers");
    }

  private:
    void law(bool holds, const char* text) const { ways_.law(holds, text); }

    plain filled(hash_list hashes) const {
        plain out = ways_.empty_like(plain_);
        for (const std::uint64_t hash : hashes) out.add(hash);
        return out;
    }

    // Each once, where a second add changes nothing.
    void remember(hash_list hashes) {
        for (const std::uint64_t hash : hashes)
            if (!ways_.idempotent() || !hashes_.contains(hash)) hashes_.insert(hash);
    }

    void check_estimates() const {
        const double fill = plain_.fill_ratio();
        const double size = plain_.approximate_size();
        law((fill > 0) == !hashes_.empty(), "a fill for keys, none for none");
        law((size > 0) == !hashes_.empty(), "a size for keys, none for none");
        law(atomic_.fill_ratio() == fill, "atomic fill as plain");
        law(atomic_.approximate_size() == size, "atomic size as plain");
        law(atomic_.view().approximate_size() == size, "the view's size as plain");

        const double rate = plain_.expected_fpr();
        law(rate >= 0 && rate <= 1, "a rate is a rate");
        law(atomic_.expected_fpr() == rate, "atomic rate as plain");
        law(!(hashes_.empty() && rate > 0), "an empty filter has a rate of 0");
        if (ways_.bits()) check_fill(fill, size);
    }

    void check_fill(double fill, double size) const {
        const math::geometry shape = ways_.shape_of(plain_);
        const auto keys = static_cast<double>(hashes_.size());
        const auto bits = static_cast<double>(shape.total_bits());
        const double most =
            std::min(1.0, keys * static_cast<double>(shape.k()) / bits); // every throw a new bit
        law(fill <= most * (1 + 1e-12), "no more bits than throws");
        law(size <= math::keys_for_zero_fraction(shape, 1 - most) * (1 + 1e-9),
            "no more keys than throws allow");
        // Both sides, for random hashes. 7 sigma and two bits: some 10^4 filters are looked at, most of them small.
        if (!std::ranges::all_of(hashes_, [&](std::uint64_t hash) { return ways_.is_random(hash); })) return;
        const double sigma = std::sqrt(math::fill_variance(shape, keys));
        law(std::abs(fill - math::expected_fill(shape, keys)) <= 7 * sigma + 2 / bits,
            "the fill is that of so many random keys");
    }

    Ways ways_;
    plain plain_;
    atomic atomic_;
    std::unordered_multiset<std::uint64_t> hashes_;
};

} // namespace bouncer::test
