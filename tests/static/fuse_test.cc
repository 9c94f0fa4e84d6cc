#include "static/fingerprint_checks.h"

#include <bouncer/binary_fuse.h>

namespace bouncer::test {
namespace {

struct form {
    std::uint32_t arity;
    std::uint32_t bits;
};

class fuse : public ::testing::TestWithParam<form> {
  protected:
    static binary_fuse make(std::span<const std::uint64_t> hashes, const build_options& options = {}) {
        return built_with<binary_fuse>(hashes, options, GetParam().arity, GetParam().bits);
    }
};
INSTANTIATE_TEST_SUITE_P(forms, fuse,
                         ::testing::Values(form{3, 8}, form{3, 16}, form{3, 32}, form{4, 8}, form{4, 16},
                                           form{4, 32}),
                         [](const auto& one) {
                             return std::to_string(one.param.arity) + "_wise_" +
                                    std::to_string(one.param.bits) + "_bits";
                         });

TEST_P(fuse, finds_every_key_and_few_others) {
    // The last is two shards. From 512 KiB on, which it has with every width, batches go through the pipeline.
    for (const std::uint64_t keys : {1000ul, 60'000ul, 2'200'000ul}) {
        const auto hashes = random_hashes(scaled(keys), 1);
        const auto filter = make(hashes);
        expect_all_found(filter, hashes);
        expect_rate(filter, scaled(GetParam().bits == 8 ? 2'000'000 : 4'000'000), 2);
    }
}

TEST_P(fuse, difficult_sets) {
    check_difficult_sets<binary_fuse>(GetParam().arity, GetParam().bits);
}

TEST_P(fuse, deterministic) {
    check_deterministic<binary_fuse>(scaled(3'300'000), GetParam().arity, GetParam().bits);
}

TEST_P(fuse, far_batches) {
    const auto hashes = random_hashes(3000, 11);
    const auto filter = make(hashes);
    const detail::fuse_layout layout(filter.params());
    if (GetParam().arity == 3)
        check_far_batches(filter, layout.table<3>(), hashes);
    else
        check_far_batches(filter, layout.table<4>(), hashes);
}

TEST_P(fuse, round_trip) {
    const auto hashes = random_hashes(20'000, 3);
    check_round_trip(make(hashes, {.seed = 99}), hashes);
    check_round_trip(make({}), {});
}

TEST_P(fuse, hostile_words) {
    check_hostile_words(make(random_hashes(3000, 4)));
}

TEST_P(fuse, hostile_parameters) {
    const auto filter = make(random_hashes(3000, 5));
    check_hostile_parameters(filter);
    constexpr auto invalid = error_code::invalid_argument;
    for (const std::uint32_t arity : {0u, 1u, 2u, 5u, 4294967295u})
        expect_refused(filter, invalid, [&](auto& p) { p.arity = arity; });
    for (const std::uint32_t length : {0u, 3u, 100u, 1u << 19, 1u << 31, 4294967295u})
        expect_refused(filter, invalid, [&](auto& p) { p.segment_length = length; });
}

TEST_P(fuse, bits_per_key) {
    if (BOUNCER_TEST_SCALE > 1) GTEST_SKIP() << "needs a million keys";
    const double over = GetParam().arity == 3 ? 1.135 : 1.085;
    for (const std::size_t keys : {1'000'000ul, 2'300'000ul}) {
        const auto filter = make(random_hashes(keys, 6));
        EXPECT_LE(filter.bits_per_key(), over * GetParam().bits) << filter.describe();
        EXPECT_GE(filter.bits_per_key(), 1.07 * GetParam().bits) << filter.describe();
    }
}

TEST(fuse_goals, are_kept_or_refused) {
    check_goals<binary_fuse>();
}

TEST(fuse_goals, reads_are_3_wise_and_space_4_wise) {
    const auto hashes = random_hashes(scaled(1'000'000), 7);
    const auto reads = binary_fuse::build(hashes, {.false_positive_rate = 0.01}).value();
    const auto space =
        binary_fuse::build(hashes, {.false_positive_rate = 0.01, .prefer = prefer::space}).value();
    EXPECT_EQ(reads.params().arity, 3u);
    EXPECT_EQ(space.params().arity, 4u);
    EXPECT_LT(space.size_bytes(), reads.size_bytes());
    expect_all_found(space, hashes);
    EXPECT_EQ(binary_fuse::solve({.keys = 1000, .false_positive_rate = 0.01, .prefer = prefer::space})
                  .value()
                  .arity,
              4u);
}

TEST(fuse_build, refuses_other_arities_and_widths) {
    auto set = detail::sorted_hashes::gather(random_hashes(10, 8), {});
    for (const form bad : {form{2, 8}, form{5, 8}, form{0, 8}, form{3, 0}, form{3, 12}, form{4, 64}})
        EXPECT_TRUE(fails_with(detail::fuse_layout::build_with(*set, bad.arity, bad.bits, {}),
                               error_code::invalid_argument));
}

TEST(fuse_build, of_one_shard) {
    check_builder(detail::fuse_shape<3>{256});
    check_builder(detail::fuse_shape<4>{128});
}

TEST(fuse_build, a_view_agrees) {
    const auto hashes = random_hashes(5000, 9);
    const auto filter = binary_fuse::build(hashes, {.false_positive_rate = 0.01}).value();
    EXPECT_TRUE(filter.view() == filter);
    expect_all_found(filter.view(), hashes);
}

TEST(fuse_wide, arithmetic_beyond_32_bits) {
    const std::uint64_t keys = (std::uint64_t{1} << 32) + 1;
    const auto filter = binary_fuse::build(random_hashes(10, 10), {.false_positive_rate = 0.01}).value();
    for (const double rate : {0.01, 0.001, 1e-8}) {
        const auto three = binary_fuse::solve({.keys = keys, .false_positive_rate = rate}).value();
        EXPECT_EQ(three.shards, 4096u);
        EXPECT_NEAR(static_cast<double>(three.words) * 64 / static_cast<double>(keys),
                    1.13 * three.fingerprint_bits, 0.01 * three.fingerprint_bits);
        check_wide_arithmetic(filter, three, detail::fuse_layout(three).table<3>());
        const auto four =
            binary_fuse::solve({.keys = keys, .false_positive_rate = rate, .prefer = prefer::space}).value();
        check_wide_arithmetic(filter, four, detail::fuse_layout(four).table<4>());
    }
}

} // namespace
} // namespace bouncer::test
