// What every static kind promises: every key found, the rate kept on both sides, the same words for the same set, files.
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/hash_sources.h"
#include "support/random_hashes.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <bouncer/binary_fuse.h>
#include <bouncer/keyed.h>
#include <bouncer/ribbon.h>
#include <bouncer/snapshot.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

std::size_t found_by_batch(const subject& f, std::span<const std::uint64_t> hashes) {
    answers got(hashes.size());
    return f.may_contain(hashes, got.span());
}

class built : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, built, plain_subjects_that(&facts::buildable), subject_names);

TEST_P(built, finds_every_key_of_sets_of_every_size) {
    for (const std::size_t keys :
         {1u, 2u, 3u, 5u, 10u, 63u, 64u, 65u, 255u, 256u, 257u, 1'000u, 30'000u, 300'000u}) {
        if (keys > scaled(300'000)) continue;
        const auto hashes = random_hashes(keys, keys);
        for (const auto favoured : {prefer::reads, prefer::space})
            for (const double rate : {0.9, 0.01, 1e-4, 1e-9}) {
                SCOPED_TRACE(std::to_string(keys) + " keys, rate " + std::to_string(rate));
                const auto f = k.build(hashes, {.false_positive_rate = rate, .prefer = favoured}).value();
                EXPECT_EQ(f.keys(), keys);
                EXPECT_LE(f.expected_fpr(), rate * (1 + 1e-5));
                EXPECT_EQ(found_by_batch(f, hashes), keys);
                EXPECT_TRUE(std::all_of(hashes.begin(), hashes.end(),
                                        [&](std::uint64_t hash) { return f.may_contain(hash); }));
            }
    }
}

TEST_P(built, keeps_its_rate_on_both_sides) {
    const std::uint64_t asked = divided(2'000'000);
    const auto absent = random_hashes(asked, 2);
    for (const std::size_t keys : {1u, 2u, 30u, 100u, 300u, 1'000u, 5'000u, 100'000u}) {
        if (keys > scaled(100'000) + 1'000) continue;
        const auto hashes = random_hashes(keys, keys);
        for (const auto favoured : {prefer::reads, prefer::space})
            for (const double rate : {0.75, 0.2, 1.6 / 256, 0.00390625, 0.0007}) {
                const auto f = k.build(hashes, {.false_positive_rate = rate, .prefer = favoured}).value();
                SCOPED_TRACE(f.describe());
                std::size_t single = 0;
                for (const std::uint64_t hash : absent) single += f.may_contain(hash);
                EXPECT_EQ(found_by_batch(f, absent), single);
                // Of a fraction of a bit: narrow blocks are whole ones, and which starts are bumped is chance, so that a
                // filter of few keys has a rate of its own near the promised one. Measured over 100 sets of each size: 0.3
                // / sqrt(keys) of it, and a mean that is off by -70 / keys to 8 / keys.
                double own = 0;
                if (k.number_in(f.params(), "narrow").value_or(0) != 0) own = f.expected_fpr();
                const auto n = static_cast<double>(keys);
                const double trials = static_cast<double>(asked);
                const double measured = static_cast<double>(single) / trials;
                const double error = std::sqrt(f.expected_fpr() / trials + own * own * 0.1 / n);
                const double few = 8 / trials; // where hardly a hit is expected, hits are no bell curve
                EXPECT_LE(measured, f.expected_fpr() + own * 10 / n + 5 * error + few) << keys;
                EXPECT_GE(measured, f.expected_fpr() - own * 70 / n - 5 * error) << keys;
            }
    }
}

TEST_P(built, batches_answer_as_single_queries) {
    const auto hashes = random_hashes(5'000, 3);
    const auto f = k.build(hashes, {.false_positive_rate = 0.1}).value();
    const auto asked = random_hashes(300, 4);
    for (std::size_t count = 0; count <= asked.size(); ++count) {
        answers got(count, true);
        const std::size_t found = f.may_contain(std::span(asked).first(count), got.span());
        std::size_t expected = 0;
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(got[i], f.may_contain(asked[i])) << i;
            expected += got[i];
        }
        EXPECT_EQ(found, expected);
    }
    answers few(10);
    EXPECT_LE(f.may_contain(asked, few.span()), 10u); // the shorter of the two
}

TEST_P(built, is_the_same_for_every_order_repetition_and_number_of_threads) {
    const std::size_t keys = static_cast<std::size_t>(scaled(1'500'000));
    auto hashes = random_hashes(keys, 5);
    const goal wanted{.false_positive_rate = 0.01};
    const auto f = k.build(hashes, wanted, {.threads = 1}).value();
    EXPECT_TRUE(f == k.build(hashes, wanted, {.threads = 5}).value());
    std::reverse(hashes.begin(), hashes.end());
    hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(keys / 2));
    EXPECT_TRUE(f == k.build(hashes, wanted, {.threads = 2}).value());
    EXPECT_TRUE(f == k.build(source_of(hashes), wanted).value());
    // keys of the goal decide nothing
    EXPECT_TRUE(f == k.build(hashes, {.keys = 7, .false_positive_rate = 0.01}).value());
    EXPECT_FALSE(f == k.build(hashes, wanted, {.seed = 1}).value());
}

TEST_P(built, of_a_stream_larger_than_its_memory_cap_is_the_same) {
    const std::size_t keys = static_cast<std::size_t>(scaled(2'000'000)) + 600'000;
    const auto hashes = random_hashes(keys, 6);
    const goal wanted{.false_positive_rate = 0.01};
    const auto f = k.build(hashes, wanted).value();
    const scratch_folder folder;
    build_options options{.memory_cap_bytes = spilling_cap(keys), .temporary_folder = folder.path()};
    const auto g = k.build(source_of(hashes), wanted, options);
    ASSERT_TRUE(g.has_value()) << g.error().message;
    EXPECT_TRUE(f == *g);
    EXPECT_TRUE(f == k.build(hashes, wanted, options).value());
    EXPECT_EQ(folder.entries(), 0u);
    options.temporary_folder = folder / "missing"; // it does need a file
    EXPECT_TRUE(fails_with(k.build(source_of(hashes), wanted, options), error_code::io, "missing"));
    EXPECT_TRUE(fails_with(k.build(hashes, wanted, options), error_code::io, "missing"));
    options = {.memory_cap_bytes = f.size_bytes() / 2, .temporary_folder = folder.path()};
    EXPECT_TRUE(fails_with(k.build(source_of(hashes), wanted, options), error_code::too_large, "cap"));
    EXPECT_EQ(folder.entries(), 0u);
}

TEST_P(built, edges) {
    const goal wanted{.false_positive_rate = 0.01};
    const auto none = k.build(std::span<const std::uint64_t>(), wanted).value();
    EXPECT_EQ(none.keys(), 0u);
    EXPECT_EQ(none.expected_fpr(), 0.0);
    EXPECT_EQ(found_by_batch(none, random_hashes(1'000, 1)), 0u);
    EXPECT_FALSE(none.may_contain(0));

    for (const std::uint64_t hash : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{42}}) {
        const std::vector<std::uint64_t> equal(1'000, hash);
        const auto one = k.build(equal, wanted).value();
        EXPECT_EQ(one.keys(), 1u);
        EXPECT_TRUE(one.may_contain(hash));
        EXPECT_TRUE(one == k.build(std::span(equal).first(1), wanted).value());
        EXPECT_LE(found_by_batch(one, random_hashes(1'000, 7)), 40u);
    }
    const auto extreme = extreme_hashes();
    EXPECT_EQ(found_by_batch(k.build(extreme, wanted).value(), extreme), extreme.size());
    std::vector<std::uint64_t> counting(20'000);
    for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = i;
    const auto f = k.build(counting, wanted).value();
    EXPECT_EQ(found_by_batch(f, counting), counting.size());
    std::size_t wrong = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) wrong += f.may_contain(counting.size() + i);
    EXPECT_TRUE(within_sigma(static_cast<double>(wrong), 100'000, f.expected_fpr()));
}

TEST_P(built, refuses_goals_that_make_no_sense) {
    const auto hashes = random_hashes(1'000, 1);
    EXPECT_TRUE(fails_with(k.build(hashes, {}), error_code::invalid_argument, "size_bytes"));
    for (const double rate : {0.0, 1.0, -1.0, 2.0, std::nan("")})
        EXPECT_TRUE(fails_with(k.build(hashes, {.false_positive_rate = rate}), error_code::invalid_argument,
                               "false_positive_rate"));
    EXPECT_TRUE(fails_with(k.build(hashes, {.false_positive_rate = 0.01, .prefer = prefer::adds}),
                           error_code::invalid_argument, "adds", "blocked_bloom"));
    EXPECT_TRUE(fails_with(k.build(hashes, {.false_positive_rate = 0.01, .size_bytes = 100}),
                           error_code::too_large, "100"));
    EXPECT_TRUE(fails_with(k.build(hash_source{}, {.false_positive_rate = 0.01}),
                           error_code::invalid_argument, "source"));
    EXPECT_TRUE(
        fails_with(k.solve({.keys = 0, .false_positive_rate = 0.01}), error_code::invalid_argument, "keys"));
}

TEST_P(built, within_a_size_takes_the_best_rate_that_fits) {
    const auto hashes = random_hashes(50'000, 1);
    double before = 1;
    // A set of hashes has one size only.
    const bool one_size = k.is.name == "fingerprint_set";
    for (const std::uint64_t bytes :
         one_size ? std::vector{420'000u} : std::vector{70'000u, 130'000u, 250'000u}) {
        const auto f = k.build(hashes, {.size_bytes = bytes});
        ASSERT_TRUE(f.has_value()) << f.error().message;
        EXPECT_LE(f->size_bytes(), bytes);
        EXPECT_EQ(found_by_batch(*f, hashes), hashes.size());
        EXPECT_LT(f->expected_fpr(), before);
        before = f->expected_fpr();
    }
    EXPECT_TRUE(fails_with(k.build(hashes, {.size_bytes = 64}), error_code::too_large, "64"));
}

TEST_P(built, rates_beyond_64_bit_hashes_are_refused_with_the_best) {
    const auto few = random_hashes(1'000, 1);
    // 10^-12 of 1,000 keys can be kept by 40 bits; of a billion, collisions of hashes alone are 5 x 10^-11.
    const auto solved = k.solve({.keys = 1'000'000'000, .false_positive_rate = 1e-12});
    EXPECT_TRUE(fails_with(solved, error_code::invalid_argument, "1e-12", "5.42e-11"));
    const auto f = k.build(few, {.false_positive_rate = 1e-12});
    if (f) {
        EXPECT_LE(f->expected_fpr(), 1e-12);
        EXPECT_EQ(found_by_batch(*f, few), few.size());
    } else {
        EXPECT_TRUE(fails_with(f, error_code::invalid_argument, "1e-12", "ribbon"));
    }
    EXPECT_TRUE(
        fails_with(k.build(few, {.false_positive_rate = 1e-18}), error_code::invalid_argument, "1e-18"));
}

TEST_P(built, expects_the_size_that_it_gets) {
    for (const std::uint64_t keys : {10'000u, 300'000u, 1'200'000u}) {
        const goal wanted{.keys = scaled(keys), .false_positive_rate = 0.001};
        const auto solved = k.solve(wanted).value();
        const auto f = k.build(random_hashes(static_cast<std::size_t>(wanted.keys), 9), wanted).value();
        EXPECT_NEAR(static_cast<double>(k.size_bytes_of(solved)), static_cast<double>(f.size_bytes()),
                    static_cast<double>(f.size_bytes()) * 0.01 + 600);
    }
}

// Index arithmetic beyond 2^32 keys, without their memory.
TEST_P(built, sizes_of_more_than_two_to_the_32_keys) {
    const std::uint64_t keys = (std::uint64_t{1} << 32) + 1;
    const auto solved = k.solve({.keys = keys, .false_positive_rate = 0.00390625}).value();
    EXPECT_TRUE(k.check(solved).has_value());
    EXPECT_EQ(k.number_in(solved, "keys"), keys);
    EXPECT_GT(k.size_bytes_of(solved), keys); // 8 bits a key and more
    EXPECT_LT(k.size_bytes_of(solved), k.is.name == "fingerprint_set" ? keys * 9 : keys * 10 / 8);
    EXPECT_GT(k.number_in(solved, "shards").value(), 4000u);
}

TEST_P(built, of_more_words_than_any_filter_has_is_refused) {
    EXPECT_TRUE(fails_with(k.solve({.keys = std::uint64_t{1} << 48, .false_positive_rate = 0.01}),
                           error_code::too_large, "2^44"));
}

TEST_P(built, ends_when_the_source_fails_or_progress_says_stop) {
    const scratch_folder folder;
    const auto hashes = random_hashes(600'000, 1);
    const goal wanted{.false_positive_rate = 0.01};
    for (const std::uint64_t cap : {std::uint64_t{0}, spilling_cap(hashes.size())}) {
        build_options options{.memory_cap_bytes = cap, .temporary_folder = folder.path()};
        // Fails or throws at the end of its hashes.
        const auto broken = [&](auto at_last) -> hash_source {
            return [inner = source_of(hashes), at_last](std::span<std::uint64_t> out) -> result<std::size_t> {
                auto got = inner(out);
                return *got != 0 ? got : at_last();
            };
        };
        EXPECT_TRUE(fails_with(k.build(broken([]() -> result<std::size_t> {
                                           return failure{error_code::io, "the tape is torn"};
                                       }),
                                       wanted, options),
                               error_code::io, "the tape is torn"));
        EXPECT_THROW((void)k.build(broken([]() -> result<std::size_t> { throw std::runtime_error("lost"); }),
                                   wanted, options),
                     std::runtime_error);
        // The source's own lack of memory is one like any other.
        EXPECT_TRUE(fails_with(
            k.build(broken([]() -> result<std::size_t> { throw std::bad_alloc(); }), wanted, options),
            error_code::out_of_memory));
        for (const auto stage : {build_stage::gathering, build_stage::sorting, build_stage::building}) {
            bool seen = false;
            options.progress = [&](const build_progress& now) {
                seen |= now.stage == stage;
                return now.stage != stage;
            };
            const auto made = k.build(source_of(hashes), wanted, options);
            EXPECT_TRUE(seen) << static_cast<int>(stage);
            EXPECT_TRUE(fails_with(made, error_code::cancelled, "cancelled"));
        }
        EXPECT_EQ(folder.entries(), 0u);
        if (cap == 0) continue;
        options = {.memory_cap_bytes = cap, .temporary_folder = folder / "missing"}; // all that was spilled
        EXPECT_TRUE(fails_with(k.build(source_of(hashes), wanted, options), error_code::io, "missing"));
    }
}

TEST_P(built, goes_through_files_and_streams) {
    const scratch_folder folder;
    const std::string path = folder / "set.bnc";
    for (const std::size_t keys : {0u, 1u, 100u, 20'000u}) {
        const auto hashes = random_hashes(keys, 1);
        for (const double rate : {0.3, 0.007, 1e-8}) {
            const auto f = k.build(hashes, {.false_positive_rate = rate}, {.seed = 3}).value();
            for (const bool compress : {false, true}) {
                if (auto saved = save(f, path, {.compress = compress, .durable = false}); !saved) {
                    ASSERT_EQ(saved.error().code, error_code::unsupported); // built without zstd
                    continue;
                }
                EXPECT_TRUE(k.load(path).value() == f);
                EXPECT_TRUE(k.other().load(path).value() == f);
                if (!compress) {
                    const auto mapped = k.map(path, verification::eager).value();
                    EXPECT_TRUE(mapped == f);
                    EXPECT_EQ(found_by_batch(mapped, hashes), keys);
                }
            }
            EXPECT_TRUE(f.clone(words_access::atomic) == f);
        }
    }
    EXPECT_TRUE(fails_with(merge_files({path, path}, folder / "out"), error_code::unsupported, k.is.name,
                           "build one of both sets"));
}

// keyed hashes, and the kind builds: one that peels and one that solves stand for all.
template <class F>
class built_of_keys : public ::testing::Test {};
using keyed_kinds = ::testing::Types<binary_fuse, ribbon>;
TYPED_TEST_SUITE(built_of_keys, keyed_kinds);

TYPED_TEST(built_of_keys, is_found_by_keys) {
    std::vector<std::string> names;
    for (int i = 0; i < 10'000; ++i) names.push_back("key" + std::to_string(i));
    const auto f = keyed<TypeParam>::build(names, {.false_positive_rate = 0.001}).value();
    EXPECT_EQ(f.hash(), xxh3{}.spec());
    for (const std::string& name : names) ASSERT_TRUE(f.may_contain(name));
    EXPECT_FALSE(f.may_contain("another key")); // by this hash
    const siphash13 secret(secret_key::from_hex("000102030405060708090a0b0c0d0e0f").value());
    const auto g = keyed<TypeParam, siphash13>::build(names, {.false_positive_rate = 0.001}, secret).value();
    for (const std::string& name : names) ASSERT_TRUE(g.may_contain(name));
    EXPECT_NE(g.hash(), f.hash());
}

TEST_P(built, is_asked_by_many_threads) {
    const auto hashes = random_hashes(20'000, 1);
    const auto f = k.build(hashes, {.false_positive_rate = 0.01}).value();
    std::vector<std::jthread> threads;
    std::atomic<std::size_t> found = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] { found += found_by_batch(f, hashes) + f.may_contain(hashes[0]); });
    threads.clear();
    EXPECT_EQ(found, 4 * (hashes.size() + 1));
}

} // namespace
} // namespace bouncer::test
