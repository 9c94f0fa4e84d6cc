// Whichever allocation fails inside a call, the call returns out_of_memory: nothing is thrown through, nothing ends the
// process, and the same call works afterwards.
#include "support/operator_new.h"
#include "support/statistics.h"

#include <bouncer/bouncer.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
constinit thread_local std::size_t allocations_left = never; // until one fails, and all after it
constinit thread_local bool one_failed = false;

} // namespace

bool bouncer::test::may_allocate(std::size_t) noexcept {
    if (allocations_left == never) return true;
    if (allocations_left == 0) {
        one_failed = true;
        return false;
    }
    --allocations_left;
    return true;
}

namespace {

class c_api_allocation_failure : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "bouncer_XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string path(const char* name) const { return (folder_ / name).string(); }

    // An empty one; options as at hand.
    static bouncer_filter* made() {
        bouncer_options options = BOUNCER_OPTIONS_INIT;
        options.keys = 1000;
        options.false_positive_rate = 0.01;
        bouncer_filter* filter = nullptr;
        EXPECT_EQ(bouncer_create("blocked_bloom", &options, &filter), BOUNCER_OK);
        return filter;
    }

    // Lets the first allocation fail, then the second, … until the call needs no more of them. Returns how many failed.
    static std::size_t fail_each(const std::function<int()>& call) {
        // Under a checker, which unwinds slowly, the first 64 and then ever fewer: the late ones are alike.
        for (std::size_t n = 0; n < 10'000; n += bouncer::test::whole_sizes ? 1 : 1 + n / 64) {
            one_failed = false;
            allocations_left = n;
            const int code = call();
            allocations_left = never;
            if (code == BOUNCER_OK) {
                if (!one_failed) return n;
                continue; // the call could do without it
            }
            EXPECT_EQ(code, BOUNCER_OUT_OF_MEMORY) << bouncer_last_error() << " at allocation " << n;
            if (code != BOUNCER_OUT_OF_MEMORY) return n;
        }
        ADD_FAILURE() << "it does not end";
        return 0;
    }

    std::filesystem::path folder_;
};

TEST_F(c_api_allocation_failure, create_and_fold) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    options.keys = 1000;
    options.false_positive_rate = 0.01;
    for (std::size_t i = 0; i < bouncer_kind_count(); ++i) {
        bouncer_filter* filter = nullptr;
        if (bouncer_create(bouncer_kind_name(i), &options, &filter) == BOUNCER_UNSUPPORTED)
            continue; // static
        bouncer_destroy(std::exchange(filter, nullptr));
        EXPECT_GT(fail_each([&] {
                      bouncer_destroy(std::exchange(filter, nullptr));
                      return bouncer_create(bouncer_kind_name(i), &options, &filter);
                  }),
                  0u);
        bouncer_filter* folded = nullptr;
        if (bouncer_fold(filter, 1, &folded) != BOUNCER_UNSUPPORTED) {
            EXPECT_GT(fail_each([&] {
                          bouncer_destroy(std::exchange(folded, nullptr));
                          return bouncer_fold(filter, 1, &folded);
                      }),
                      0u);
        }
        bouncer_destroy(filter);
        bouncer_destroy(folded);
    }
}

TEST_F(c_api_allocation_failure, build) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    options.false_positive_rate = 0.01;
    std::vector<std::uint64_t> hashes(2'000);
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = i * i;
    for (const char* kind : {"xor_filter", "binary_fuse", "ribbon"}) {
        bouncer_filter* filter = nullptr;
        EXPECT_GT(fail_each([&] {
                      bouncer_destroy(std::exchange(filter, nullptr));
                      return bouncer_build_hashes(kind, &options, hashes.data(), hashes.size(), &filter);
                  }),
                  0u)
            << kind;
        bouncer_destroy(filter);
    }
}

TEST_F(c_api_allocation_failure, save_leaves_nothing) {
    bouncer_filter* const filter = made();
    for (const std::uint32_t flags : {0u, static_cast<std::uint32_t>(BOUNCER_SAVE_COMPRESSED)}) {
        const std::string target = path("saved.bnc");
        if (bouncer_save(filter, target.c_str(), "label", flags) == BOUNCER_UNSUPPORTED) continue;
        EXPECT_GT(fail_each([&] { return bouncer_save(filter, target.c_str(), "label", flags); }), 0u);
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            EXPECT_EQ(entry.path().string(), target);
    }
    bouncer_destroy(filter);
}

TEST_F(c_api_allocation_failure, open_in_every_mode) {
    bouncer_filter* const filter = made();
    const std::string source = path("source.bnc");
    ASSERT_EQ(bouncer_save(filter, source.c_str(), nullptr, 0), BOUNCER_OK);
    bouncer_destroy(filter);
    for (const int mode : {BOUNCER_LOAD, BOUNCER_MAP, BOUNCER_MAP_LAZY, BOUNCER_SHARED}) {
        bouncer_filter* opened = nullptr;
        EXPECT_GT(fail_each([&] {
                      bouncer_destroy(std::exchange(opened, nullptr));
                      return bouncer_open(source.c_str(), mode, nullptr, &opened);
                  }),
                  0u);
        if (mode == BOUNCER_SHARED) {
            fail_each([&] { return bouncer_sync(opened); });
            EXPECT_GT(fail_each([&] { return bouncer_seal(opened); }), 0u);
        }
        bouncer_destroy(opened);
    }
}

TEST_F(c_api_allocation_failure, files) {
    bouncer_filter* const filter = made();
    const std::string source = path("source.bnc");
    const std::string output = path("output.bnc");
    ASSERT_EQ(bouncer_save(filter, source.c_str(), nullptr, 0), BOUNCER_OK);
    bouncer_destroy(filter);
    const std::vector<const char*> inputs(3, source.c_str());
    EXPECT_GT(fail_each([&] {
                  return bouncer_merge_files(inputs.data(), inputs.size(), output.c_str(), nullptr, 0);
              }),
              0u);
    std::uint8_t live = 0;
    EXPECT_GT(fail_each([&] { return bouncer_verify(source.c_str(), &live); }), 0u);
}

// A refusal needs memory for its sentence; without it, it is told as out_of_memory.
TEST_F(c_api_allocation_failure, refusals) {
    bouncer_filter* filter = nullptr;
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    for (std::size_t n = 0; n < 100; ++n) {
        allocations_left = n;
        const int missing = bouncer_open("/no/such/file.bnc", BOUNCER_LOAD, nullptr, &filter);
        allocations_left = n;
        const int unknown = bouncer_create("no such kind", &options, &filter);
        allocations_left = never;
        EXPECT_TRUE(missing == BOUNCER_OUT_OF_MEMORY || missing == BOUNCER_IO);
        EXPECT_TRUE(unknown == BOUNCER_OUT_OF_MEMORY || unknown == BOUNCER_INVALID_ARGUMENT);
        EXPECT_EQ(filter, nullptr);
    }
}

TEST_F(c_api_allocation_failure, merge_and_stats) {
    bouncer_filter* const filter = made();
    bouncer_filter* const other = made();
    fail_each([&] { return bouncer_merge(filter, other); });
    bouncer_stats stats = BOUNCER_STATS_INIT;
    fail_each([&] { return bouncer_get_stats(filter, &stats); });
    // Keys, hashes and their batches allocate nothing.
    const bouncer_key key = {"a key that is longer than any small string", 42};
    std::uint8_t answer = 0;
    EXPECT_EQ(fail_each([&] {
                  const int added = bouncer_add(filter, key.data, key.size);
                  if (added != BOUNCER_OK) return added;
                  return bouncer_contains_batch(filter, &key, 1, &answer);
              }),
              0u);
    bouncer_destroy(filter);
    bouncer_destroy(other);
}

} // namespace
