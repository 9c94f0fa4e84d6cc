// A key that was added is never turned away: not by any form of add and query, at any fill, for any hash.
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

namespace bouncer::test {
namespace {

class no_false_negatives : public kind_test {
  protected:
    void expect_all_found(const subject& f, const std::vector<std::uint64_t>& hashes) {
        std::size_t missing = 0;
        for (const std::uint64_t hash : hashes) missing += !f.may_contain(hash);
        EXPECT_EQ(missing, 0u);
        answers found(hashes.size());
        EXPECT_EQ(f.may_contain(hashes, found.span()), hashes.size());
        if (k.is.released) {
            for (const std::uint64_t hash : hashes) missing += !f.may_contain_acquire(hash);
            EXPECT_EQ(missing, 0u);
        }
    }
};
INSTANTIATE_TEST_SUITE_P(all, no_false_negatives,
                         subjects_that([](const facts& is) { return is.incremental && is.exact; }),
                         subject_names);

TEST_P(no_false_negatives, whatever_the_form_of_add) {
    const std::uint64_t keys = scaled(100'000);
    const auto hashes = random_hashes(keys, 1);
    for (const auto& chosen : k.variants(keys, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto one_by_one = k.create(chosen).value();
        std::size_t lost = 0;
        for (const std::uint64_t hash : hashes) {
            one_by_one.add(hash);
            lost += !one_by_one.may_contain(hash);
        }
        EXPECT_EQ(lost, 0u);
        expect_all_found(one_by_one, hashes);

        auto batch = k.create(chosen).value();
        batch.add_batch(hashes);
        expect_all_found(batch, hashes);

        auto tested = k.create(chosen).value();
        for (const std::uint64_t hash : hashes) tested.test_and_add(hash);
        expect_all_found(tested, hashes);

        EXPECT_TRUE(one_by_one == batch);
        EXPECT_TRUE(one_by_one == tested);
        if (k.is.released) {
            auto released = k.create(chosen).value();
            for (const std::uint64_t hash : hashes) released.add_release(hash);
            expect_all_found(released, hashes);
            EXPECT_TRUE(one_by_one == released);
        }
    }
}

TEST_P(no_false_negatives, when_overfilled_tenfold) {
    const auto hashes = random_hashes(10'000, 2);
    for (const auto& chosen : k.variants(1'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        f.add_batch(hashes);
        expect_all_found(f, hashes);
    }
}

TEST_P(no_false_negatives, in_the_smallest_filters_and_for_extreme_hashes) {
    for (const double rate : {0.5, 0.01}) {
        for (const auto& chosen : k.variants(1, rate)) {
            SCOPED_TRACE(k.describe(chosen));
            const auto empty = k.create(chosen).value();
            for (const std::uint64_t hash : extreme_hashes()) {
                auto f = empty.clone();
                EXPECT_FALSE(f.may_contain(hash));
                EXPECT_TRUE(f.add(hash)) << hash;
                EXPECT_TRUE(f.may_contain(hash)) << hash;
            }
            auto all = empty.clone();
            all.add_batch(extreme_hashes());
            expect_all_found(all, extreme_hashes());
        }
    }
}

} // namespace
} // namespace bouncer::test
