// add and test_and_add by one thread: the answer is exactly what was there before. (Racing threads:
// tests/concurrency.)
#include "support/random_hashes.h"
#include "support/subject.h"

#include <cmath>

namespace bouncer::test {
namespace {

class test_and_add : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, test_and_add, subjects_that(&facts::incremental), subject_names);

TEST_P(test_and_add, answers_what_may_contain_answered_before) {
    for (const auto& chosen : k.variants(1'000, 0.1)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        std::size_t covered = 0;
        for (const std::uint64_t hash : random_hashes(3'000, 1)) {
            const bool before = f.may_contain(hash);
            ASSERT_EQ(f.test_and_add(hash), before);
            ASSERT_TRUE(f.test_and_add(hash));
            covered += before;
        }
        EXPECT_GT(covered, 20u) << "too few false positives to test with";
    }
}

TEST_P(test_and_add, add_is_true_exactly_when_the_key_looked_new) {
    for (const auto& chosen : k.variants(1'000, 0.1)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        auto before = k.create(chosen).value();
        std::size_t unchanged = 0;
        for (const std::uint64_t hash : random_hashes(3'000, 1)) {
            const bool changed = f.add(hash);
            ASSERT_EQ(changed, !before.may_contain(hash));
            before.add(hash);
            if (k.is.idempotent) {
                ASSERT_FALSE(f.add(hash));
            }
            unchanged += !changed;
        }
        EXPECT_GT(unchanged, 20u);
        EXPECT_TRUE(f == before);
    }
}

class set_bits : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, set_bits, subjects_that(&facts::bits), subject_names);

TEST_P(set_bits, are_those_that_the_layout_names_and_no_other) {
    for (const double rate : {0.1, 1e-4}) {
        for (const auto& chosen : k.variants(100, rate)) {
            SCOPED_TRACE(k.describe(chosen));
            const math::geometry shape = k.shape_of(chosen);
            for (const std::uint64_t hash : random_hashes(50, 2)) {
                auto f = k.create(chosen).value();
                f.add(hash);
                std::vector<std::uint64_t> expected(f.size_bytes() / 8);
                for (const auto& [word, bits] : k.words_of(chosen, hash)) expected.at(word) |= bits;
                const auto stored = f.stored();
                for (std::uint64_t i = 0; i < expected.size(); ++i)
                    ASSERT_EQ(stored.segments.at(0).words[i], expected[i]);
                EXPECT_LE(static_cast<std::uint64_t>(
                              std::round(f.fill_ratio() * static_cast<double>(shape.total_bits()))),
                          shape.k());
            }
        }
    }
}

} // namespace
} // namespace bouncer::test
