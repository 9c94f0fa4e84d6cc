// The same for filters that are replaced or rebuilt while they serve.
#include "lifecycle/poisoned.h"
#include "no_memory/refusals.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/rebuilder.h>
#include <bouncer/scalable.h>
#include <bouncer/windowed_bloom.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

namespace bouncer::test {
namespace {

TEST(no_memory_to_serve, the_sentence_gives_way_to_two_words) {
    const char* const sentence = "a sentence that is longer than a string holds in itself";
    EXPECT_EQ(no_memory_failure(sentence).message, sentence);
    const auto why = without_memory([&] { return no_memory_failure(sentence); });
    EXPECT_EQ(why.code, error_code::out_of_memory);
    EXPECT_EQ(why.message, "no memory");
}

TEST(no_memory_to_serve, a_copy_of_a_failure_keeps_its_code) {
    const failure why{error_code::corrupt, "a sentence that is longer than a string holds in itself"};
    const auto copy = without_memory([&] { return failure(why); });
    EXPECT_EQ(copy.code, error_code::corrupt);
    EXPECT_EQ(copy.message, "no memory");
    failure assigned{error_code::io, "x"};
    without_memory([&] { return (assigned = why).code; });
    EXPECT_EQ(assigned.code, error_code::corrupt);
    EXPECT_EQ(failure(why).message, why.message);
}

TEST(no_memory_to_serve, or_to_swap) {
    EXPECT_GE(walk([] { return hot<poisoned>::create(poisoned(1)); }), 1u);
    hot<poisoned> served(poisoned(1));
    EXPECT_GE(walk([&] { return served.swap(poisoned(2)); }), 2u);
    EXPECT_EQ(served.read()->value(), 2u);
}

TEST(no_memory_to_serve, or_to_rotate) {
    using window = atomic_windowed_bloom;
    const goal wanted{.keys = 500, .false_positive_rate = 0.01};
    auto served = hot<window>::create(window::create(wanted)).value();
    const auto next = window::create(wanted).value();
    walk([&] {
        auto copy = next.clone();
        if (!copy) return result<void>(copy.error());
        return served.swap(std::move(*copy));
    });
    walk([&] { return served.rotate_to(1); });
    walk([&] { return served.rotate_to(0); }, [] {}, error_code::invalid_argument);
}

TEST(no_memory_to_serve, or_to_grow) {
    auto served = hot<atomic_scalable_bloom>::create(
                      atomic_scalable_bloom::create({.keys = 100, .false_positive_rate = 0.01},
                                                    {.memory = refusing_memory()}))
                      .value();
    walk([&] { return served.prepare_growth(); });
}

TEST(no_memory_to_serve, or_to_rebuild) {
    using filter = atomic_blocked_bloom;
    const goal wanted{.keys = 500, .false_positive_rate = 0.01};
    const auto hashes = random_hashes(400, 1);
    auto served = hot<filter>::create(filter::create(wanted)).value();
    rebuilder<filter> again(served);
    const filter_options options{.memory = refusing_memory()};
    EXPECT_GT(walk([&] { return rebuild_plan<filter>::of(wanted, options); }), 0u);
    EXPECT_GT(walk([&] { return rebuild_plan<atomic_scalable_bloom>::of(wanted, options); }), 0u);
    const auto plan = rebuild_plan<filter>::of(wanted, options).value();
    served.add_batch(hashes);
    const auto serves = [&] {
        EXPECT_FALSE(again.running());
        EXPECT_FALSE(served.rebuilding());
        for (const std::uint64_t hash : hashes) ASSERT_TRUE(served.may_contain(hash));
    };
    EXPECT_GT(walk(
                  [&] {
                      return again.rebuild(plan, [&](auto& sink) -> result<void> {
                          sink.add_batch(hashes);
                          return {};
                      });
                  },
                  serves),
              0u);
    const auto many = random_hashes(4'000, 2);
    walk(
        [&] {
            return again.rebuild(plan, [&](auto& sink) -> result<void> {
                sink.add_batch(many);
                return {};
            });
        },
        serves, error_code::full);
}

TEST(no_memory_to_serve, what_a_source_threw_is_told_all_the_same) {
    hot<poisoned> served(poisoned(1));
    rebuilder<poisoned> again(served);
    const rebuild_plan<poisoned> plan{.make = [] { return result<poisoned>(poisoned(2)); }};
    const auto why = again.rebuild(plan, [](auto&) -> result<void> {
        refuse_from(0, refused::all);
        throw std::bad_alloc(); // which takes none: the runtime keeps some for it
    });
    refuse_nothing();
    EXPECT_TRUE(fails_with(why, error_code::out_of_memory));
    EXPECT_EQ(served.read()->value(), 1u);
}

} // namespace
} // namespace bouncer::test
