// What a build tells while shards are built, and that it stops when it is told to, even where no thread can be started.
#include "snapshot/children.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/subject.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

// From now on no thread starts. For a forked process only.
bool deny_threads() {
    if (!deny(SYS_clone3, EAGAIN) || !deny(SYS_clone, EAGAIN)) return false;
    try {
        std::jthread([] {});
        return false;
    } catch (const std::exception&) {
        return true;
    }
}

class built_progress : public kind_test {
  protected:
    static constexpr std::uint64_t keys = 300'000; // of a binary_fuse one shard, of the others several

    // Builds with what is told of shards kept in told_, until `last` of it has been told.
    result<subject> build(unsigned threads, std::size_t last) {
        told_.clear();
        build_options options{.threads = threads};
        options.progress = [&, here = std::this_thread::get_id()](const build_progress& now) {
            if (now.stage != build_stage::building) return true;
            elsewhere_ |= std::this_thread::get_id() != here;
            told_.push_back(now);
            return told_.size() < last;
        };
        return k.build(hashes_, {.false_positive_rate = 0.01}, options);
    }
    // What is wrong with that which was told of a whole build; "" is nothing.
    std::string wrong() const {
        if (elsewhere_) return "told on another thread";
        if (told_.size() < 2) return "not told at both ends";
        if (told_.front().done != 0 || told_.back().done != keys) return "ends that are none";
        for (std::size_t i = 0; i < told_.size(); ++i) {
            if (told_[i].total != keys) return "another total";
            if (i > 0 && told_[i].done < told_[i - 1].done) return "went back";
        }
        return "";
    }

    std::vector<std::uint64_t> hashes_ = random_hashes(keys, 1);
    std::vector<build_progress> told_;
    bool elsewhere_ = false;
};
INSTANTIATE_TEST_SUITE_P(all, built_progress, plain_subjects_that(&facts::buildable), subject_names);

constexpr std::size_t never = ~std::size_t{0};

TEST_P(built_progress, goes_from_nothing_to_all) {
    for (const unsigned threads : {1u, 2u, 16u}) {
        ASSERT_TRUE(build(threads, never).has_value());
        EXPECT_EQ(wrong(), "") << threads << " threads";
    }
}

TEST_P(built_progress, a_stop_is_heeded_at_every_report) {
    ASSERT_TRUE(build(1, never).has_value());
    const std::size_t all = told_.size(); // of one thread the same every time
    for (std::size_t last = 1; last <= all; ++last) {
        EXPECT_TRUE(fails_with(build(1, last), error_code::cancelled, "cancelled"));
        EXPECT_EQ(told_.size(), last) << "asked again after it was told to stop";
    }
    EXPECT_TRUE(fails_with(build(16, 1), error_code::cancelled, "cancelled"));
    EXPECT_TRUE(fails_with(build(16, 2), error_code::cancelled, "cancelled")); // there are always two
}

TEST_P(built_progress, where_no_thread_can_be_started) {
    const std::string said = in_child([&]() -> std::string {
        if (!deny_threads()) return "cannot restrict";
        if (!build(4, never)) return "not built";
        if (const std::string what = wrong(); !what.empty()) return what;
        if (told_.size() < 3) return "told at the ends only";
        for (std::size_t last = 1; last <= 3; ++last)
            if (const auto made = build(4, last); made || made.error().code != error_code::cancelled)
                return "not stopped at report " + std::to_string(last);
        return "";
    });
    if (said == "cannot restrict") GTEST_SKIP() << said;
    EXPECT_EQ(said, "");
}

} // namespace
} // namespace bouncer::test
