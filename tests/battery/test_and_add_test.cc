// add and test_and_add by one thread: the answer is exactly what was there before. (Racing threads:
// tests/concurrency.)
#include "support/kinds.h"
#include "support/random_hashes.h"

namespace bouncer::test {
namespace {

template <class F>
class test_and_add : public ::testing::Test {};
TYPED_TEST_SUITE(test_and_add, kinds_that<is_incremental>, kind_names);

TYPED_TEST(test_and_add, answers_what_may_contain_answered_before) {
    for (const auto& chosen : variants<TypeParam>(1'000, 0.1)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto f = TypeParam::create(chosen).value();
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

TYPED_TEST(test_and_add, add_is_true_exactly_when_the_key_looked_new) {
    for (const auto& chosen : variants<TypeParam>(1'000, 0.1)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto f = TypeParam::create(chosen).value();
        auto before = TypeParam::create(chosen).value();
        std::size_t unchanged = 0;
        for (const std::uint64_t hash : random_hashes(3'000, 1)) {
            const bool changed = f.add(hash);
            ASSERT_EQ(changed, !before.may_contain(hash));
            before.add(hash);
            if constexpr (idempotent_adds<TypeParam>) {
                ASSERT_FALSE(f.add(hash));
            }
            unchanged += !changed;
        }
        EXPECT_GT(unchanged, 20u);
        EXPECT_TRUE(f == before);
    }
}

template <class F>
class set_bits : public ::testing::Test {};
TYPED_TEST_SUITE(set_bits, kinds_that<is_bit_filter>, kind_names);

TYPED_TEST(set_bits, are_those_that_the_layout_names_and_no_other) {
    for (const double rate : {0.1, 1e-4}) {
        for (const auto& chosen : variants<TypeParam>(100, rate)) {
            SCOPED_TRACE(describe<TypeParam>(chosen));
            for (const std::uint64_t hash : random_hashes(50, 2)) {
                auto f = TypeParam::create(chosen).value();
                f.add(hash);
                std::vector<std::uint64_t> expected(f.layout().word_count());
                f.layout().every_word(hash, [&](std::uint64_t word, std::uint64_t bits) {
                    expected.at(word) |= bits;
                    return true;
                });
                for (std::uint64_t i = 0; i < expected.size(); ++i) ASSERT_EQ(f.words().load(i), expected[i]);
                EXPECT_LE(static_cast<std::uint64_t>(
                              std::round(f.fill_ratio() * static_cast<double>(f.size_bits()))),
                          f.shape().k());
            }
        }
    }
}

} // namespace
} // namespace bouncer::test
