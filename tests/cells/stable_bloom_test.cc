// stable_bloom against a reference of one byte per cell, its batches, its goals and its edges.
#include <bouncer/keyed.h>
#include <bouncer/stable_bloom.h>
#include <bouncer/stream_math.h>

#include "support/failures.h"
#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

static_assert(incremental<plain_stable_bloom> && incremental<atomic_stable_bloom>);
static_assert(filter<stable_bloom_view> && !incremental<stable_bloom_view>);
static_assert(!mergeable<plain_stable_bloom> && !foldable<plain_stable_bloom>);
static_assert(!self_estimating<plain_stable_bloom>);
static_assert(!plain_stable_bloom::no_false_negatives && !plain_stable_bloom::union_is_or);
static_assert(plain_stable_bloom::concurrency == concurrency_level::exclusive);
static_assert(atomic_stable_bloom::concurrency == concurrency_level::lock_free);
static_assert(detail::loadable<plain_stable_bloom> && detail::mappable<stable_bloom_view>);

// One line of each width, several, runs within a word, over words, over the end, and over nearly everything.
const stable_bloom_parameters forms[] = {
    {512, 3, 1, 11},   {256, 4, 2, 30}, {128, 6, 4, 40},     {128, 6, 4, 127},     {512, 1, 1, 511},
    {5120, 3, 1, 200}, {2560, 4, 2, 1}, {12'800, 6, 4, 142}, {12'800, 32, 4, 291}, {65'536, 10, 2, 53},
};

// Cells of a byte each, and one step after the other. The numbers are written out once more: they are the layout.
class reference {
  public:
    explicit reference(const stable_bloom_parameters& of)
        : of_(of), max_(static_cast<std::uint8_t>((1u << of.cell_bits) - 1)), cells_(of.cells) {}

    bool may_contain(std::uint64_t hash) const {
        for (const std::uint64_t cell : of_key(hash))
            if (cells_[cell] == 0) return false;
        return true;
    }
    bool add(std::uint64_t hash) {
        const bool was_there = may_contain(hash);
        std::uint64_t cell =
            detail::fast_range(detail::mix64(adds_++ * 0x6a09e667f3bcc909u + 0xbb67ae8584caa73bu), of_.cells);
        for (std::uint32_t i = 0; i < of_.decrements; ++i, cell = (cell + 1) % of_.cells)
            if (cells_[cell] != 0) --cells_[cell];
        for (const std::uint64_t each : of_key(hash)) cells_[each] = max_;
        return !was_there;
    }
    double fill() const {
        std::uint64_t above = 0;
        for (const std::uint8_t cell : cells_) above += cell != 0;
        return static_cast<double>(above) / static_cast<double>(cells_.size());
    }
    // The words as they must be.
    std::vector<std::uint64_t> words() const {
        std::vector<std::uint64_t> out(16 + of_.cells * of_.cell_bits / 64);
        out[0] = adds_;
        for (std::uint64_t i = 0; i < of_.cells; ++i)
            out[16 + i * of_.cell_bits / 64] |= std::uint64_t{cells_[i]} << (i * of_.cell_bits % 64);
        return out;
    }

  private:
    std::vector<std::uint64_t> of_key(std::uint64_t hash) const {
        std::vector<std::uint64_t> out;
        std::uint64_t x = hash;
        for (std::uint32_t i = 0; i < of_.k; ++i, x *= 0xbb67ae8584caa73bu)
            out.push_back(detail::fast_range(x, of_.cells));
        return out;
    }

    stable_bloom_parameters of_;
    std::uint8_t max_;
    std::vector<std::uint8_t> cells_;
    std::uint64_t adds_ = 0;
};

template <class F>
std::vector<std::uint64_t> words_of(const F& f) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; i < f.size_bytes() / 8; ++i) out.push_back(f.data()[i]);
    return out;
}

template <class F>
class stable_bloom : public ::testing::Test {};
using both = ::testing::Types<plain_stable_bloom, atomic_stable_bloom>;
TYPED_TEST_SUITE(stable_bloom, both);

TYPED_TEST(stable_bloom, is_the_reference_cell_by_cell) {
    for (const auto& chosen : forms) {
        SCOPED_TRACE(TypeParam::describe(chosen));
        auto f = TypeParam::create(chosen).value();
        reference expected(chosen);
        auto hashes = extreme_hashes();
        const auto more = random_hashes(600, 1);
        hashes.insert(hashes.end(), more.begin(), more.end());
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            if (i % 7 == 6) {
                EXPECT_EQ(f.test_and_add(hashes[i / 2]), !expected.add(hashes[i / 2]));
            }
            EXPECT_EQ(f.add(hashes[i]), expected.add(hashes[i]));
            EXPECT_TRUE(f.may_contain(hashes[i]));
            if (i % 50 != 0) continue;
            EXPECT_EQ(words_of(f), expected.words());
            EXPECT_EQ(f.fill_ratio(), expected.fill());
            for (const std::uint64_t hash : hashes)
                EXPECT_EQ(f.may_contain(hash), expected.may_contain(hash));
        }
        EXPECT_EQ(words_of(f), expected.words());
        double rate = 1;
        for (std::uint32_t i = 0; i < chosen.k; ++i) rate *= expected.fill();
        EXPECT_NEAR(f.expected_fpr(), rate, 1e-12);
    }
}

TYPED_TEST(stable_bloom, batches_are_as_one_by_one) {
    const auto hashes = random_hashes(2000, 2);
    for (const auto& chosen : forms)
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{500}}) {
            SCOPED_TRACE(TypeParam::describe(chosen) + ", batches of " + std::to_string(size));
            auto one_by_one = TypeParam::create(chosen).value();
            auto batched = TypeParam::create(chosen).value();
            const auto keys = std::span(hashes).first(size);
            std::size_t news = 0;
            for (const std::uint64_t hash : keys) news += one_by_one.add(hash);
            EXPECT_EQ(batched.add_batch(keys), news);
            EXPECT_TRUE(batched == one_by_one);

            const auto mixed = std::span(hashes).subspan(size / 2, size); // half of them added before
            answers got(size + 1);                                        // g++ 12 at -O3 warns of none
            std::size_t found = 0;
            for (const std::uint64_t hash : mixed) found += one_by_one.may_contain(hash);
            EXPECT_EQ(batched.may_contain(mixed, got.span().first(size)), found);
            for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(got[i], one_by_one.may_contain(mixed[i]));

            answers told(size + 1);
            news = 0;
            std::vector<bool> expected;
            for (const std::uint64_t hash : mixed) expected.push_back(one_by_one.test_and_add(hash));
            for (const bool each : expected) news += !each;
            EXPECT_EQ(batched.test_and_add(mixed, told.span().first(size)), news);
            for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(told[i], expected[i]);
            EXPECT_TRUE(batched == one_by_one);
        }
}

TYPED_TEST(stable_bloom, shorter_span_decides) {
    auto f = TypeParam::create(forms[7]).value();
    const auto hashes = random_hashes(10, 3);
    answers few(4);
    EXPECT_EQ(f.test_and_add(hashes, few.span()), 4u);
    EXPECT_EQ(f.adds(), 4u);
    EXPECT_EQ(f.may_contain(hashes, few.span()), 4u);
}

TYPED_TEST(stable_bloom, clear_copy_view_and_equality) {
    for (const auto& chosen : forms) {
        auto f = TypeParam::create(chosen, {.hash = hash_spec{}}).value();
        const auto empty = TypeParam::create(chosen).value();
        EXPECT_TRUE(f == empty);
        f.add_batch(random_hashes(500, 4));
        EXPECT_EQ(f.adds(), 500u);
        EXPECT_FALSE(f == empty);
        const auto view = f.view();
        auto plain = f.template clone<plain_words>().value();
        auto atomic = f.template clone<atomic_words>().value();
        EXPECT_TRUE(view == f && plain == f && atomic == f);
        for (const std::uint64_t hash : random_hashes(700, 4))
            EXPECT_EQ(view.may_contain(hash), f.may_contain(hash));
        EXPECT_EQ(view.adds(), 500u);
        // A copy goes on as the original does, whatever its words.
        for (const std::uint64_t hash : random_hashes(100, 5)) {
            EXPECT_EQ(plain.add(hash), f.add(hash));
            atomic.add(hash);
        }
        EXPECT_TRUE(plain == f && atomic == f);
        f.clear();
        EXPECT_TRUE(f == empty);
        EXPECT_EQ(f.adds(), 0u);
        EXPECT_EQ(f.fill_ratio(), 0);
        EXPECT_EQ(f.expected_fpr(), 0);
    }
}

TEST(stable_bloom_goals, horizon_is_met_by_the_smallest) {
    for (const double rate : {0.2, 0.1, 0.01, 1e-3, 1e-4})
        for (const std::uint64_t keys : {1u, 30u, 1000u, 1'000'000u}) {
            const auto chosen =
                plain_stable_bloom::solve({.keys = keys, .false_positive_rate = rate}).value();
            SCOPED_TRACE(plain_stable_bloom::describe(chosen));
            EXPECT_TRUE(plain_stable_bloom::check(chosen));
            const std::uint32_t max = (1u << chosen.cell_bits) - 1;
            EXPECT_LE(math::stable_fpr(chosen.cells, chosen.k, max, chosen.decrements), rate);
            EXPECT_LE(math::stable_false_negative_rate(static_cast<double>(keys), chosen.cells, chosen.k, max,
                                                       chosen.decrements),
                      0.1);
            // A line less remembers less in every form.
            const std::uint64_t bytes = plain_stable_bloom::size_bytes_of(chosen);
            if (bytes == 128 + 64) continue;
            const auto less = plain_stable_bloom::solve(
                {.keys = keys, .false_positive_rate = rate, .size_bytes = bytes - 64});
            if (!less) continue;
            EXPECT_LE(plain_stable_bloom::size_bytes_of(*less), bytes - 64);
            EXPECT_GT(math::stable_false_negative_rate(static_cast<double>(keys), less->cells, less->k,
                                                       (1u << less->cell_bits) - 1, less->decrements),
                      0.1);
        }
}

// docs/filters/stable_bloom.md prints these.
TEST(stable_bloom_goals, numbers_of_the_page) {
    struct row {
        double rate;
        double bits_per_key;
        std::uint32_t k;
        std::uint32_t decrements;
    };
    for (const row& each : {row{0.1, 30.8, 3, 71}, row{0.01, 68.1, 6, 142}, row{1e-3, 107.3, 9, 212},
                            row{1e-4, 150.3, 10, 291}}) {
        auto f =
            plain_stable_bloom::create(goal{.keys = 1'000'000, .false_positive_rate = each.rate}).value();
        EXPECT_NEAR(static_cast<double>(f.size_bytes()) * 8 / 1e6, each.bits_per_key, 0.05);
        EXPECT_EQ(f.params().k, each.k);
        EXPECT_EQ(f.params().cell_bits, 4u);
        EXPECT_EQ(f.params().decrements, each.decrements);
        EXPECT_NEAR(f.false_negative_rate(1'000'000), 0.1, 1e-4);
        EXPECT_LT(f.false_negative_rate(500'000), 3e-4);
        EXPECT_GT(f.false_negative_rate(2'000'000), 0.8);
    }
    const auto forgotten = [](double rate, std::uint64_t bits_per_key) {
        const auto f =
            plain_stable_bloom::create(
                goal{.keys = 1'000'000, .false_positive_rate = rate, .size_bytes = bits_per_key * 125'000})
                .value();
        EXPECT_LE(f.size_bytes(), bits_per_key * 125'000);
        return f.false_negative_rate(1'000'000);
    };
    EXPECT_NEAR(forgotten(0.1, 24), 0.22, 0.005);
    EXPECT_NEAR(forgotten(0.01, 24), 0.72, 0.005);
    EXPECT_NEAR(forgotten(0.001, 24), 0.94, 0.005);
}

// Rates far below what anybody wants, some of which took minutes: each is met or refused.
TEST(stable_bloom_goals, tiny_rates) {
    int met = 0;
    for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{200}, std::uint64_t{1} << 20,
                                     std::uint64_t{1} << 30, std::uint64_t{1} << 40})
        for (const double rate : {1e-300, 1e-18, 1.3932056380672334e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8}) {
            SCOPED_TRACE(std::to_string(keys) + " at " + std::to_string(std::log10(rate)));
            const auto solved = plain_stable_bloom::solve({.keys = keys, .false_positive_rate = rate});
            if (!solved) {
                EXPECT_TRUE(solved.error().code == error_code::too_large ||
                            solved.error().code == error_code::invalid_argument)
                    << solved.error().message;
                continue;
            }
            ++met;
            const stable_bloom_parameters& chosen = *solved;
            EXPECT_TRUE(plain_stable_bloom::check(chosen));
            const std::uint32_t max = (1u << chosen.cell_bits) - 1;
            EXPECT_LE(math::stable_fpr(chosen.cells, chosen.k, max, chosen.decrements), rate);
        }
    EXPECT_GT(met, 10);
}

TEST(stable_bloom_goals, refused) {
    const auto solve = plain_stable_bloom::solve(goal{});
    EXPECT_TRUE(fails_with(solve, error_code::invalid_argument, "keys"));
    EXPECT_TRUE(fails_with(plain_stable_bloom::solve({.keys = 100, .size_bytes = 1000}),
                           error_code::invalid_argument, "false_positive_rate"));
    EXPECT_TRUE(
        fails_with(plain_stable_bloom::solve({.keys = 100, .false_positive_rate = 0.01, .size_bytes = 191}),
                   error_code::invalid_argument, "192", "191"));
    EXPECT_TRUE(fails_with(plain_stable_bloom::solve({.keys = 100, .false_positive_rate = 1.5}),
                           error_code::invalid_argument, "1.5"));
    EXPECT_TRUE(
        fails_with(plain_stable_bloom::solve({.keys = std::uint64_t{1} << 47, .false_positive_rate = 1e-3}),
                   error_code::too_large, std::to_string(std::uint64_t{1} << 47)));
    EXPECT_TRUE(
        fails_with(plain_stable_bloom::solve({.keys = 1, .false_positive_rate = 1e-18, .size_bytes = 192}),
                   error_code::invalid_argument));
    EXPECT_TRUE(
        fails_with(plain_stable_bloom::solve({.keys = std::uint64_t{1} << 60, .false_positive_rate = 0.1}),
                   error_code::too_large));
}

TEST(stable_bloom_parameters, refused) {
    const auto refused = [](stable_bloom_parameters chosen, error_code code, auto... values) {
        EXPECT_TRUE(fails_with(plain_stable_bloom::check(chosen), code, values...));
        EXPECT_TRUE(fails_with(plain_stable_bloom::create(chosen), code, values...));
        const std::vector<std::uint64_t> fields{chosen.cells, chosen.k, chosen.cell_bits, chosen.decrements};
        EXPECT_TRUE(fails_with(detail::storage_access::words<plain_stable_bloom>(fields), code, values...));
        EXPECT_TRUE(fails_with(detail::storage_access::for_loading<plain_stable_bloom>(fields, {}, {}), code,
                               values...));
    };
    refused({}, error_code::invalid_argument);
    refused({0, 3, 4, 1}, error_code::invalid_argument, "cells", "0");
    refused({127, 3, 4, 1}, error_code::invalid_argument, "128", "127");
    refused({256, 3, 1, 1}, error_code::invalid_argument, "512", "256");
    refused({128, 0, 4, 1}, error_code::invalid_argument, "k");
    refused({128, 33, 4, 1}, error_code::invalid_argument, "32", "33");
    for (const std::uint32_t bits : {0u, 3u, 5u, 8u, 16u, 64u, 0xffffffffu})
        refused({1 << 20, 3, bits, 1}, error_code::invalid_argument, "cell_bits", std::to_string(bits));
    refused({128, 3, 4, 0}, error_code::invalid_argument, "decrements");
    refused({128, 3, 4, 128}, error_code::invalid_argument, "decrements", "127", "128");
    refused({128, 3, 4, 0xffffffffu}, error_code::invalid_argument, "decrements", "4294967295");
    refused({~std::uint64_t{0} - 511, 3, 1, 1}, error_code::too_large, "cells");
    EXPECT_TRUE(plain_stable_bloom::check({128, 3, 4, 127}));
}

TEST(stable_bloom_parameters, hostile_fields) {
    const auto words = [](std::vector<std::uint64_t> fields) {
        return detail::storage_access::words<plain_stable_bloom>(fields);
    };
    EXPECT_EQ(words({512, 3, 1, 11}).value(), 16u + 8);
    EXPECT_TRUE(fails_with(words({}), error_code::invalid_argument, "4", "0"));
    EXPECT_TRUE(fails_with(words({512, 3, 1}), error_code::invalid_argument, "4", "3"));
    EXPECT_TRUE(fails_with(words({512, 3, 1, 11, 0}), error_code::invalid_argument, "5"));
    const std::uint64_t wrapped = (std::uint64_t{1} << 32) + 1;
    EXPECT_FALSE(words({512, wrapped, 1, 11}));
    EXPECT_FALSE(words({512, 3, wrapped, 11}));
    EXPECT_FALSE(words({512, 3, 1, wrapped}));
}

TEST(stable_bloom_parameters, in_words) {
    EXPECT_EQ(plain_stable_bloom::describe({128, 6, 4, 40}), "cells 128, k 6, bits 4, decrements 40");
    EXPECT_EQ(plain_stable_bloom::size_bytes_of({128, 6, 4, 40}), 128u + 64);
    const auto f = plain_stable_bloom::create(forms[7]).value();
    EXPECT_EQ(f.fpr_at(0), 0);
    EXPECT_NEAR(f.fpr_at(1'000'000), f.stable_point().fpr, 1e-12);
    EXPECT_NEAR(f.stable_point().fpr, 0.0098, 0.0001);
    EXPECT_NEAR(f.stable_point().zero_fraction, 0.5375, 0.0005);
    EXPECT_EQ(f.false_negative_rate(0), 0);
}

TEST(stable_bloom_keyed, takes_keys) {
    auto seen = keyed<atomic_stable_bloom>::create({.keys = 1000, .false_positive_rate = 0.01});
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_FALSE(seen->test_and_add("alice"));
    EXPECT_TRUE(seen->test_and_add("alice"));
    EXPECT_FALSE(seen->may_contain("bob"));
    EXPECT_EQ(seen->filter().adds(), 2u);
}

} // namespace
} // namespace bouncer::test
