// A key that was added is never turned away: not by any form of add and query, at any fill, for any hash.
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

namespace bouncer::test {
namespace {

template <class F>
class no_false_negatives : public ::testing::Test {
  protected:
    static void expect_all_found(const F& f, const std::vector<std::uint64_t>& hashes) {
        std::size_t missing = 0;
        for (const std::uint64_t hash : hashes) missing += !f.may_contain(hash);
        EXPECT_EQ(missing, 0u);
        answers found(hashes.size());
        EXPECT_EQ(f.may_contain(hashes, found.span()), hashes.size());
        if constexpr (is_concurrent<F> && requires { f.may_contain_acquire(0); }) {
            for (const std::uint64_t hash : hashes) missing += !f.may_contain_acquire(hash);
            EXPECT_EQ(missing, 0u);
        }
    }
};
TYPED_TEST_SUITE(no_false_negatives, kinds_that<is_exact_about_presence>, kind_names);

TYPED_TEST(no_false_negatives, whatever_the_form_of_add) {
    const std::uint64_t keys = scaled(100'000);
    const auto hashes = random_hashes(keys, 1);
    for (const auto& chosen : variants<TypeParam>(keys, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto one_by_one = TypeParam::create(chosen).value();
        std::size_t lost = 0;
        for (const std::uint64_t hash : hashes) {
            one_by_one.add(hash);
            lost += !one_by_one.may_contain(hash);
        }
        EXPECT_EQ(lost, 0u);
        this->expect_all_found(one_by_one, hashes);

        auto batch = TypeParam::create(chosen).value();
        batch.add_batch(hashes);
        this->expect_all_found(batch, hashes);

        auto tested = TypeParam::create(chosen).value();
        for (const std::uint64_t hash : hashes) tested.test_and_add(hash);
        this->expect_all_found(tested, hashes);

        EXPECT_TRUE(one_by_one == batch);
        EXPECT_TRUE(one_by_one == tested);
        if constexpr (requires { one_by_one.add_release(0); }) {
            auto released = TypeParam::create(chosen).value();
            for (const std::uint64_t hash : hashes) released.add_release(hash);
            this->expect_all_found(released, hashes);
            EXPECT_TRUE(one_by_one == released);
        }
    }
}

TYPED_TEST(no_false_negatives, when_overfilled_tenfold) {
    const auto hashes = random_hashes(10'000, 2);
    for (const auto& chosen : variants<TypeParam>(1'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto f = TypeParam::create(chosen).value();
        f.add_batch(hashes);
        this->expect_all_found(f, hashes);
    }
}

TYPED_TEST(no_false_negatives, in_the_smallest_filters_and_for_extreme_hashes) {
    for (const double rate : {0.5, 0.01}) {
        for (const auto& chosen : variants<TypeParam>(1, rate)) {
            SCOPED_TRACE(describe<TypeParam>(chosen));
            for (const std::uint64_t hash : extreme_hashes()) {
                auto f = TypeParam::create(chosen).value();
                EXPECT_FALSE(f.may_contain(hash));
                EXPECT_TRUE(f.add(hash)) << hash;
                EXPECT_TRUE(f.may_contain(hash)) << hash;
            }
            auto all = TypeParam::create(chosen).value();
            all.add_batch(extreme_hashes());
            this->expect_all_found(all, extreme_hashes());
        }
    }
}

} // namespace
} // namespace bouncer::test
