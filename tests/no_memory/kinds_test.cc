// Whatever allocation fails in a function of a kind, the function returns out_of_memory: nothing is thrown, and the filter
// is as it was.
#include "no_memory/refusals.h"
#include "support/hash_sources.h"
#include "support/random_hashes.h"
#include "support/scratch_folder.h"
#include "support/statistics.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/scalable.h>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace bouncer::test {
namespace {

constexpr goal small{.keys = 500, .false_positive_rate = 0.01};

// Static kinds are built, the others created and filled.
subject filled(const kind& k, const goal& wanted, std::uint64_t seed) {
    const auto hashes = random_hashes(400, seed);
    if (k.is.buildable) return k.build(hashes, wanted, {.threads = 1}).value();
    if (k.is.built_exactly)
        return k.build_exactly(hashes, random_hashes(400, seed + 1'000), {.threads = 1}).value();
    auto out = k.create(wanted).value();
    out.add_batch(hashes);
    return out;
}

class no_memory_to_make : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, no_memory_to_make, plain_subjects_that(&facts::incremental), subject_names);

TEST_P(no_memory_to_make, by_a_goal_or_parameters) {
    EXPECT_GT(walk([&] { return k.create(small, {.memory = refusing_memory()}); }), 0u);
    walk([&] { return k.solve(small); });
    const auto chosen = k.solve(small).value();
    walk([&] { return k.create(chosen, {.memory = refusing_memory()}); });
    walk([&] { return k.check(chosen); });
}

TEST_P(no_memory_to_make, refusals_need_none) {
    const auto nothing = k.no_parameters();
    walk([&] { return k.check(nothing); }, [] {}, error_code::invalid_argument);
    walk([&] { return k.create(nothing); }, [] {}, error_code::invalid_argument);
    walk([&] { return k.create(goal{}); }, [] {}, error_code::invalid_argument);
}

class no_memory_to_build : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, no_memory_to_build, plain_subjects_that([](const facts& of) {
                             return of.buildable || of.built_exactly;
                         }),
                         subject_names);

TEST_P(no_memory_to_build, in_memory_and_by_a_file) {
    const scratch_folder folder;
    for (const bool spilled : {false, true}) {
        if (spilled && k.is.built_exactly) continue; // from memory only
        // Kinds of shards need a cap for the largest of those besides; in the campaigns.
        const bool shards = k.is.name != "fingerprint_set";
        if (spilled && shards && divided(5) != 5) continue;
        const auto hashes = random_hashes(!spilled ? 3'000 : shards ? 600'000 : 200'000, 1);
        const auto others = random_hashes(3'000, 2);
        const auto expected =
            k.is.built_exactly ? k.build_exactly(hashes, others).value() : k.build(hashes, small).value();
        const std::uint64_t cap = spilled ? spilling_cap(hashes.size()) : 0;
        for (const unsigned threads : {1u, 2u}) {
            const build_options options{.memory = refusing_memory(),
                                        .threads = threads,
                                        .memory_cap_bytes = cap,
                                        .temporary_folder = folder.path()};
            std::optional<subject> made;
            const auto keep = [&](result<subject> got) -> result<void> {
                if (!got) return got.error();
                const tests_own here;
                made.emplace(std::move(*got));
                return {};
            };
            const auto same = [&] {
                if (made) {
                    EXPECT_TRUE(*made == expected);
                }
                made.reset();
            };
            SCOPED_TRACE(std::to_string(cap) + " bytes, threads: " + std::to_string(threads));
            if (k.is.built_exactly) {
                EXPECT_GT(walk([&] { return keep(k.build_exactly(hashes, others, options)); }, same), 0u);
                continue;
            }
            EXPECT_GT(walk([&] { return keep(k.build(hashes, small, options)); }, same), 0u);
            hash_source source;
            const auto from_source = [&] {
                {
                    const tests_own here;
                    source = source_of(hashes);
                }
                return keep(k.build(source, small, options));
            };
            EXPECT_GT(walk(from_source, same), 0u);
        }
    }
}

class no_memory_to_use : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, no_memory_to_use, atomic_subjects_that([](const facts&) { return true; }),
                         subject_names);

TEST_P(no_memory_to_use, copies_and_folds) {
    const auto filter = filled(k, small, 1);
    const auto view = filter.view();
    for (const auto access : {words_access::plain, words_access::atomic})
        EXPECT_GT(walk([&] { return view.held().clone(access, refusing_memory()); }), 0u);
    if (!k.is.foldable) return;
    for (std::uint64_t factor = 2; factor < 4; ++factor)
        if (filter.fold(factor)) {
            EXPECT_GT(walk([&] { return view.held().fold(factor, words_access::plain, refusing_memory()); }),
                      0u);
        }
    walk([&] { return view.held().fold(0, words_access::plain, {}); }, [] {}, error_code::invalid_argument);
}

// A union into a copy of `before`, a new one for each failure: it returns out_of_memory and leaves the copy as it was, or
// succeeds and is `united`. Returns how many allocations a union makes.
template <class F, class Copy, class Merge>
std::uint64_t walk_unions(const F& before, const F& united, Copy copied, Merge merge) {
    std::optional<F> target;
    bool merged = false;
    return walk(
        [&] {
            {
                const tests_own here;
                target.emplace(copied(before));
            }
            const auto rate = merge(*target);
            merged = rate.has_value();
            return rate;
        },
        [&] { EXPECT_TRUE(*target == (merged ? united : before)) << (merged ? "merged" : "failed"); });
}

TEST_P(no_memory_to_use, unions_and_estimates) {
    if (!k.is.mergeable) return;
    const auto filter = filled(k, small, 1);
    const auto other = filled(k, small, 2);
    const auto unlike = filled(k, {.keys = 5'000, .false_positive_rate = 0.001}, 3);
    auto both = filter.clone();
    both.merge(other).value();
    const auto copied = [](const subject& f) { return f.clone(refusing_memory()).value(); };
    walk_unions(filter, both, copied, [&](subject& target) { return target.merge(other); });
    walk_unions(filter, both, copied,
                [&](subject& target) { return target.merge_if_within(other, 0.999'999); });
    auto target = filter.clone();
    const auto unchanged = [&] { EXPECT_TRUE(target == filter); };
    walk([&] { return target.merge(unlike); }, unchanged, error_code::mismatch);
    walk([&] { return target.merge_if_within(other, 1e-30); }, unchanged, error_code::full);
    if (!k.is.bits) return;
    const auto a = filter.view();
    const auto b = unlike.view();
    walk([&] { return a.held().union_size(b.held()); }, [] {}, error_code::mismatch);
    walk([&] { return a.held().intersection_size(b.held()); }, [] {}, error_code::mismatch);
    walk([&] { return a.held().sampled_union_size(b.held(), 64, 1); }, [] {}, error_code::mismatch);
    walk([&] { return a.held().sampled_intersection_size(b.held(), 64, 1); }, [] {}, error_code::mismatch);
}

// What adds, asks and reports without a result: it has memory for none of that, and needs none.
TEST_P(no_memory_to_use, keys_and_reports) {
    const auto hashes = random_hashes(20'000, 1);
    auto filter = filled(k, small, 1);
    answers answered(hashes.size());
    const bool done = without_memory([&] {
        filter.may_contain(hashes[0]);
        filter.may_contain(hashes, answered.span());
        filter.expected_fpr();
        if (k.is.self_estimating) filter.fill_ratio();
        if (k.is.sized) filter.approximate_size();
        if (!k.is.incremental) return true;
        filter.add(hashes[0]);
        filter.add_batch(hashes);
        filter.test_and_add(hashes[1]);
        filter.test_and_add(hashes, answered.span());
        if (k.is.bulk) filter.add_all(hashes, 2);
        if (k.is.uncounted) filter.add_uncounted(hashes);
        return true;
    });
    EXPECT_TRUE(done);
    if (k.is.incremental && k.is.exact) {
        EXPECT_EQ(filter.may_contain(hashes, answered.span()), hashes.size());
    }
}

TEST_P(no_memory_to_use, windows_that_rotate) {
    if (!k.is.rotating) return;
    auto filter = filled(k, small, 1);
    walk([&] { return filter.rotate_to(1); });
    walk([&] { return filter.rotate_to(0); }, [] {}, error_code::invalid_argument);
}

// A filter so large that add_all sorts its hashes first: without that memory it does not.
TEST(no_memory_for_many, adds_go_without_slices) {
    const auto hashes = random_hashes(1'000'000, 1);
    auto filter = plain_blocked_bloom::create(blocked_bloom_parameters{.blocks = 1 << 19}).value();
    auto expected = filter.clone().value();
    expected.add_batch(hashes);
    std::uint64_t allocations = 0;
    for (bool failed = true; failed; ++allocations) {
        filter.clear();
        refuse_from(allocations, refused::one);
        EXPECT_NO_THROW(filter.add_all(hashes, 2));
        failed = refuse_nothing();
        ASSERT_TRUE(filter == expected) << allocations;
    }
    EXPECT_GT(allocations, 4u);
}

// A chain grows inside its adds, which return no reason: without memory they go on into the newest layer.
TEST(no_memory_for_many, chains_that_cannot_grow) {
    const auto hashes = random_hashes(300, 1);
    auto chain = atomic_scalable_bloom::create({.keys = 100, .false_positive_rate = 0.01}).value();
    without_memory([&] { return chain.add_batch(hashes); });
    EXPECT_EQ(chain.layer_count(), 1u);
    EXPECT_TRUE(chain.growth_refused().has_value());
    walk([&] { return chain.prepare_growth(); });
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(chain.may_contain(hash));
    chain.add_batch(random_hashes(300, 2));
    EXPECT_GT(chain.layer_count(), 1u);
    EXPECT_GT(walk([&] { return chain.fold_newest(refusing_memory()); }), 0u);
    EXPECT_GT(walk([&] { return chain.clone(refusing_memory()); }), 0u);
    EXPECT_GT(walk([&] { return atomic_scalable_bloom::plan(chain.params(), 100'000); }), 0u);
    EXPECT_GT(walk([&] { return atomic_scalable_bloom::size_bytes_with(chain.params(), 100'000); }), 0u);
    // Copied layers: all memory comes before the first change.
    auto other = atomic_scalable_bloom::create({.keys = 100, .false_positive_rate = 0.01}).value();
    other.add_batch(random_hashes(150, 3));
    const auto before = other.clone().value();
    auto donor = atomic_scalable_bloom::create({.keys = 100, .false_positive_rate = 0.01}).value();
    donor.add_batch(random_hashes(90, 4));
    auto both = before.clone().value();
    both.merge(donor).value();
    const auto copied = [](const atomic_scalable_bloom& f) { return f.clone(refusing_memory()).value(); };
    EXPECT_GT(walk_unions(before, both, copied, [&](auto& target) { return target.merge(donor); }), 0u);
}

} // namespace
} // namespace bouncer::test
