// A batch is exactly the calls one by one, in order, whatever its length.
#include "support/random_hashes.h"
#include "support/subject.h"

namespace bouncer::test {
namespace {

constexpr std::size_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 1000};

class batches : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, batches, subjects_that(&facts::incremental), subject_names);

TEST_P(batches, of_queries) {
    for (const double rate : {0.3, 1e-4}) {
        for (const auto& chosen : k.variants(1'000, rate)) {
            SCOPED_TRACE(k.describe(chosen));
            auto f = k.create(chosen).value();
            f.add_batch(random_hashes(1'000, 1));
            auto asked = random_hashes(500, 1);        // present
            const auto absent = random_hashes(500, 2); // mostly absent
            for (std::size_t i = 0; i < 500; ++i)
                asked.insert(asked.begin() + 2 * static_cast<long>(i), absent[i]);
            for (const std::size_t length : lengths) {
                answers got(length + 1, true);
                std::size_t expected = 0;
                const std::span<const std::uint64_t> some(asked.data(), length);
                const std::size_t found = f.may_contain(some, got.span());
                for (std::size_t i = 0; i < length; ++i) {
                    ASSERT_EQ(got[i], f.may_contain(asked[i])) << "item " << i << " of " << length;
                    expected += got[i];
                }
                EXPECT_EQ(found, expected) << length;
                EXPECT_TRUE(got[length]) << "wrote beyond the hashes";
            }
        }
    }
}

TEST_P(batches, of_queries_with_fewer_answers_than_hashes) {
    auto f = k.create(goal{.keys = 1'000, .false_positive_rate = 0.01}).value();
    const auto hashes = random_hashes(1'000, 1);
    f.add_batch(hashes);
    for (const std::size_t length : lengths) {
        answers got(length + 1);
        const std::size_t found = f.may_contain(hashes, got.span().first(length));
        if (k.is.exact) {
            EXPECT_EQ(found, length);
        }
        for (std::size_t i = 0; i < length; ++i) EXPECT_EQ(got[i], f.may_contain(hashes[i]));
        EXPECT_FALSE(got[length]) << "wrote beyond the answers";
    }
}

TEST_P(batches, of_adds) {
    for (const auto& chosen : k.variants(1'000, 0.1)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto empty = k.create(chosen).value(); // a chain takes longer to plan than to copy
        for (const std::size_t length : lengths) {
            auto hashes = random_hashes(length, 1);
            hashes.insert(hashes.end(), hashes.begin(), hashes.end()); // every key twice
            auto batch =
                length == 1000 ? k.create(chosen).value() : empty.clone(); // it grows: by a plan, too
            auto single = empty.clone();
            std::size_t changed = 0;
            for (const std::uint64_t hash : hashes) changed += single.add(hash);
            EXPECT_EQ(batch.add_batch(hashes), changed);
            EXPECT_TRUE(batch == single);
            if (k.is.uncounted) {
                auto silent = empty.clone();
                silent.add_uncounted(hashes);
                EXPECT_TRUE(silent == single);
            }
        }
    }
}

TEST_P(batches, of_test_and_add) {
    for (const auto& chosen : k.variants(1'000, 0.1)) {
        SCOPED_TRACE(k.describe(chosen));
        const auto empty = k.create(chosen).value(); // a chain takes longer to plan than to copy
        for (const std::size_t length : lengths) {
            auto hashes = random_hashes(length, 1);
            for (std::size_t i = 3; i < length; i += 4) hashes[i] = hashes[i - 2]; // repeats inside the batch
            auto batch = length == 1000 ? k.create(chosen).value() : empty.clone();
            auto single = empty.clone();
            answers got(length);
            const std::size_t added = batch.test_and_add(hashes, got.span());
            std::size_t expected = 0;
            for (std::size_t i = 0; i < length; ++i) {
                const bool was_there = single.test_and_add(hashes[i]);
                EXPECT_EQ(got[i], was_there) << "item " << i << " of " << length;
                expected += !was_there;
            }
            EXPECT_EQ(added, expected);
            EXPECT_TRUE(batch == single);
        }
    }
}

TEST_P(batches, of_test_and_add_with_fewer_answers_add_only_those) {
    const auto hashes = random_hashes(100, 1);
    auto batch = k.create(goal{.keys = 1'000, .false_positive_rate = 1e-4}).value();
    auto expected = batch.clone();
    answers got(40);
    EXPECT_EQ(batch.test_and_add(hashes, got.span().first(33)), 33u);
    expected.add_batch(std::span(hashes).first(33));
    EXPECT_TRUE(batch == expected);
}

} // namespace
} // namespace bouncer::test
