#include "static/fingerprint_checks.h"

#include <bouncer/xor_filter.h>

namespace bouncer::test {
namespace {

class xor_widths : public ::testing::TestWithParam<std::uint32_t> {
  protected:
    static xor_filter make(std::span<const std::uint64_t> hashes, const build_options& options = {}) {
        return built_with<xor_filter>(hashes, options, GetParam());
    }
};
INSTANTIATE_TEST_SUITE_P(widths, xor_widths, ::testing::Values(8u, 16u, 32u),
                         [](const auto& one) { return std::to_string(one.param) + "_bits"; });

TEST_P(xor_widths, finds_every_key_and_few_others) {
    // The last is several shards, and with 32 bits large enough for the pipeline.
    for (const std::uint64_t keys : {1000ul, 60'000ul, 2'200'000ul}) {
        const auto hashes = random_hashes(scaled(keys), 1);
        const auto filter = make(hashes);
        expect_all_found(filter, hashes);
        expect_rate(filter, scaled(GetParam() == 8 ? 2'000'000 : 4'000'000), 2);
    }
}

TEST_P(xor_widths, difficult_sets) {
    check_difficult_sets<xor_filter>(GetParam());
}

TEST_P(xor_widths, deterministic) {
    check_deterministic<xor_filter>(scaled(500'000), GetParam());
}

TEST_P(xor_widths, far_batches) {
    const auto hashes = random_hashes(3000, 11);
    const auto filter = make(hashes);
    check_far_batches(filter, detail::xor_layout(filter.params()).table(), hashes);
}

TEST_P(xor_widths, round_trip) {
    const auto hashes = random_hashes(20'000, 3);
    check_round_trip(make(hashes, {.seed = 99}), hashes);
    check_round_trip(make({}), {});
}

TEST_P(xor_widths, hostile_words) {
    check_hostile_words(make(random_hashes(3000, 4)));
}

TEST_P(xor_widths, hostile_parameters) {
    check_hostile_parameters(make(random_hashes(3000, 5)));
}

TEST_P(xor_widths, bits_per_key) {
    if (BOUNCER_TEST_SCALE > 1) GTEST_SKIP() << "needs a million keys";
    for (const std::size_t keys : {1'000'000ul, 1'700'000ul}) {
        const auto filter = make(random_hashes(keys, 6));
        EXPECT_LE(filter.bits_per_key(), 9.85 / 8 * GetParam()) << filter.describe();
        EXPECT_GE(filter.bits_per_key(), 1.23 * GetParam()) << filter.describe();
    }
}

TEST(xor_goals, are_kept_or_refused) {
    check_goals<xor_filter>();
}

TEST(xor_goals, space_and_reads_are_alike) {
    const auto hashes = random_hashes(10'000, 7);
    EXPECT_TRUE(xor_filter::build(hashes, {.false_positive_rate = 0.01}).value() ==
                xor_filter::build(hashes, {.false_positive_rate = 0.01, .prefer = prefer::space}).value());
}

TEST(xor_build, refuses_other_widths) {
    auto set = detail::sorted_hashes::gather(random_hashes(10, 8), {});
    for (const std::uint32_t bits : {0u, 1u, 12u, 64u})
        EXPECT_TRUE(fails_with(detail::xor_layout::build_with(*set, bits, {}), error_code::invalid_argument));
}

TEST(xor_build, of_one_shard) {
    check_builder(detail::xor_shape{});
}

TEST(xor_build, a_view_agrees) {
    const auto hashes = random_hashes(5000, 9);
    const auto filter = xor_filter::build(hashes, {.false_positive_rate = 0.01}).value();
    EXPECT_TRUE(filter.view() == filter);
    expect_all_found(filter.view(), hashes);
}

TEST(xor_wide, arithmetic_beyond_32_bits) {
    const std::uint64_t keys = (std::uint64_t{1} << 32) + 1;
    const auto filter = xor_filter::build(random_hashes(10, 10), {.false_positive_rate = 0.01}).value();
    for (const double rate : {0.01, 0.001, 1e-8}) {
        const auto solved = xor_filter::solve({.keys = keys, .false_positive_rate = rate}).value();
        EXPECT_EQ(solved.shards, 32768u);
        EXPECT_NEAR(static_cast<double>(solved.words) * 64 / static_cast<double>(keys),
                    1.231 * solved.fingerprint_bits, 0.001 * solved.fingerprint_bits);
        check_wide_arithmetic(filter, solved, detail::xor_layout(solved).table());
    }
}

} // namespace
} // namespace bouncer::test
