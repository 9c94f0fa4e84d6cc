// merge adds counters: as if the adds of both had been made in one filter.
#include "cells/counting_forms.h"
#include "support/failures.h"
#include "support/random_hashes.h"

namespace bouncer::test {
namespace {

template <class F = plain_counting_bloom>
F made_of(const counting_bloom_parameters& chosen, std::span<const std::uint64_t> hashes) {
    F f = F::create(chosen).value();
    f.add_batch(hashes);
    return f;
}

// Keys of which some come several times, and some so often that narrow counters reach their limit.
std::vector<std::uint64_t> with_repeats(std::uint64_t stream) {
    auto out = random_hashes(300, stream);
    const auto shared = random_hashes(100, 99);
    out.insert(out.end(), shared.begin(), shared.end());
    for (int i = 0; i < 12; ++i) out.push_back(shared[7]);
    return out;
}

TEST(counting_merge, equals_adding_both) {
    for_each_form(400, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto a = with_repeats(1);
        const auto b = with_repeats(2);
        auto both = made_of(chosen, a);
        both.add_batch(b);
        auto plain = made_of(chosen, a);
        auto atomic = made_of<atomic_counting_bloom>(chosen, a);
        const auto other = made_of(chosen, b);
        const auto before = other.clone().value();
        const auto rate = plain.merge(other);
        ASSERT_TRUE(rate.has_value());
        EXPECT_DOUBLE_EQ(*rate, both.expected_fpr());
        EXPECT_TRUE(plain == both);
        EXPECT_TRUE(other == before) << "its argument changed";
        ASSERT_TRUE(atomic.merge(other.view()));
        EXPECT_TRUE(atomic == both);
        EXPECT_EQ(both.sticky_counters() != 0, chosen.counter_bits == 4);
        // The other way round is the same.
        auto reversed = other.clone().value();
        ASSERT_TRUE(reversed.merge(made_of(chosen, a)));
        EXPECT_TRUE(reversed == both);
        // What came by the merge can be removed, as if it had been added here.
        if (both.sticky_counters() != 0) return;
        for (const std::uint64_t hash : b) plain.remove(hash);
        EXPECT_TRUE(plain == made_of(chosen, a));
    });
}

TEST(counting_merge, with_itself_doubles) {
    for_each_form(400, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto hashes = with_repeats(3);
        auto f = made_of(chosen, hashes);
        auto twice = made_of(chosen, hashes);
        twice.add_batch(hashes);
        ASSERT_TRUE(f.merge(f));
        EXPECT_TRUE(f == twice);
        auto atomic = made_of<atomic_counting_bloom>(chosen, hashes);
        ASSERT_TRUE(atomic.merge(atomic.view()));
        EXPECT_TRUE(atomic == twice);
    });
}

TEST(counting_merge, with_an_empty_one_changes_nothing) {
    for_each_form(400, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto full = made_of(chosen, with_repeats(4));
        auto f = full.clone().value();
        const auto empty = plain_counting_bloom::create(chosen).value();
        ASSERT_TRUE(f.merge(empty));
        EXPECT_TRUE(f == full);
        auto from_empty = empty.clone().value();
        ASSERT_TRUE(from_empty.merge(full));
        EXPECT_TRUE(from_empty == full);
    });
}

TEST(counting_merge, if_within_refuses_a_union_that_is_too_full) {
    for_each_form(400, 0.01, [](const counting_bloom_parameters& chosen) {
        auto f = made_of(chosen, random_hashes(400, 5));
        const auto other = made_of(chosen, random_hashes(400, 6));
        auto united = f.clone().value();
        const double after = united.merge(other).value();
        const auto before = f.clone().value();
        EXPECT_TRUE(fails_with(f.merge_if_within(other, after * 0.999), error_code::full, "maybe"));
        EXPECT_TRUE(f == before) << "a refusal changes nothing";
        for (const double senseless : {0.0, -1.0, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()})
            EXPECT_TRUE(
                fails_with(f.merge_if_within(other, senseless), error_code::invalid_argument, "rate"));
        EXPECT_TRUE(f == before);
        EXPECT_DOUBLE_EQ(f.merge_if_within(other, after * 1.001).value(), after);
        EXPECT_TRUE(f == united);
    });
}

TEST(counting_merge, refuses_other_parameters_hashes_and_keys) {
    const counting_bloom_parameters chosen{1'024, 6, 8, cell_form::flat};
    const auto hashes = random_hashes(50, 7);
    auto f = made_of(chosen, hashes);
    const auto before = f.clone().value();
    const auto refuses = [&](const counting_bloom_parameters& others, const filter_options& options,
                             error_code code) {
        auto other = plain_counting_bloom::create(others, options).value();
        other.add_batch(hashes);
        EXPECT_TRUE(fails_with(f.merge(other), code)) << other.describe();
        EXPECT_TRUE(fails_with(f.merge_if_within(other, 0.5), code)) << other.describe();
        EXPECT_TRUE(f == before);
    };
    refuses({1'088, 6, 8, cell_form::flat}, {}, error_code::mismatch);
    refuses({1'024, 5, 8, cell_form::flat}, {}, error_code::mismatch);
    refuses({1'024, 6, 16, cell_form::flat}, {}, error_code::mismatch);
    refuses({1'024, 6, 8, cell_form::two_lines}, {}, error_code::mismatch);
    refuses(chosen, {.hash = spec_of(xxh3{})}, error_code::mismatch);
    const auto spec = [](unsigned key) { return spec_of(siphash13(secret_key{{std::byte(key)}})); };
    auto keyed_one = plain_counting_bloom::create(chosen, {.hash = spec(1)}).value();
    const auto keyed_other = plain_counting_bloom::create(chosen, {.hash = spec(2)}).value();
    EXPECT_TRUE(fails_with(keyed_one.merge(keyed_other), error_code::wrong_key));
    EXPECT_TRUE(keyed_one.merge(plain_counting_bloom::create(chosen, {.hash = spec(1)}).value()));
    // Both are named.
    EXPECT_TRUE(fails_with(f.merge(plain_counting_bloom::create({1'088, 6, 8, cell_form::flat}).value()),
                           error_code::mismatch, "1024", "1088"));
}

} // namespace
} // namespace bouncer::test
