// Wishes in, kinds out: every combination that is enough, every one that is not, and designs that keep what they say when
// they are built.
#include <bouncer/all_filters.h>
#include <bouncer/math.h>
#include <bouncer/planner.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace bouncer::planner {
namespace {

const candidate& find(const std::vector<candidate>& all, std::string_view kind) {
    return *std::find_if(all.begin(), all.end(), [&](const candidate& one) { return one.kind == kind; });
}

std::string error_of(const wishes& wanted) {
    const auto made = rank(wanted);
    return made ? "no error" : made.error().message;
}

testing::AssertionResult contains(const std::string& text, const std::string& part) {
    if (text.find(part) != text.npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "\"" << text << "\" has no \"" << part << "\"";
}

TEST(planner_rank, names_every_kind_once) {
    const auto made = rank({.keys = 1'000'000, .rate = 0.01});
    ASSERT_TRUE(made);
    std::set<std::string_view> names;
    for (const candidate& one : *made) names.insert(one.kind);
    EXPECT_EQ(names.size(), all_kinds.size());
    EXPECT_EQ(made->size(), all_kinds.size());
}

TEST(planner_rank, suited_first_and_by_cost) {
    for (const auto wanted : {prefer::reads, prefer::adds, prefer::space}) {
        const auto made = rank({.keys = 10'000'000, .rate = 0.001, .prefer = wanted});
        ASSERT_TRUE(made);
        for (std::size_t i = 1; i < made->size(); ++i) {
            const candidate& before = (*made)[i - 1];
            const candidate& after = (*made)[i];
            EXPECT_TRUE(before.why_not.empty() || !after.why_not.empty());
            if (after.why_not.empty()) {
                EXPECT_LE(before.cost, 1.02 * after.cost) << after.kind;
            }
        }
    }
}

TEST(planner_rank, recommends_what_the_documentation_does) {
    EXPECT_EQ(rank({.keys = 10'000'000, .rate = 0.01})->front().kind, "blocked_bloom");
    EXPECT_EQ(rank({.keys = 1'000'000, .rate = 0.0001})->front().kind, "blocked_bloom");
    EXPECT_EQ(rank({.keys = 10'000'000, .rate = 0.01, .prefer = prefer::space})->front().kind, "bloom");
    EXPECT_EQ(rank({.keys = 10'000'000, .rate = 0.01, .prefer = prefer::space, .needs = {.fixed = true}})
                  ->front()
                  .kind,
              "ribbon");
    EXPECT_EQ(rank({.keys = 10'000'000, .rate = 0.01, .needs = {.remove = true}})->front().kind,
              "counting_bloom");
    EXPECT_EQ(rank({.keys = 10'000'000, .rate = 0.01, .needs = {.grow = true}})->front().kind,
              "scalable_bloom");
    EXPECT_EQ(rank({.keys = 10'000'000, .rate = 0.01, .needs = {.forget = true}})->front().kind,
              "windowed_bloom");
}

TEST(planner_rank, abilities_come_from_the_kinds) {
    for (const auto& each : all_abilities()) {
        EXPECT_EQ(each.can.fixed, !each.can.add) << each.kind;
        EXPECT_EQ(each.can.remove, each.kind == "counting_bloom") << each.kind;
        EXPECT_EQ(each.can.grow, each.kind == "scalable_bloom") << each.kind;
        EXPECT_EQ(each.can.forget, each.kind == "stable_bloom" || each.kind == "windowed_bloom") << each.kind;
    }
}

// ---- what is solved for --------------------------------------------------------------------------------------------

TEST(planner_rank, keys_and_rate_give_the_size) {
    const auto made = rank({.keys = 1'000'000, .rate = 0.01});
    ASSERT_TRUE(made);
    for (const candidate& one : *made) {
        if (!one.why_not.empty()) continue;
        EXPECT_LE(one.rate, one.can.foreign ? 0.0105 : 0.01) << one.kind;
    }
    EXPECT_NEAR(find(*made, "blocked_bloom").bits_per_key, 10.10, 0.01);
    EXPECT_NEAR(find(*made, "bloom").bits_per_key, 9.59, 0.01);
    EXPECT_EQ(find(*made, "blocked_bloom").size_bytes,
              plain_blocked_bloom::create({.keys = 1'000'000, .false_positive_rate = 0.01})->size_bytes());
}

TEST(planner_rank, keys_and_memory_give_the_rate) {
    const auto made = rank({.keys = 1'000'000, .size_bytes = 1'500'000});
    ASSERT_TRUE(made);
    for (const candidate& one : *made) {
        if (!one.why_not.empty()) continue;
        EXPECT_LE(one.size_bytes, 1'500'000u) << one.kind;
    }
    const auto real = plain_blocked_bloom::create({.keys = 1'000'000, .size_bytes = 1'500'000});
    EXPECT_DOUBLE_EQ(find(*made, "blocked_bloom").rate, real->fpr_at(1'000'000));
}

TEST(planner_rank, rate_and_memory_give_the_keys) {
    constexpr std::uint64_t size = 1'000'000;
    const auto made = rank({.rate = 0.01, .size_bytes = size});
    ASSERT_TRUE(made);
    for (const candidate& one : *made) {
        if (!one.why_not.empty()) continue;
        EXPECT_LE(one.size_bytes, size) << one.kind;
        // A little more does not fit; chains and fingerprints grow in steps, but these are monotone too.
        const auto more = design(one.kind, {.keys = one.keys + one.keys / 400, .false_positive_rate = 0.01});
        EXPECT_TRUE(!more || more->size_bytes > size) << one.kind << " " << one.keys;
    }
}

TEST(planner_rank, bits_per_key_stand_for_a_size_or_for_keys) {
    const auto by_keys = rank({.keys = 1'000'000, .bits_per_key = 12});
    const auto by_size = rank({.size_bytes = 1'500'000, .bits_per_key = 12});
    ASSERT_TRUE(by_keys && by_size);
    EXPECT_EQ(by_keys->front().size_bytes, by_size->front().size_bytes);
    EXPECT_EQ(by_size->front().keys, 1'000'000u);
    EXPECT_TRUE(rank({.keys = 1'000'000, .size_bytes = 1'500'000, .bits_per_key = 12}));
}

TEST(planner_rank, k_is_kept) {
    for (const std::uint32_t k : {3u, 7u, 8u, 12u}) {
        const auto made = rank({.keys = 100'000, .rate = 0.02, .k = k});
        ASSERT_TRUE(made) << k;
        const candidate& flat = find(*made, "bloom");
        EXPECT_TRUE(contains(flat.parameters, "k " + std::to_string(k)));
        EXPECT_LE(flat.rate, 0.02);
        // The least: against the exact search of the math layer.
        const auto least = math::smallest({.sector_bits = 64, .bits_per_group = k}, math::growth::sector_bits,
                                          64, 100'000, 0.02, std::uint64_t{1} << 40);
        ASSERT_TRUE(least);
        EXPECT_EQ(8 * flat.size_bytes, least->total_bits()) << k;
    }
    // blocked_bloom takes a form that has such a k; for adds the one with the fewest words, where it can.
    const auto form_with = [](std::uint32_t k, enum prefer favoured) {
        const auto made = rank({.keys = 100'000, .rate = 0.02, .k = k, .prefer = favoured});
        return made ? find(*made, "blocked_bloom").parameters : "";
    };
    for (const auto& [k, form] : {std::pair(6u, "sectors2"), std::pair(8u, "lanes8"),
                                  std::pair(12u, "sectors4"), std::pair(16u, "lanes16")}) {
        EXPECT_TRUE(contains(form_with(k, prefer::reads), form)) << k;
        EXPECT_TRUE(contains(form_with(k, prefer::adds), "sectors2")) << k;
    }
    // Alone with the keys it is best at k / ln 2 bits per key.
    const auto alone = rank({.keys = 1'000'000, .k = 7});
    ASSERT_TRUE(alone);
    EXPECT_NEAR(find(*alone, "bloom").rate, std::pow(0.5, 7), 1e-4);
}

TEST(planner_rank, a_chain_begins_with_the_keys_of_today) {
    const auto small =
        rank({.keys = 4'000'000, .rate = 0.01, .needs = {.grow = true}, .keys_today = 1'000'000});
    ASSERT_TRUE(small);
    EXPECT_GT(small->front().layers, 1u);
    EXPECT_LE(small->front().rate, 0.01);
}

// ---- what makes no sense -------------------------------------------------------------------------------------------

TEST(planner_rank, refuses_nonsense_with_the_number) {
    EXPECT_TRUE(contains(error_of({.keys = 0, .rate = 0.01}), "keys must be at least 1"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .rate = 0.0}), "between 0 and 1, and is 0"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .rate = 1.0}), "between 0 and 1, and is 1"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .rate = -0.5}), "and is -0.5"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .rate = std::nan("")}), "between 0 and 1"));
    EXPECT_TRUE(contains(error_of({.keys = ~std::uint64_t{0}, .rate = 0.01}), "at most 2^48"));
    EXPECT_TRUE(contains(error_of({.keys = 1'000'000'000, .rate = 1e-12}), "collisions alone"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .size_bytes = 3}), "64 bytes, and is 3"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .bits_per_key = -1.0}), "and is -1"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .rate = 0.01, .k = 65}), "k must be 1 to 64, and is 65"));
}

TEST(planner_rank, says_what_is_missing) {
    EXPECT_TRUE(contains(error_of({}), "nothing is given"));
    EXPECT_TRUE(contains(error_of({.keys = 1000}), "the keys alone are not enough"));
    EXPECT_TRUE(contains(error_of({.rate = 0.01}), "the rate alone is not enough"));
    EXPECT_TRUE(contains(error_of({.size_bytes = 1000}), "the memory alone is not enough"));
    EXPECT_TRUE(contains(error_of({.rate = 0.01, .bits_per_key = 10}), "give the keys or the memory"));
}

TEST(planner_rank, says_what_contradicts) {
    EXPECT_TRUE(contains(error_of({.keys = 1'000'000, .size_bytes = 1'000'000, .bits_per_key = 12}),
                         "8 bits per key, not 12"));
    const std::string small = error_of({.keys = 1'000'000, .rate = 0.0001, .size_bytes = 1'000'000});
    EXPECT_TRUE(contains(small, "do not fit into 1000000 bytes"));
    EXPECT_TRUE(contains(small, "no filter can do with less than 1660965"));
    EXPECT_TRUE(contains(error_of({.keys = 1000, .rate = 0.01, .needs = {.remove = true, .grow = true}}),
                         "no kind serves these wishes"));
}

// ---- the exact set -------------------------------------------------------------------------------------------------

TEST(planner_exact_set, is_better_for_few_keys) {
    EXPECT_TRUE(exact_set_for(10'000, 12'000).better);
    EXPECT_TRUE(exact_set_for(65'536, 80'000).better);
    EXPECT_FALSE(exact_set_for(65'537, 80'000).better);
    EXPECT_TRUE(exact_set_for(100'000, 790'000).better); // a filter of 63 bits per key
    EXPECT_FALSE(exact_set_for(100'000'000, 120'000'000).better);
}

} // namespace
} // namespace bouncer::planner
