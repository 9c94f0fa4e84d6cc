// Static kinds behind any_filter: the goal picks the kind, and what they cannot do says what to do instead.
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/hash_sources.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

#include <bouncer/any_filter.h>

#include <gtest/gtest.h>

namespace bouncer::test {
namespace {

TEST(built_any_filter, is_picked_by_the_goal) {
    const auto hashes = random_hashes(10'000, 1);
    const auto fast = any_filter::build(hashes, {.false_positive_rate = 0.01}).value();
    const auto small =
        any_filter::build(hashes, {.false_positive_rate = 0.01, .prefer = prefer::space}).value();
    EXPECT_EQ(fast.kind_name(), "binary_fuse");
    EXPECT_EQ(small.kind_name(), "ribbon");
    EXPECT_LT(small.size_bytes(), fast.size_bytes());
    EXPECT_TRUE(fails_with(any_filter::build(hashes, {.false_positive_rate = 0.01, .prefer = prefer::adds}),
                           error_code::invalid_argument, "adds", "blocked_bloom"));
    answers got(hashes.size());
    EXPECT_EQ(fast.may_contain(hashes, got.span()), hashes.size());
    EXPECT_EQ(small.may_contain(hashes, got.span()), hashes.size());
    bool done = false;
    const hash_source source = [&](std::span<std::uint64_t> out) -> result<std::size_t> {
        if (std::exchange(done, true)) return 0;
        std::copy(hashes.begin(), hashes.end(), out.begin());
        return hashes.size();
    };
    EXPECT_EQ(any_filter::build(source, {.false_positive_rate = 0.01}, {}, "xor_filter").value().kind_name(),
              "xor_filter");
}

TEST(built_any_filter, of_a_rate_that_no_fuse_keeps_is_a_ribbon) {
    const auto hashes = random_hashes(1'000, 1);
    for (const double rate : {1e-12, 0x1p-33, 4e-10}) {
        const auto f = any_filter::build(hashes, {.false_positive_rate = rate}).value();
        EXPECT_EQ(f.kind_name(), "ribbon") << rate;
        EXPECT_LE(f.expected_fpr().value(), rate * (1 + 1e-5));
        EXPECT_EQ(any_filter::build(source_of(hashes), {.false_positive_rate = rate}).value().kind_name(),
                  "ribbon");
    }
    EXPECT_EQ(any_filter::build(hashes, {.false_positive_rate = 0x1p-31}).value().kind_name(), "binary_fuse");
    // One that is named is taken at its word.
    EXPECT_TRUE(fails_with(any_filter::build(hashes, {.false_positive_rate = 1e-12}, {}, "binary_fuse"),
                           error_code::invalid_argument, "1e-12", "ribbon"));
}

TEST(built_any_filter, refuses_names_that_are_not_built) {
    const auto hashes = random_hashes(100, 1);
    const goal wanted{.keys = 100, .false_positive_rate = 0.01};
    EXPECT_TRUE(fails_with(any_filter::build(hashes, wanted, {}, "bloom"), error_code::unsupported, "bloom",
                           "create it and add"));
    EXPECT_TRUE(fails_with(any_filter::build(hashes, wanted, {}, "cascade"), error_code::unsupported,
                           "cascade", "not listed"));
    EXPECT_TRUE(fails_with(any_filter::build(hashes, wanted, {}, "clock"), error_code::invalid_argument,
                           "clock", "ribbon"));
    EXPECT_TRUE(
        fails_with(any_filter::create("ribbon", wanted), error_code::unsupported, "ribbon", "build()"));
    EXPECT_TRUE(
        fails_with(any_filter::create("cascade", wanted), error_code::unsupported, "cascade", "build()"));
}

TEST(built_any_filter, says_what_to_do_instead_of_a_change) {
    const auto hashes = random_hashes(1'000, 1);
    const scratch_folder folder;
    for (const char* kind : {"xor_filter", "binary_fuse", "ribbon"}) {
        auto owned = any_filter::build(hashes, {.false_positive_rate = 0.01}, {}, kind).value();
        save(owned, folder / kind, {.durable = false}).value();
        auto mapped = open(folder / kind, access::map).value();
        for (any_filter* f : {&owned, &mapped}) {
            const auto instead = [&](const auto& got) {
                return fails_with(got, error_code::unsupported, kind, "build a new one", "blocked_bloom");
            };
            EXPECT_FALSE(f->writable());
            EXPECT_TRUE(instead(f->add(1)));
            EXPECT_TRUE(instead(f->add_batch(hashes)));
            EXPECT_TRUE(instead(f->add_all(hashes)));
            EXPECT_TRUE(instead(f->test_and_add(1)));
            EXPECT_TRUE(fails_with(f->merge(owned), error_code::unsupported, kind, "both sets"));
            auto bits = any_filter::create("bloom", {.keys = 1'000, .false_positive_rate = 0.01}).value();
            EXPECT_TRUE(fails_with(f->merge(bits), error_code::unsupported, kind, "both sets"));
            EXPECT_TRUE(fails_with(bits.merge(*f), error_code::unsupported, kind, "both sets"));
            EXPECT_TRUE(fails_with(f->fold(2), error_code::unsupported, kind, "build"));
            EXPECT_TRUE(fails_with(f->clear(), error_code::unsupported, kind, "build"));
            EXPECT_TRUE(fails_with(f->remove(1), error_code::unsupported, kind, "counting_bloom"));
            EXPECT_TRUE(fails_with(f->rotate_to(1), error_code::unsupported, kind));
            EXPECT_TRUE(fails_with(f->fill_ratio(), error_code::unsupported, kind));
            EXPECT_EQ(f->approximate_size().value(), 1'000.0);
            EXPECT_LE(f->expected_fpr().value(), 0.01);
        }
    }
}

} // namespace
} // namespace bouncer::test
