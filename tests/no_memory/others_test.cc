// The same for what stands beside the kinds: any_filter, wrappers, hashers, regions, the planner.
#include "no_memory/refusals.h"
#include "support/random_hashes.h"
#include "support/scratch_folder.h"

#include <bouncer/any_filter.h>
#include <bouncer/any_hasher.h>
#include <bouncer/binary_fuse.h>
#include <bouncer/blocked_bloom.h>
#include <bouncer/cascade.h>
#include <bouncer/counted.h>
#include <bouncer/keyed.h>
#include <bouncer/locked.h>
#include <bouncer/planner.h>
#include <bouncer/region.h>
#include <bouncer/sharded.h>
#include <bouncer/window_schedule.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

constexpr goal few{.keys = 500, .false_positive_rate = 0.01};

class no_memory_for_any : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, no_memory_for_any, atomic_subjects_that([](const facts&) { return true; }),
                         subject_names);

TEST_P(no_memory_for_any, filter) {
    const scratch_folder folder;
    const std::string path = folder / "filter";
    const auto hashes = random_hashes(400, 1);
    const auto made = [&] {
        return k.is.incremental ? any_filter::create(k.is.name, few, {.memory = refusing_memory()})
                                : any_filter::build(hashes, few, {.threads = 1}, k.is.name);
    };
    const auto could = made();
    walk(
        made, [] {}, could ? std::nullopt : std::optional(could.error().code));
    if (!could) return; // needs two lists
    any_filter filter = made().value();
    if (filter.writable()) filter.add_batch(hashes).value();
    EXPECT_GT(walk([&] { return save(filter, path); }), 0u);
    EXPECT_GT(walk([&] { return open(path, access::load, refusing_memory()); }), 0u);
    EXPECT_GT(walk([&] { return open(path, access::map); }), 0u);

    // What it returns with memory, it returns without, or out_of_memory.
    const auto asked = [](auto call) {
        const auto got = call();
        walk(
            call, [] {}, got ? std::nullopt : std::optional(got.error().code));
    };
    asked([&] { return filter.fill_ratio(); });
    asked([&] { return filter.approximate_size(); });
    asked([&] { return filter.expected_fpr(); });
    asked([&] { return filter.capacity(0.01); });
    asked([&] { return filter.capacity(2); });
    asked([&] { return filter.count(hashes[0]); });
    asked([&] { return filter.fold(2, refusing_memory()); });
    asked([&] { return filter.fold(0); });
    asked([&] { return filter.add(hashes[0]); });
    asked([&] { return filter.add_batch(hashes); });
    asked([&] { return filter.test_and_add(hashes[0]); });
    asked([&] { return filter.add_all(hashes, 2); });
    asked([&] { return filter.try_remove(~hashes[0]); });
    asked([&] { return filter.rotate_to(1); });
    const any_filter other = open(path).value();
    asked([&] { return filter.merge(other); });
    if (!k.is.deletable) asked([&] { return filter.remove(hashes[0]); });
    asked([&] { return filter.clear(); });
    const any_filter unlike =
        any_filter::create("bloom", {.keys = 1'000, .false_positive_rate = 1e-6}).value();
    asked([&] { return filter.merge(unlike); });
}

TEST(no_memory_beside, any_filter_by_name) {
    walk([] { return any_filter::create("a kind that nobody has heard of", few); }, [] {},
         error_code::invalid_argument);
    const std::string missing = "/no/such/folder/and/no/such/file.bnc";
    walk([&] { return open(missing); }, [] {}, error_code::io);
}

TEST(no_memory_beside, wrappers) {
    const filter_options options{.memory = refusing_memory()};
    EXPECT_GT(walk([&] { return keyed<plain_blocked_bloom>::create(few, {}, refusing_memory()); }), 0u);
    EXPECT_GT(walk([&] { return counted<plain_blocked_bloom>::create(few, options); }), 0u);
    EXPECT_GT(walk([&] { return locked<plain_blocked_bloom>::create(few, options); }), 0u);
    EXPECT_GT(walk([&] { return sharded<plain_blocked_bloom>::create(few, options, 4); }), 0u);
    walk([&] { return sharded<plain_blocked_bloom>::create(few, options, 3); }, [] {},
         error_code::invalid_argument);
    auto keys = keyed<plain_blocked_bloom>::create(few).value();
    const std::vector<std::string> names{"ada", "a name that is longer than any small string"};
    EXPECT_GT(walk([&] { return keys.add_all(names); }), 0u);
    const build_options build{.memory = refusing_memory(),
                              .threads = 1,
                              .temporary_folder = "/tmp/a folder that is longer than any small string"};
    EXPECT_GT(walk([&] { return keyed<binary_fuse>::build(names, few, {}, build); }), 0u);
    const std::vector<std::string> strangers{"someone whose name is not in the list", "eve"};
    EXPECT_GT(walk([&] { return keyed<cascade>::build(names, strangers, {}, build); }), 0u);
    walk([&] { return keyed<blocked_bloom_view, xxh64>::wrap(keys.filter().view()); }, [] {},
         error_code::mismatch);

    auto a = locked<plain_blocked_bloom>::create(few).value();
    auto b = locked<plain_blocked_bloom>::create({.keys = 5'000, .false_positive_rate = 0.1}).value();
    walk([&] { return a.merge(b); }, [] {}, error_code::mismatch);
    auto c = sharded<plain_blocked_bloom>::create(few, {}, 4).value();
    auto d = sharded<plain_blocked_bloom>::create(few, {}, 8).value();
    walk([&] { return c.merge(d); }, [] {}, error_code::mismatch);
    walk([] { return window_schedule::make(std::chrono::nanoseconds(0), 3); }, [] {},
         error_code::invalid_argument);
}

TEST(no_memory_beside, hashers) {
    walk([] { return any_hasher::make("xxh3", 7); });
    walk([] { return any_hasher::make("a hash that nobody has heard of", 7); }, [] {},
         error_code::invalid_argument);
    walk([] { return any_hasher::make("siphash13", 0); }, [] {}, error_code::invalid_argument);
    walk([] { return any_hasher::make(hash_spec{}); }, [] {}, error_code::unsupported);
    walk([] { return secret_key::from_hex("not hexadecimal at all, nor 32 digits"); }, [] {},
         error_code::invalid_argument);
    walk([] { return secret_key::random(); });
}

TEST(no_memory_beside, regions) {
    EXPECT_GT(walk([] { return region::allocate(4096, refusing_memory()); }), 0u);
    walk([] { return region::allocate(4096); });
    walk([] { return region::allocate(0); }, [] {}, error_code::invalid_argument);
    walk([] { return region::allocate(~std::uint64_t{0}); }, [] {}, error_code::too_large);
    const std::string missing = "/no/such/folder/and/no/such/file.bnc";
    walk([&] { return region::map_file(missing, file_access::read_only); }, [] {}, error_code::io);
}

TEST(no_memory_beside, the_planner) {
    using namespace planner;
    const wishes wanted{.keys = 1'000, .rate = 0.01};
    // A lack of memory is no reason against a kind.
    const auto suited = [](const std::vector<candidate>& all) {
        return std::count_if(all.begin(), all.end(),
                             [](const candidate& one) { return one.why_not.empty(); });
    };
    for (const wishes& each : {wanted, wishes{.rate = 0.01, .size_bytes = 400}}) {
        const auto expected = suited(rank(each).value());
        EXPECT_GT(walk([&]() -> result<void> {
                      const auto got = rank(each);
                      if (!got) return got.error();
                      if (suited(*got) != expected) return failure{error_code::corrupt, "fewer kinds"};
                      return {};
                  }),
                  0u);
    }
    walk([] { return rank({}); }, [] {}, error_code::invalid_argument);
    EXPECT_GT(walk([] { return design("blocked_bloom", few); }), 0u);
    walk([] { return design("a kind that nobody has heard of", few); }, [] {}, error_code::invalid_argument);
    walk([] { return plan_capacity(1'000, {.per_year = 0.3, .years = 2}); });
    walk([] { return plan_capacity(1'000, {.per_year = -2}); }, [] {}, error_code::invalid_argument);
    walk([] { return plan_latency({}); }, [] {}, error_code::invalid_argument);
    walk([] { return plan_traffic(-1, 0, 0); }, [] {}, error_code::invalid_argument);
    EXPECT_GT(walk([] { return measure("blocked_bloom", few, 100); }), 0u);
    EXPECT_GT(walk([] { return measure("binary_fuse", few, 100); }), 0u);
}

TEST(no_memory_beside, the_planner_of_trees) {
    using namespace planner;
    for (const lsm_tree& tree :
         {lsm_tree{.levels = 2, .ratio = 10, .keys = 50'000'000, .size_bytes = 20'000'000},
          lsm_tree{.levels = 1, .ratio = 10, .keys = 50'000'000, .reads = 0.1}}) {
        const double expected = plan_lsm(tree)->reads;
        EXPECT_GT(walk([&]() -> result<void> {
                      const auto got = plan_lsm(tree);
                      if (!got) return got.error();
                      if (got->reads != expected) return failure{error_code::corrupt, "another tree"};
                      return {};
                  }),
                  0u);
    }
    walk([] { return plan_lsm({}); }, [] {}, error_code::invalid_argument);
    walk([] { return plan_traffic(-1, 0, lsm_split{}); }, [] {}, error_code::invalid_argument);
}

} // namespace
} // namespace bouncer::test
