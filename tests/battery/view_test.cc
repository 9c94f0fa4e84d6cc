// The read-only view: the same answers, and by its type nothing that changes the filter.
#include "support/failures.h"
#include "support/kinds.h" // the types of views
#include "support/random_hashes.h"
#include "support/subject.h"

namespace bouncer::test {
namespace {

template <class V>
concept can_add = requires(V v) {
    v.add(std::uint64_t{1});
};
template <class V>
concept can_test_and_add = requires(V v) {
    v.test_and_add(std::uint64_t{1});
};
template <class V>
concept can_test_and_add_batches = requires(V v, std::span<const std::uint64_t> h, std::span<bool> a) {
    v.test_and_add(h, a);
};
template <class V>
concept can_add_release = requires(V v) {
    v.add_release(std::uint64_t{1});
};
template <class V>
concept can_add_batch = requires(V v, std::span<const std::uint64_t> h) {
    v.add_batch(h);
};
template <class V>
concept can_add_all = requires(V v, std::span<const std::uint64_t> h) {
    v.add_all(h);
};
template <class V>
concept can_clear = requires(V v) {
    v.clear();
};
template <class V>
concept can_merge = requires(V v, V other) {
    v.merge(other);
};
template <class V>
concept can_merge_within = requires(V v, V other) {
    v.merge_if_within(other, 0.5);
};
template <class V>
concept can_create = requires(goal wanted) {
    V::create(wanted);
};
template <class V>
concept can_change = can_add<V> || can_test_and_add<V> || can_test_and_add_batches<V> || can_add_release<V> ||
    can_add_batch<V> || can_add_all<V> || can_clear<V> || can_merge<V> || can_merge_within<V> ||
    can_create<V>;

template <class F>
constexpr bool view_has_nothing_that_changes() {
    if constexpr (is_bit_filter<F>::value) {
        static_assert(filter<view_form<F>>);
        static_assert(!can_change<view_form<F>>);
        static_assert(can_add<F> && can_test_and_add<F> && can_test_and_add_batches<F> && can_add_batch<F> &&
                      can_add_all<F> && can_clear<F> && can_merge<F> && can_merge_within<F> && can_create<F>);
        static_assert(can_add_release<F> == is_concurrent<F>);
        static_assert(!incremental<view_form<F>> && !mergeable<view_form<F>>);
    } else if constexpr (!incremental<F>) {
        static_assert(!can_change<F> && !can_change<view_form<F>>); // static: built, and there is no create
        static_assert(std::is_same_v<F, in_access<F, plain_words>> &&
                      std::is_same_v<F, in_access<F, atomic_words>>);
    }
    return true;
}
template <class... F>
constexpr bool views_have_nothing_that_changes(type_list<F...>) {
    return (view_has_nothing_that_changes<F>() && ...);
}
static_assert(views_have_nothing_that_changes(all_filters<plain_words>{}) &&
              views_have_nothing_that_changes(all_filters<atomic_words>{}));

class view : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, view, subjects_that(&facts::bits), subject_names);

TEST_P(view, sees_later_adds) {
    for (const auto& chosen : k.variants(1'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        const auto v = f.view();
        const auto hashes = random_hashes(1'000, 1);
        for (const std::uint64_t hash : hashes) {
            f.add(hash);
            ASSERT_TRUE(v.may_contain(hash));
        }
        EXPECT_TRUE(v == f);
        EXPECT_EQ(v.size_bytes(), f.size_bytes());
        EXPECT_EQ(v.params(), f.params());
        EXPECT_EQ(v.hash(), f.hash());
        EXPECT_EQ(v.fill_ratio(), f.fill_ratio());
        EXPECT_EQ(v.approximate_size(), f.approximate_size());
        EXPECT_EQ(v.expected_fpr(), f.expected_fpr());
    }
}

TEST_P(view, answers_as_the_filter_does) {
    for (const double rate : {0.1, 1e-4}) {
        for (const auto& chosen : k.variants(1'000, rate)) {
            SCOPED_TRACE(k.describe(chosen));
            auto f = k.create(chosen).value();
            f.add_batch(random_hashes(1'000, 1));
            const auto v = f.view();
            const auto asked = random_hashes(20'000, 2);
            answers of_view(asked.size());
            answers of_filter(asked.size());
            EXPECT_EQ(v.may_contain(asked, of_view.span()), f.may_contain(asked, of_filter.span()));
            for (std::size_t i = 0; i < asked.size(); ++i) {
                ASSERT_EQ(of_view[i], of_filter[i]);
                ASSERT_EQ(v.may_contain(asked[i]), of_view[i]);
                ASSERT_EQ(v.may_contain_acquire(asked[i]), of_view[i]);
            }
        }
    }
}

TEST_P(view, can_be_cloned_into_a_filter) {
    auto f = k.create(goal{.keys = 200'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(1'000, 1));
    EXPECT_TRUE(f.view().clone(words_access::plain) == f);
    EXPECT_TRUE(f.view().clone(words_access::atomic) == f);
}

TEST_P(view, over_borrowed_words) {
    auto f = k.create(goal{.keys = 1'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(1'000, 1));
    const void* const data = f.stored().segments.at(0).words;
    const auto borrowed = [&](std::uint64_t bytes) { return region::borrow(data, bytes); };
    const auto whole = k.view_over(borrowed(f.size_bytes()), f.params(), f.hash());
    ASSERT_TRUE(whole.has_value());
    EXPECT_TRUE(*whole == f);
    const std::uint64_t words = f.size_bytes() / 8;
    EXPECT_TRUE(fails_with(k.view_over(borrowed(f.size_bytes() - 8), f.params(), f.hash()),
                           error_code::corrupt, std::to_string(words), std::to_string(words - 1)));
    EXPECT_TRUE(fails_with(k.view_over(borrowed(f.size_bytes()), k.no_parameters(), f.hash()),
                           error_code::invalid_argument));
    // Words that may not be written make no filter that can add.
    EXPECT_TRUE(fails_with(k.over(borrowed(f.size_bytes()), f.params(), f.hash()),
                           error_code::invalid_argument, "writable"));
}

TEST(view_of_words, may_not_be_written) {
    const auto f = plain_blocked_bloom::create({.keys = 1'000, .false_positive_rate = 0.01}).value();
    EXPECT_FALSE(f.view().memory().writable());
}

} // namespace
} // namespace bouncer::test
