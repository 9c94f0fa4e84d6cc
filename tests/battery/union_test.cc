// merge is set union: bit for bit the filter of both key sets, with the laws of a union.
#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

namespace bouncer::test {
namespace {

template <class F>
class union_laws : public ::testing::Test {
  protected:
    // A window has room for a sixth of its keys in one step.
    static constexpr std::size_t each = F::no_false_negatives ? 700 : 70;
    static F filter_of(const typename F::parameters& chosen, std::initializer_list<std::uint64_t> streams) {
        auto f = F::create(chosen).value();
        for (const std::uint64_t stream : streams) f.add_batch(random_hashes(each, stream));
        return f;
    }
    static F united(const F& a, const F& b) {
        auto out = a.clone().value();
        EXPECT_TRUE(out.merge(b).has_value());
        return out;
    }
};
// Of kinds that do not remember the order of their keys; the union of others has its own tests.
template <class F>
struct has_lawful_union : std::bool_constant<is_mergeable<F>::value && commuting_adds<F>> {};
TYPED_TEST_SUITE(union_laws, kinds_that<has_lawful_union>, kind_names);

TYPED_TEST(union_laws, hold) {
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        const auto empty = TypeParam::create(chosen).value();
        const auto a = this->filter_of(chosen, {1, 2});
        const auto b = this->filter_of(chosen, {2, 3});
        const auto c = this->filter_of(chosen, {4});
        if constexpr (idempotent_adds<TypeParam>) {
            EXPECT_TRUE(this->united(a, b) == this->filter_of(chosen, {1, 2, 3}))
                << "not the filter of the union";
            EXPECT_TRUE(this->united(a, a) == a) << "not idempotent";
            EXPECT_TRUE(this->united(this->united(a, b), b) == this->united(a, b)) << "not idempotent";
        } else { // a sum: what both have counts twice
            EXPECT_TRUE(this->united(a, b) == this->filter_of(chosen, {1, 2, 2, 3})) << "not the sum";
        }
        EXPECT_TRUE(this->united(a, b) == this->united(b, a)) << "not commutative";
        EXPECT_TRUE(this->united(this->united(a, b), c) == this->united(a, this->united(b, c)))
            << "not associative";
        EXPECT_TRUE(this->united(a, empty) == a) << "the empty filter is not neutral";
        EXPECT_TRUE(this->united(empty, a) == a) << "the empty filter is not neutral";
        EXPECT_FALSE(this->united(a, b) == a);
    }
}

TYPED_TEST(union_laws, merge_with_itself_is_as_with_a_copy) {
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        auto a = this->filter_of(chosen, {1});
        const auto before = a.clone().value();
        EXPECT_TRUE(a.merge(a).has_value());
        if constexpr (idempotent_adds<TypeParam>) {
            EXPECT_TRUE(a == before);
        } else {
            EXPECT_TRUE(a == this->united(before, before)) << "not the sum with a copy";
        }
    }
}

TYPED_TEST(union_laws, merge_takes_every_access) {
    using other = other_form<TypeParam>;
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        const auto expected = this->filter_of(chosen, {1, 2});
        auto b = other::create(chosen).value();
        b.add_batch(random_hashes(this->each, 2));

        auto from_other = this->filter_of(chosen, {1});
        ASSERT_TRUE(from_other.merge(b).has_value());
        EXPECT_TRUE(from_other == expected);

        auto within = this->filter_of(chosen, {1});
        ASSERT_TRUE(within.merge_if_within(b, 0.5).has_value());
        EXPECT_TRUE(within == expected);

        if constexpr (requires { b.view(); }) {
            auto from_view = this->filter_of(chosen, {1});
            ASSERT_TRUE(from_view.merge(b.view()).has_value());
            EXPECT_TRUE(from_view == expected);
            EXPECT_TRUE(from_view.view() == expected.view());
            EXPECT_TRUE(from_view.view() == expected);

            auto within_view = this->filter_of(chosen, {1});
            ASSERT_TRUE(within_view.merge_if_within(b.view(), 0.5).has_value());
            EXPECT_TRUE(within_view == expected);
        }
    }
}

TYPED_TEST(union_laws, merge_returns_the_expected_rate_after) {
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto a = this->filter_of(chosen, {1, 2});
        const auto b = this->filter_of(chosen, {3, 4});
        const double before = a.expected_fpr();
        const auto after = a.merge(b);
        ASSERT_TRUE(after.has_value());
        EXPECT_EQ(*after, a.expected_fpr());
        EXPECT_GT(*after, before);
    }
}

TYPED_TEST(union_laws, merge_if_within_keeps_the_promise) {
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto a = this->filter_of(chosen, {1, 2});
        const auto before = a.clone().value();
        const auto b = this->filter_of(chosen, {3, 4});
        const double after = this->united(a, b).expected_fpr();

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
        EXPECT_TRUE(a == this->united(before, b));
    }
}

} // namespace
} // namespace bouncer::test
