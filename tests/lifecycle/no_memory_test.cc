// operator new of the whole test program, which can be told to fail; and that what then fails says so and does not throw.
#include "lifecycle/poisoned.h"
#include "support/failures.h"
#include "support/operator_new.h"

#include <bouncer/rebuilder.h>
#include <bouncer/scalable.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <optional>

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};
thread_local std::uint64_t allocations_left = never;

} // namespace

bool bouncer::test::may_allocate(std::size_t) noexcept {
    if (allocations_left == never) return true;
    if (allocations_left == 0) return false;
    --allocations_left;
    return true;
}

namespace bouncer::test {
namespace {

// work() with so many allocations that succeed, and none after them.
template <class Work>
auto with_allocations(std::uint64_t left, Work work) {
    allocations_left = left;
    auto out = work();
    allocations_left = never;
    return out;
}

// work(), with memory for ever more allocations until it succeeds: out_of_memory each time before, and never thrown.
template <class Work>
void expect_refusals(std::uint64_t at_least, Work work) {
    for (std::uint64_t left = 0;; ++left) {
        ASSERT_LT(left, 10'000u);
        SCOPED_TRACE(left);
        std::optional<decltype(work())> got;
        EXPECT_NO_THROW(got.emplace(with_allocations(left, work)));
        allocations_left = never;
        if (!got.has_value()) return;
        if (*got) {
            EXPECT_GE(left, at_least);
            return;
        }
        EXPECT_TRUE(fails_with(*got, error_code::out_of_memory, "no memory"));
    }
}

TEST(no_memory, the_sentence_gives_way_to_two_words) {
    const char* const sentence = "a sentence that is longer than a string holds in itself";
    EXPECT_EQ(no_memory_failure(sentence).message, sentence);
    const auto why = with_allocations(0, [&] { return no_memory_failure(sentence); });
    EXPECT_EQ(why.code, error_code::out_of_memory);
    EXPECT_EQ(why.message, "no memory");
}

TEST(no_memory, to_serve_or_swap) {
    expect_refusals(1, [] { return hot<poisoned>::create(poisoned(1)); });
    hot<poisoned> served(poisoned(1));
    expect_refusals(2, [&] { return served.swap(poisoned(2)); });
    EXPECT_EQ(served.read()->value(), 2u);
}

TEST(no_memory, for_a_chain) {
    const auto chosen = atomic_scalable_bloom::solve({.keys = 1'000, .false_positive_rate = 0.01}).value();
    expect_refusals(1, [&] { return plain_scalable_bloom::create(chosen); });
}

TEST(no_memory, what_a_source_threw_is_told_all_the_same) {
    hot<poisoned> served(poisoned(1));
    rebuilder<poisoned> again(served);
    const rebuild_plan<poisoned> plan{.make = [] { return result<poisoned>(poisoned(2)); }};
    const auto why = again.rebuild(plan, [](auto&) -> result<void> {
        allocations_left = 0;
        throw std::bad_alloc(); // which takes none: the runtime keeps some for it
    });
    allocations_left = never;
    EXPECT_TRUE(fails_with(why, error_code::out_of_memory));
    EXPECT_EQ(served.read()->value(), 1u);
}

} // namespace
} // namespace bouncer::test
