// add_all on any number of threads gives the filter of a sequential build, plain filters included.
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

namespace bouncer::test {
namespace {

template <class F>
class add_all : public ::testing::Test {};
TYPED_TEST_SUITE(add_all, kinds_that<is_incremental>, kind_names);

TYPED_TEST(add_all, equals_the_sequential_build) {
    const auto hashes = random_hashes(scaled(100'000), 1);
    for (const auto& chosen : variants<TypeParam>(hashes.size(), 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto expected = TypeParam::create(chosen).value();
        expected.add_batch(hashes);
        for (const unsigned threads : {0u, 1u, 2u, 3u, 7u}) {
            auto f = TypeParam::create(chosen).value();
            f.add_all(hashes, threads);
            EXPECT_TRUE(f == expected) << threads << " threads";
        }
    }
}

TYPED_TEST(add_all, with_more_threads_than_blocks_or_keys) {
    for (const auto& chosen : variants<TypeParam>(1, 0.1)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        for (const std::size_t keys : {0u, 1u, 5u}) {
            const auto hashes = random_hashes(keys, 1);
            auto expected = TypeParam::create(chosen).value();
            expected.add_batch(hashes);
            for (const unsigned threads : {2u, 20u}) {
                auto f = TypeParam::create(chosen).value();
                f.add_all(hashes, threads);
                EXPECT_TRUE(f == expected) << threads << " threads, keys " << keys;
            }
        }
    }
}

TYPED_TEST(add_all, adds_to_what_is_there) {
    for (const auto& chosen : variants<TypeParam>(2'000, 0.01)) {
        auto expected = TypeParam::create(chosen).value();
        expected.add_batch(random_hashes(1'000, 1));
        auto f = expected.clone().value();
        expected.add_batch(random_hashes(1'000, 2));
        f.add_all(random_hashes(1'000, 2), 3);
        EXPECT_TRUE(f == expected);
    }
}

} // namespace
} // namespace bouncer::test
