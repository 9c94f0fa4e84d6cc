// Whatever a user may type: refused with the right code and a sentence that names the value, and nothing changed.
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/subject.h"

#include <bouncer/blocked_bloom.h> // parameters, and a layout that is asked
#include <bouncer/bloom.h>
#include <bouncer/dcso_bloom.h>
#include <bouncer/partitioned_bloom.h>
#include <bouncer/split_block_bloom.h>

#include <cmath>
#include <limits>

namespace bouncer::test {
namespace {

class bad_input : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, bad_input, plain_subjects_that(&facts::incremental), subject_names);

TEST_P(bad_input, goals_without_sense) {
    constexpr auto invalid = error_code::invalid_argument;
    const auto create = [&](const goal& wanted) { return k.create(wanted); };
    EXPECT_TRUE(fails_with(create({.keys = 0, .false_positive_rate = 0.01}), invalid, "keys", "0"));
    EXPECT_TRUE(fails_with(create({.keys = 100}), invalid, "false_positive_rate", "size_bytes"));
    EXPECT_TRUE(fails_with(create({.keys = 100, .size_bytes = 0}), invalid, "size_bytes", "0"));
    EXPECT_TRUE(
        fails_with(create({.keys = 100, .size_bytes = 1}), invalid, k.is.fixed_size ? "size_bytes" : ""));
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

TEST_P(bad_input, a_rate_that_64_bit_hashes_cannot_keep) {
    // 2^30 keys collide with a new one at 2^-34 = 5.8e-11.
    const auto got = k.create(goal{.keys = std::uint64_t{1} << 30, .false_positive_rate = 1e-11});
    EXPECT_TRUE(
        fails_with(got, error_code::invalid_argument, "1e-11", std::to_string(std::uint64_t{1} << 30)));
    EXPECT_TRUE(fails_with(k.create(goal{.keys = 1, .false_positive_rate = 1e-300}),
                           error_code::invalid_argument, "1e-300"));
}

TEST_P(bad_input, sizes_beyond_memory) {
    // 2^47 keys need petabytes; 2^60 and 2^64 - 1 keys are no numbers of keys at all.
    for (const std::uint64_t keys : {std::uint64_t{1} << 47, std::uint64_t{1} << 60, ~std::uint64_t{0}})
        EXPECT_TRUE(
            fails_with(k.create(goal{.keys = keys, .false_positive_rate = 0.01}), error_code::too_large))
            << keys;
    EXPECT_TRUE(fails_with(k.create(goal{.keys = ~std::uint64_t{0}, .false_positive_rate = 0.01}),
                           error_code::too_large, "18446744073709551615"));
    // An explicit size of 2^64 - 512 bits, words, cells or blocks.
    const auto some = k.variants(1'000, 0.01).front();
    EXPECT_TRUE(fails_with(k.create(k.with_size(some, ~std::uint64_t{511})), error_code::too_large,
                           "18446744073709551104"));
    // The largest explicit size that a layout allows is still beyond this machine, unless the layout's limit is low.
    std::uint64_t most = std::uint64_t{1} << 63;
    while (!k.check(k.with_size(some, most))) most /= 2;
    const auto largest = k.with_size(some, most);
    const std::uint64_t bytes = k.size_bytes_of(largest);
    if (bytes > memory_limit_bytes()) {
        EXPECT_TRUE(fails_with(k.create(largest), error_code::too_large, std::to_string(bytes)));
    }
    // A size_bytes that no machine has.
    const auto got = k.create(goal{.keys = 1'000'000'000, .size_bytes = ~std::uint64_t{0}});
    if (!k.is.fixed_size) {
        EXPECT_TRUE(fails_with(got, error_code::invalid_argument));
    } else if (!got) {
        EXPECT_EQ(got.error().code, error_code::too_large) << got.error().message;
    }
}

TEST_P(bad_input, explicit_parameters_without_sense) {
    EXPECT_TRUE(fails_with(k.create(k.no_parameters()), error_code::invalid_argument, "0"));
    for (const auto& good : k.variants(1'000, 0.01)) {
        EXPECT_TRUE(fails_with(k.create(k.with_size(good, 0)), error_code::invalid_argument, "0"));
        if (k.k_in(good)) {
            for (const std::uint32_t bad : {0u, 65u, 1'000u, ~0u})
                EXPECT_TRUE(fails_with(k.create(*k.with_k(good, bad)), error_code::invalid_argument, "k",
                                       std::to_string(bad)));
        }
        if (const std::uint32_t most = k.is.k_most; most != 0) {
            EXPECT_TRUE(k.create(*k.with_k(good, most)).has_value());
            EXPECT_TRUE(fails_with(k.create(*k.with_k(good, most + 1)), error_code::invalid_argument, "k",
                                   std::to_string(most), std::to_string(most + 1)));
        }
        if (const auto unknown = k.with_form(good, 201); unknown) {
            EXPECT_TRUE(fails_with(k.create(*unknown), error_code::invalid_argument, "form", "201"));
        }
    }
}

class bad_merge : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, bad_merge,
                         plain_subjects_that([](const facts& is) { return is.incremental && is.mergeable; }),
                         subject_names);

TEST_P(bad_merge, of_what_differs_in_any_parameter) {
    for (const auto& chosen : k.variants(1'000, 0.01)) {
        SCOPED_TRACE(k.describe(chosen));
        auto f = k.create(chosen).value();
        f.add_batch(random_hashes(1'000, 1));
        const auto before = f.clone();
        const auto refuses = [&](const choice& different) {
            auto other = k.create(different).value();
            other.add_batch(random_hashes(1'000, 2));
            const std::string ours = chosen.text();
            const std::string theirs = different.text();
            EXPECT_TRUE(fails_with(f.merge(other), error_code::mismatch, ours, theirs));
            EXPECT_TRUE(fails_with(f.merge_if_within(other, 0.9), error_code::mismatch, ours, theirs));
            EXPECT_TRUE(f == before) << "a refused merge changed the filter";
        };
        refuses(k.with_size(chosen, k.size_in(chosen) + 64));
        if (const auto now = k.k_in(chosen); now) {
            const choice different = *k.with_k(chosen, *now - 1);
            if (k.check(different)) refuses(different);
        }
        if (k.with_form(chosen, 0)) {
            for (const auto& each : k.variants(1'000, 0.01)) {
                const choice different = k.with_size(each, k.size_in(chosen));
                if (!(different == chosen) && k.check(different)) refuses(different);
            }
        }
    }
}

TEST_P(bad_merge, of_what_differs_in_its_hash) {
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    auto f = k.create(wanted).value();
    f.add_batch(random_hashes(1'000, 1));
    const auto before = f.clone();
    std::vector<hash_spec> specs{{}, {first_user_hash_id, 5}};
    for (const hash_info& each : all_hashes) {
        specs.push_back({each.id, 0});
        if (each.seed_bits != 0) specs.push_back({each.id, 42});
    }
    for (const hash_spec& spec : specs) {
        if (spec == f.hash()) continue;
        const auto other = k.create(wanted, {.hash = spec});
        if (!k.check_stored_hash(spec)) { // a kind that fixes its hash refuses the others at once
            EXPECT_TRUE(fails_with(other, error_code::mismatch, to_string(spec), to_string(f.hash())));
            continue;
        }
        EXPECT_TRUE(fails_with(f.merge(*other), error_code::mismatch, to_string(spec), to_string(f.hash())));
        EXPECT_TRUE(fails_with(f.merge_if_within(*other, 0.9), error_code::mismatch, to_string(spec)));
        EXPECT_TRUE(f == before) << "a refused merge changed the filter";
    }
}

// What one kind refuses, by its parameters.
template <class Parameters>
result<subject> created(std::string_view name, const Parameters& parameters,
                        const filter_options& options = {}) {
    return kind_named(name, words_access::plain).create(choice(parameters, {}), options);
}

TEST(bad_flat_input, sizes_that_are_no_multiple_of_64) {
    for (const std::uint64_t bits : {1u, 63u, 65u, 1'000u}) {
        EXPECT_TRUE(fails_with(created("bloom", bloom_parameters{bits, 7}), error_code::invalid_argument,
                               "bits", std::to_string(bits)));
        EXPECT_TRUE(fails_with(created("partitioned_bloom", partitioned_bloom_parameters{bits, 7}),
                               error_code::invalid_argument, "slice_bits", std::to_string(bits)));
    }
}

TEST(bad_dcso_input, no_bits_too_many_and_a_k_beyond_64) {
    using parameters = dcso_bloom_parameters;
    EXPECT_TRUE(
        fails_with(created("dcso_bloom", parameters{0, 7}), error_code::invalid_argument, "bits", "0"));
    EXPECT_TRUE(fails_with(created("dcso_bloom", parameters{(std::uint64_t{1} << 50) + 1, 7}),
                           error_code::too_large, "1125899906842625"));
    EXPECT_TRUE(
        fails_with(created("dcso_bloom", parameters{100, 0}), error_code::invalid_argument, "k", "0"));
    EXPECT_TRUE(
        fails_with(created("dcso_bloom", parameters{100, 65}), error_code::invalid_argument, "k", "65"));
    for (const std::uint64_t bits : {1u, 63u, 64u, 65u, 1'000u})
        EXPECT_EQ(created("dcso_bloom", parameters{bits, 7}).value().size_bytes(), (bits + 63) / 64 * 8);
}

TEST(bad_blocked_input, a_k_that_the_form_does_not_have) {
    using parameters = blocked_bloom_parameters;
    for (const parameters& chosen :
         {parameters{10, 7, block_form::lanes8}, parameters{10, 9, block_form::lanes8},
          parameters{10, 8, block_form::lanes16}, parameters{10, 1, block_form::sectors2},
          parameters{10, 7, block_form::sectors2}, parameters{10, 18, block_form::sectors2},
          parameters{10, 2, block_form::sectors4}, parameters{10, 6, block_form::sectors4},
          parameters{10, 20, block_form::sectors4}})
        EXPECT_TRUE(fails_with(created("blocked_bloom", chosen), error_code::invalid_argument, "k",
                               std::to_string(chosen.k)));
    for (const auto form : {block_form::sectors2, block_form::sectors4})
        EXPECT_TRUE(created("blocked_bloom", parameters{10, 16, form}).has_value());
    for (std::uint32_t k = 1; k <= 16; ++k) {
        EXPECT_EQ(detail::blocked_layout::check({10, k, block_form::sectors2}).has_value(), k % 2 == 0);
        EXPECT_EQ(detail::blocked_layout::check({10, k, block_form::sectors4}).has_value(), k % 4 == 0);
    }
    // variants() in support/kinds.h must know of new forms.
    for (const unsigned form : {1u, 5u, 6u, 7u, 255u})
        EXPECT_TRUE(fails_with(created("blocked_bloom", parameters{10, 8, static_cast<block_form>(form)}),
                               error_code::invalid_argument, "form", std::to_string(form), "sectors4"));
}

TEST(bad_split_block_input, more_than_128_mebibytes) {
    const std::uint64_t most = (128u << 20) / 32;
    EXPECT_TRUE(
        created("split_block_bloom", split_block_bloom_parameters{most}, {.memory = {.prefault = false}})
            .has_value());
    EXPECT_TRUE(fails_with(created("split_block_bloom", split_block_bloom_parameters{most + 1}),
                           error_code::too_large, std::to_string(most + 1)));
    EXPECT_TRUE(fails_with(kind_named("split_block_bloom", words_access::plain)
                               .create(goal{.keys = 200'000'000, .false_positive_rate = 0.01}),
                           error_code::too_large, "200000000"));
}

} // namespace
} // namespace bouncer::test
