// Whatever a user may type: refused with the right code and a sentence that names the value, and nothing changed.
#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

#include <limits>

namespace bouncer::test {
namespace {

template <class F>
class bad_input : public ::testing::Test {};
TYPED_TEST_SUITE(bad_input, plain_kinds_that<is_incremental>, kind_names);

TYPED_TEST(bad_input, goals_without_sense) {
    constexpr auto invalid = error_code::invalid_argument;
    const auto create = [](const goal& wanted) { return TypeParam::create(wanted); };
    EXPECT_TRUE(fails_with(create({.keys = 0, .false_positive_rate = 0.01}), invalid, "keys", "0"));
    EXPECT_TRUE(fails_with(create({.keys = 100}), invalid, "false_positive_rate", "size_bytes"));
    EXPECT_TRUE(fails_with(create({.keys = 100, .size_bytes = 0}), invalid, "size_bytes", "0"));
    EXPECT_TRUE(fails_with(create({.keys = 100, .size_bytes = 1}), invalid,
                           has_fixed_size<TypeParam>::value ? "size_bytes" : ""));
    EXPECT_TRUE(
        fails_with(create({.keys = 100, .false_positive_rate = 0.01, .prefer = static_cast<enum prefer>(77)}),
                   invalid, "prefer", "77"));
    const double infinity = std::numeric_limits<double>::infinity();
    const std::pair<double, const char*> rates[] = {
        {0.0, "0"},         {-0.0, "0"},       {-0.25, "-0.25"},    {1.0, "1"},           {17.5, "17.5"},
        {-1e-12, "-1e-12"}, {infinity, "inf"}, {-infinity, "-inf"}, {std::nan(""), "nan"}};
    for (const auto& [rate, text] : rates) {
        EXPECT_TRUE(fails_with(create({.keys = 100, .false_positive_rate = rate}), invalid,
                               "false_positive_rate", text));
        EXPECT_TRUE(fails_with(create({.keys = 100, .false_positive_rate = rate, .size_bytes = 1'000}),
                               invalid, "false_positive_rate", text));
    }
}

TYPED_TEST(bad_input, a_rate_that_64_bit_hashes_cannot_keep) {
    // 2^30 keys collide with a new one at 2^-34 = 5.8e-11.
    const auto got = TypeParam::create({.keys = std::uint64_t{1} << 30, .false_positive_rate = 1e-11});
    EXPECT_TRUE(
        fails_with(got, error_code::invalid_argument, "1e-11", std::to_string(std::uint64_t{1} << 30)));
    EXPECT_TRUE(fails_with(TypeParam::create({.keys = 1, .false_positive_rate = 1e-300}),
                           error_code::invalid_argument, "1e-300"));
}

TYPED_TEST(bad_input, sizes_beyond_memory) {
    // 2^47 keys need petabytes; 2^60 and 2^64 - 1 keys are no numbers of keys at all.
    for (const std::uint64_t keys : {std::uint64_t{1} << 47, std::uint64_t{1} << 60, ~std::uint64_t{0}})
        EXPECT_TRUE(
            fails_with(TypeParam::create({.keys = keys, .false_positive_rate = 0.01}), error_code::too_large))
            << keys;
    EXPECT_TRUE(fails_with(TypeParam::create({.keys = ~std::uint64_t{0}, .false_positive_rate = 0.01}),
                           error_code::too_large, "18446744073709551615"));
    // An explicit size of 2^64 - 512 bits, words, cells or blocks.
    auto chosen = variants<TypeParam>(1'000, 0.01).front();
    size_parameter(chosen) = ~std::uint64_t{511};
    EXPECT_TRUE(fails_with(TypeParam::create(chosen), error_code::too_large, "18446744073709551104"));
    // The largest explicit size that a layout allows is still beyond this machine, unless the layout's limit is low.
    std::uint64_t most = std::uint64_t{1} << 63;
    for (size_parameter(chosen) = most; !TypeParam::check(chosen); most /= 2)
        size_parameter(chosen) = most / 2;
    const std::uint64_t bytes = TypeParam::size_bytes_of(chosen);
    if (bytes > memory_limit_bytes()) {
        EXPECT_TRUE(fails_with(TypeParam::create(chosen), error_code::too_large, std::to_string(bytes)));
    }
    // A size_bytes that no machine has.
    const auto got = TypeParam::create({.keys = 1'000'000'000, .size_bytes = ~std::uint64_t{0}});
    if (!has_fixed_size<TypeParam>::value) {
        EXPECT_TRUE(fails_with(got, error_code::invalid_argument));
    } else if (!got) {
        EXPECT_EQ(got.error().code, error_code::too_large) << got.error().message;
    }
}

TYPED_TEST(bad_input, explicit_parameters_without_sense) {
    EXPECT_TRUE(
        fails_with(TypeParam::create(typename TypeParam::parameters{}), error_code::invalid_argument, "0"));
    for (const auto& good : variants<TypeParam>(1'000, 0.01)) {
        auto chosen = good;
        size_parameter(chosen) = 0;
        EXPECT_TRUE(fails_with(TypeParam::create(chosen), error_code::invalid_argument, "0"));
        if constexpr (requires { chosen.k; }) {
            for (const std::uint32_t k : {0u, 65u, 1'000u, ~0u}) {
                chosen = good;
                chosen.k = k;
                EXPECT_TRUE(fails_with(TypeParam::create(chosen), error_code::invalid_argument, "k",
                                       std::to_string(k)));
            }
        }
        if constexpr (requires { TypeParam::layout_type::k_most; }) {
            constexpr std::uint32_t most = TypeParam::layout_type::k_most;
            chosen = good;
            chosen.k = most;
            EXPECT_TRUE(TypeParam::create(chosen).has_value());
            chosen.k = most + 1;
            EXPECT_TRUE(fails_with(TypeParam::create(chosen), error_code::invalid_argument, "k",
                                   std::to_string(most), std::to_string(most + 1)));
        }
        if constexpr (requires { chosen.form; }) {
            chosen = good;
            chosen.form = static_cast<decltype(chosen.form)>(201);
            EXPECT_TRUE(fails_with(TypeParam::create(chosen), error_code::invalid_argument, "form", "201"));
        }
    }
}

template <class F>
class bad_merge : public ::testing::Test {};
TYPED_TEST_SUITE(bad_merge, plain_kinds_that<is_mergeable>, kind_names);

TYPED_TEST(bad_merge, of_what_differs_in_any_parameter) {
    for (const auto& chosen : variants<TypeParam>(1'000, 0.01)) {
        SCOPED_TRACE(describe<TypeParam>(chosen));
        auto f = TypeParam::create(chosen).value();
        f.add_batch(random_hashes(1'000, 1));
        const auto before = f.clone().value();
        const auto refuses = [&](const typename TypeParam::parameters& different) {
            auto other = TypeParam::create(different).value();
            other.add_batch(random_hashes(1'000, 2));
            const std::string ours = TypeParam::describe(chosen);
            const std::string theirs = TypeParam::describe(different);
            EXPECT_TRUE(fails_with(f.merge(other), error_code::mismatch, ours, theirs));
            EXPECT_TRUE(fails_with(f.merge_if_within(other, 0.9), error_code::mismatch, ours, theirs));
            EXPECT_TRUE(f == before) << "a refused merge changed the filter";
        };
        auto different = chosen;
        size_parameter(different) += 64;
        refuses(different);
        if constexpr (requires { different.k; }) {
            different = chosen;
            different.k -= 1;
            if (TypeParam::check(different)) refuses(different);
        }
        if constexpr (requires { different.form; }) {
            for (const auto& each : variants<TypeParam>(1'000, 0.01)) {
                different = each;
                size_parameter(different) = size_parameter(f.params());
                if (!(different == chosen) && TypeParam::check(different)) refuses(different);
            }
        }
    }
}

TYPED_TEST(bad_merge, of_what_differs_in_its_hash) {
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto f = TypeParam::create(wanted).value();
    f.add_batch(random_hashes(1'000, 1));
    const auto before = f.clone().value();
    for (const hash_spec spec :
         {xxh3{}.spec(), xxh3{42}.spec(), xxh64{}.spec(), xxh64{9}.spec(), murmur3{}.spec(), fnv1a{}.spec(),
          fnv1{}.spec(), hash_spec{}, hash_spec{0x80000001u, 5}}) {
        if (spec == f.hash()) continue;
        const auto other = TypeParam::create(wanted, {.hash = spec});
        if (!TypeParam::check_stored_hash(spec)) { // a kind that fixes its hash refuses the others at once
            EXPECT_TRUE(fails_with(other, error_code::mismatch, to_string(spec), to_string(f.hash())));
            continue;
        }
        EXPECT_TRUE(fails_with(f.merge(*other), error_code::mismatch, to_string(spec), to_string(f.hash())));
        EXPECT_TRUE(fails_with(f.merge_if_within(*other, 0.9), error_code::mismatch, to_string(spec)));
        EXPECT_TRUE(f == before) << "a refused merge changed the filter";
    }
}

TEST(bad_flat_input, sizes_that_are_no_multiple_of_64) {
    for (const std::uint64_t bits : {1u, 63u, 65u, 1'000u}) {
        EXPECT_TRUE(fails_with(plain_bloom::create(bloom_parameters{bits, 7}), error_code::invalid_argument,
                               "bits", std::to_string(bits)));
        EXPECT_TRUE(fails_with(plain_partitioned_bloom::create(partitioned_bloom_parameters{bits, 7}),
                               error_code::invalid_argument, "slice_bits", std::to_string(bits)));
    }
}

TEST(bad_dcso_input, no_bits_too_many_and_a_k_beyond_64) {
    using parameters = dcso_bloom_parameters;
    EXPECT_TRUE(
        fails_with(plain_dcso_bloom::create(parameters{0, 7}), error_code::invalid_argument, "bits", "0"));
    EXPECT_TRUE(fails_with(plain_dcso_bloom::create(parameters{(std::uint64_t{1} << 50) + 1, 7}),
                           error_code::too_large, "1125899906842625"));
    EXPECT_TRUE(
        fails_with(plain_dcso_bloom::create(parameters{100, 0}), error_code::invalid_argument, "k", "0"));
    EXPECT_TRUE(
        fails_with(plain_dcso_bloom::create(parameters{100, 65}), error_code::invalid_argument, "k", "65"));
    for (const std::uint64_t bits : {1u, 63u, 64u, 65u, 1'000u})
        EXPECT_EQ(plain_dcso_bloom::create(parameters{bits, 7}).value().size_bytes(), (bits + 63) / 64 * 8);
}

TEST(bad_blocked_input, a_k_that_the_form_does_not_have) {
    using parameters = blocked_bloom_parameters;
    for (const parameters& chosen :
         {parameters{10, 7, block_form::lanes8}, parameters{10, 9, block_form::lanes8},
          parameters{10, 8, block_form::lanes16}, parameters{10, 17, block_form::any_k},
          parameters{10, 1, block_form::sectors2}, parameters{10, 7, block_form::sectors2},
          parameters{10, 18, block_form::sectors2}, parameters{10, 2, block_form::sectors4},
          parameters{10, 6, block_form::sectors4}, parameters{10, 20, block_form::sectors4}})
        EXPECT_TRUE(fails_with(plain_blocked_bloom::create(chosen), error_code::invalid_argument, "k",
                               std::to_string(chosen.k)));
    for (const auto form : {block_form::any_k, block_form::sectors2, block_form::sectors4})
        EXPECT_TRUE(plain_blocked_bloom::create(parameters{10, 16, form}).has_value());
    for (std::uint32_t k = 1; k <= 16; ++k) {
        for (const auto form : {block_form::sectors2, block_form::halves256, block_form::halves128})
            EXPECT_EQ(detail::blocked_layout::check({10, k, form}).has_value(), k % 2 == 0);
        EXPECT_EQ(detail::blocked_layout::check({10, k, block_form::sectors4}).has_value(), k % 4 == 0);
    }
    // The first number that is no form; variants() in support/kinds.h must know of new ones.
    EXPECT_TRUE(fails_with(plain_blocked_bloom::create(parameters{10, 8, static_cast<block_form>(7)}),
                           error_code::invalid_argument, "form", "7", "sectors2", "halves128"));
}

TEST(bad_split_block_input, more_than_128_mebibytes) {
    const std::uint64_t most = (128u << 20) / 32;
    EXPECT_TRUE(
        plain_split_block_bloom::create(split_block_bloom_parameters{most}, {.memory = {.prefault = false}})
            .has_value());
    EXPECT_TRUE(fails_with(plain_split_block_bloom::create(split_block_bloom_parameters{most + 1}),
                           error_code::too_large, std::to_string(most + 1)));
    EXPECT_TRUE(
        fails_with(plain_split_block_bloom::create({.keys = 200'000'000, .false_positive_rate = 0.01}),
                   error_code::too_large, "200000000"));
}

} // namespace
} // namespace bouncer::test
