// Exact on its universe, whatever the sides; its size against the bound; files; words that lie.
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/any_filter.h>
#include <bouncer/cascade.h>
#include <bouncer/keyed.h>
#include <bouncer/snapshot.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bouncer::test {
namespace {

using hashes_span = std::span<const std::uint64_t>;

void expect_exact(const auto& f, hashes_span listed, hashes_span others) {
    for (const std::uint64_t hash : listed) ASSERT_TRUE(f.may_contain(hash));
    for (const std::uint64_t hash : others) ASSERT_FALSE(f.may_contain(hash));
    answers got(std::max(listed.size(), others.size()));
    EXPECT_EQ(f.may_contain(listed, got.span().first(listed.size())), listed.size());
    for (std::size_t i = 0; i < listed.size(); ++i) ASSERT_TRUE(got[i]);
    EXPECT_EQ(f.may_contain(others, got.span().first(others.size())), 0u);
    for (std::size_t i = 0; i < others.size(); ++i) ASSERT_FALSE(got[i]);
}

TEST(cascade, is_exact_whatever_the_sides) {
    for (const std::size_t listed : {0u, 1u, 2u, 100u, 3'000u, 50'000u})
        for (const std::size_t others : {0u, 1u, 100u, 3'000u, 50'000u}) {
            SCOPED_TRACE(std::to_string(listed) + " of " + std::to_string(listed + others));
            const auto in = random_hashes(listed, 1);
            const auto out = random_hashes(others, 2);
            const auto f = cascade::build(hashes_span(in), out).value();
            EXPECT_EQ(f.keys(), listed);
            EXPECT_EQ(f.params().others, others);
            EXPECT_EQ(f.expected_fpr(), 0.0);
            expect_exact(f, in, out);
        }
}

// Ten million certificates of which one in a hundred is revoked.
TEST(cascade, of_ten_million_keys_is_exact_and_small) {
    const std::size_t universe = static_cast<std::size_t>(scaled(10'000'000));
    const std::size_t revoked = universe / 100;
    const auto listed = random_hashes(revoked, 1);
    const auto others = random_hashes(universe - revoked, 2);
    const auto f = cascade::build(hashes_span(listed), others).value();
    expect_exact(f, listed, others);
    const double bound = math::exact_set_bits(revoked, universe - revoked) / static_cast<double>(revoked);
    RecordProperty("bits_per_listed_key", std::to_string(f.bits_per_key()));
    RecordProperty("lower_bound", std::to_string(bound));
    EXPECT_GE(f.bits_per_key(), bound);
    if (revoked >= 100'000) {
        EXPECT_NEAR(bound, 8.08, 0.01);
        EXPECT_LE(f.bits_per_key(), 1.27 * bound);
    }
}

TEST(cascade, of_a_universe_that_is_nearly_all_listed_holds_the_others) {
    const auto listed = random_hashes(99'000, 1);
    const auto others = random_hashes(1'000, 2);
    const auto f = cascade::build(hashes_span(listed), others).value();
    expect_exact(f, listed, others);
    EXPECT_LE(static_cast<double>(f.size_bytes()) * 8, 4 * math::exact_set_bits(99'000, 1'000));
    const auto all = cascade::build(hashes_span(listed), hashes_span()).value();
    EXPECT_EQ(all.size_bytes(), 64u);
    expect_exact(all, listed, {});
}

TEST(cascade, is_the_same_for_every_order_repetition_and_number_of_threads) {
    auto listed = random_hashes(5'000, 1);
    auto others = random_hashes(80'000, 2);
    const auto f = cascade::build(hashes_span(listed), others, {.threads = 1}).value();
    std::reverse(listed.begin(), listed.end());
    others.insert(others.end(), others.begin(), others.begin() + 100);
    EXPECT_TRUE(f == cascade::build(hashes_span(listed), others, {.threads = 3}).value());
    EXPECT_FALSE(f == cascade::build(hashes_span(listed), others, {.seed = 9}).value());
}

TEST(cascade, refuses_a_key_on_both_sides) {
    const auto listed = random_hashes(100, 1);
    auto others = random_hashes(100, 2);
    others.push_back(listed[17]);
    EXPECT_TRUE(fails_with(cascade::build(hashes_span(listed), others), error_code::invalid_argument,
                           "both lists", "100", "101"));
}

// The cap that the refusal of a smaller one names.
std::uint64_t cap_named(const std::string& said) {
    const std::string before = "a cap of ", after = " bytes would do";
    const auto at = said.find(before);
    if (at == std::string::npos || said.find(after, at) == std::string::npos) return 0;
    return std::stoull(said.substr(at + before.size()));
}

TEST(cascade, refuses_a_memory_cap_and_names_one_that_would_do) {
    const scratch_folder folder;
    const auto capped = [&](std::size_t listed, std::size_t others, std::uint64_t cap) {
        const auto in = random_hashes(listed, 1);
        return cascade::build(hashes_span(in), random_hashes(others, 2),
                              {.memory_cap_bytes = cap, .temporary_folder = folder.path()});
    };
    struct sides {
        std::size_t listed, others;
    };
    for (const auto [listed, others] :
         {sides{1, 1}, {100, 300}, {5'000, 200'000}, {200'000, 5'000}, {300'000, 400'000}, {0, 50'000}}) {
        SCOPED_TRACE(std::to_string(listed) + " of " + std::to_string(listed + others));
        std::uint64_t cap = 1'000;
        std::uint64_t named = 0;
        // Whichever part of it finds the cap too small, its lists or a level: the same sentence.
        for (; cap < std::uint64_t{1} << 30; cap += cap / 2) {
            const auto made = capped(listed, others, cap);
            if (made) break;
            ASSERT_TRUE(fails_with(made, error_code::too_large, std::to_string(cap), "both lists"));
            if (named == 0) named = cap_named(made.error().message);
            ASSERT_EQ(cap_named(made.error().message), named) << made.error().message;
            ASSERT_GT(named, cap) << made.error().message;
        }
        ASSERT_GT(named, 0u);
        EXPECT_LE(cap, 2 * named); // and no far larger one than it needs
        const auto made = capped(listed, others, named);
        EXPECT_TRUE(made.has_value()) << made.error().message;
    }
}

TEST(cascade, ends_when_progress_says_stop) {
    const auto listed = random_hashes(5'000, 1);
    EXPECT_TRUE(fails_with(cascade::build(hashes_span(listed), random_hashes(50'000, 2),
                                          {.progress = [](const build_progress&) { return false; }}),
                           error_code::cancelled));
}

TEST(cascade, goes_through_files) {
    const scratch_folder folder;
    const std::string path = folder / "revoked.bnc";
    std::vector<std::string> revoked, good;
    for (int i = 0; i < 20'000; ++i) (i % 50 == 0 ? revoked : good).push_back("serial " + std::to_string(i));
    const auto f = keyed<cascade>::build(revoked, good).value();
    save(f, path, {.durable = false}).value();
    const auto mapped = map<keyed<cascade_view>>(path).value();
    for (const std::string& each : revoked) ASSERT_TRUE(mapped.may_contain(each));
    for (const std::string& each : good) ASSERT_FALSE(mapped.may_contain(each));
    EXPECT_TRUE(load<cascade>(path).value() == f.filter());
    auto any = open(path).value();
    EXPECT_EQ(any.kind_name(), "cascade");
    EXPECT_TRUE(fails_with(any.add(1), error_code::unsupported, "cascade", "build"));
    EXPECT_EQ(any.expected_fpr().value(), 0.0);
}

TEST(cascade, words_that_lead_astray_are_refused) {
    const auto listed = random_hashes(30'000, 1);
    auto f = cascade::build(hashes_span(listed), random_hashes(200'000, 2)).value();
    ASSERT_GT(f.params().levels, 3u);
    const auto words = detail::storage_access::segments(f).front();
    std::size_t refused = 0, tried = 0;
    for (std::uint64_t i = 0; i < f.params().levels * 8; ++i)
        for (unsigned bit = 0; bit < 64; ++bit) {
            words[i] ^= std::uint64_t{1} << bit;
            ++tried;
            if (detail::storage_access::check_loaded(f))
                for (const std::uint64_t hash : random_hashes(20, bit)) (void)f.may_contain(hash); // no crash
            else
                ++refused;
            words[i] ^= std::uint64_t{1} << bit;
        }
    EXPECT_GT(refused, tried / 4);
    ASSERT_TRUE(detail::storage_access::check_loaded(f).has_value());
}

} // namespace
} // namespace bouncer::test
