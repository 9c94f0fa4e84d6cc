// operator new of the whole program, and that it refuses what it is told to.
#include "no_memory/refusals.h"
#include "support/operator_new.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};
constinit std::atomic<std::uint64_t> first_refused = never;
constinit std::atomic<std::uint64_t> made = 0;
constinit std::atomic<bool> only_one = false;
constinit std::atomic<bool> one_failed = false;

} // namespace

bool bouncer::test::may_allocate(std::size_t) noexcept {
    const std::uint64_t first = first_refused;
    if (first == never || tests_own::depth != 0) return true;
    const std::uint64_t number = made++;
    if (only_one ? number != first : number < first) return true;
    one_failed = true;
    return false;
}

namespace bouncer::test {

void refuse_from(std::uint64_t first, refused which) noexcept {
    made = 0;
    one_failed = false;
    only_one = which == refused::one;
    first_refused = first;
}

bool refuse_nothing() noexcept {
    first_refused = never;
    return one_failed;
}

memory_options refusing_memory() noexcept {
    return {.host = host_allocator{[](void*, std::size_t bytes) noexcept -> void* {
                                       return may_allocate(bytes) ? std::malloc(bytes) : nullptr;
                                   },
                                   [](void*, void* block) noexcept { std::free(block); }, nullptr}};
}

std::uint64_t refuse_each(const std::function<std::optional<error_code>()>& call,
                          const std::function<void()>& after, std::optional<error_code> expected,
                          const call_site& where) {
    const auto complain = [&](const std::string& what) { ADD_FAILURE_AT(where.file, where.line) << what; };
    const bool failed_before = ::testing::Test::HasFailure();
    const std::uint64_t densely = whole_sizes ? 16 : 3;
    const bool campaign = whole_sizes && divided(5) == 5; // then each of them
    std::uint64_t most = 0;
    for (const refused which : {refused::one, refused::all}) {
        for (std::uint64_t n = 0;; n += campaign ? 1 : 1 + n / densely) {
            std::optional<error_code> code;
            bool threw = false;
            refuse_from(n, which);
            try {
                code = call();
            } catch (const std::bad_alloc&) {
                threw = true;
            }
            const bool failed = refuse_nothing();
            const std::string at =
                (which == refused::one ? " at allocation " : " at allocations from ") + std::to_string(n);
            if (threw) {
                complain("std::bad_alloc" + at);
                return n;
            }
            if (code && code != expected && code != error_code::out_of_memory) {
                complain(std::string(name_of(*code)) + at);
                return n;
            }
            after();
            if (::testing::Test::HasFailure() && !failed_before) {
                complain("not as before" + at);
                return n;
            }
            if (failed) continue;
            if (code != expected) complain("another answer without a failure");
            most = std::max(most, n);
            break;
        }
    }
    return most;
}

namespace {

TEST(refusals, of_one_and_of_all) {
    // Which of three allocations come, and whether one failed.
    const auto three = [](std::uint64_t first, refused which) {
        char said[] = "yyy-";
        refuse_from(first, which);
        for (int i = 0; i < 3; ++i) try {
                ::operator delete(::operator new(8));
            } catch (const std::bad_alloc&) {
                said[i] = 'n';
            }
        if (refuse_nothing()) said[3] = '!';
        return std::string(said);
    };
    EXPECT_EQ(three(1, refused::one), "yny!");
    EXPECT_EQ(three(1, refused::all), "ynn!");
    EXPECT_EQ(three(3, refused::all), "yyy-");
}

TEST(refusals, do_not_reach_what_is_a_tests_own) {
    const bool came = without_memory([] {
        const tests_own here;
        ::operator delete(::operator new(8));
        return true;
    });
    EXPECT_TRUE(came);
}

} // namespace
} // namespace bouncer::test
