// merge is set union: bit for bit the filter of both key sets, with the laws of a union.
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/subject.h"

#include <bouncer/detail/format.h>

#include <cmath>

namespace bouncer::test {
namespace {

class union_laws : public kind_test {
  protected:
    // A window has room for a sixth of its keys in one step.
    const std::size_t each = k.is.exact ? 700 : 70;
    subject filter_of(const choice& chosen, std::initializer_list<std::uint64_t> streams) {
        auto f = k.create(chosen).value();
        for (const std::uint64_t stream : streams) f.add_batch(random_hashes(each, stream));
        return f;
    }
    static subject united(const subject& a, const subject& b) {
        auto out = a.clone();
        EXPECT_TRUE(out.merge(b).has_value());
        return out;
    }
};
// Of kinds that do not remember the order of their keys; the union of others has its own tests.
INSTANTIATE_TEST_SUITE_P(all, union_laws,
                         subjects_that([](const facts& is) { return is.mergeable && is.commuting; }),
                         subject_names);

TEST_P(union_laws, hold) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto empty = k.create(chosen).value();
        const auto a = filter_of(chosen, {1, 2});
        const auto b = filter_of(chosen, {2, 3});
        const auto c = filter_of(chosen, {4});
        if (k.is.idempotent) {
            EXPECT_TRUE(united(a, b) == filter_of(chosen, {1, 2, 3})) << "not the filter of the union";
            EXPECT_TRUE(united(a, a) == a) << "not idempotent";
            EXPECT_TRUE(united(united(a, b), b) == united(a, b)) << "not idempotent";
        } else { // a sum: what both have counts twice
            EXPECT_TRUE(united(a, b) == filter_of(chosen, {1, 2, 2, 3})) << "not the sum";
        }
        EXPECT_TRUE(united(a, b) == united(b, a)) << "not commutative";
        EXPECT_TRUE(united(united(a, b), c) == united(a, united(b, c))) << "not associative";
        EXPECT_TRUE(united(a, empty) == a) << "the empty filter is not neutral";
        EXPECT_TRUE(united(empty, a) == a) << "the empty filter is not neutral";
        EXPECT_FALSE(united(a, b) == a);
    }
}

TEST_P(union_laws, merge_with_itself_is_as_with_a_copy) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        auto a = filter_of(chosen, {1});
        const auto before = a.clone();
        EXPECT_TRUE(a.merge(a).has_value());
        if (k.is.idempotent) {
            EXPECT_TRUE(a == before);
        } else {
            EXPECT_TRUE(a == united(before, before)) << "not the sum with a copy";
        }
    }
}

TEST_P(union_laws, merge_takes_every_access) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto expected = filter_of(chosen, {1, 2});
        auto b = k.other().create(chosen).value();
        b.add_batch(random_hashes(each, 2));

        auto from_other = filter_of(chosen, {1});
        ASSERT_TRUE(from_other.merge(b).has_value());
        EXPECT_TRUE(from_other == expected);

        auto within = filter_of(chosen, {1});
        ASSERT_TRUE(within.merge_if_within(b, 0.5).has_value());
        EXPECT_TRUE(within == expected);

        auto from_view = filter_of(chosen, {1});
        ASSERT_TRUE(from_view.merge(b.view()).has_value());
        EXPECT_TRUE(from_view == expected);
    }
}

TEST_P(union_laws, merge_returns_the_expected_rate_after) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto a = filter_of(chosen, {1, 2});
        const auto b = filter_of(chosen, {3, 4});
        const double before = a.expected_fpr();
        const auto after = a.merge(b);
        ASSERT_TRUE(after.has_value());
        EXPECT_EQ(*after, a.expected_fpr());
        EXPECT_GT(*after, before);
    }
}

TEST_P(union_laws, merge_if_within_keeps_the_promise) {
    for (const auto& chosen : k.variants(2'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto a = filter_of(chosen, {1, 2});
        const auto before = a.clone();
        const auto b = filter_of(chosen, {3, 4});
        const double after = united(a, b).expected_fpr();

        EXPECT_TRUE(fails_with(a.merge_if_within(b, after * 0.99), error_code::full,
                               detail::scientific(after), detail::scientific(after * 0.99)));
        EXPECT_TRUE(a == before) << "a refused merge changed the filter";
        for (const double rate : {0.0, -1e-9, 1.0, 1.5, std::nan("")}) {
            EXPECT_TRUE(fails_with(a.merge_if_within(b, rate), error_code::invalid_argument,
                                   detail::scientific(rate)));
            EXPECT_TRUE(a == before) << "a refused merge changed the filter";
        }
        const auto merged = a.merge_if_within(b, after * 1.01);
        ASSERT_TRUE(merged.has_value());
        EXPECT_DOUBLE_EQ(*merged, after);
        EXPECT_TRUE(a == united(before, b));
    }
}

} // namespace
} // namespace bouncer::test
