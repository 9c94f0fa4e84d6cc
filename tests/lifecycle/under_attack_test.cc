// Keys crafted against a hash that anybody can compute: what they do to the rate, and that a rebuild with a secret key ends
// it while the filter serves. docs/under_attack.md tells the same story.
#include <bouncer/any_hasher.h>
#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/rebuild_trigger.h>
#include <bouncer/rebuilder.h>

#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace bouncer::test {
namespace {

using served_set = keyed<atomic_blocked_bloom, any_hasher>;

constexpr std::uint64_t honest_keys = 20'000;
constexpr std::uint64_t planted_keys = 600;
const goal wanted{.keys = honest_keys + planted_keys, .false_positive_rate = 0.01};

// Keys whose hashes lie in one range of 1/4096 of all: in one block of any filter with fewer blocks, whatever its size.
// Nothing is asked of the filter: 4096 hashes a key, offline.
std::vector<std::uint64_t> crafted(std::uint64_t count, std::uint64_t seed, std::uint64_t first) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t key = first; out.size() < count; ++key)
        if (hash_key(xxh3{seed}, key) >> 52 == 0x7a5) out.push_back(key);
    return out;
}

class under_attack : public ::testing::Test {
  protected:
    void SetUp() override {
        for (std::uint64_t i = 0; i < honest_keys; ++i) truth_.push_back(random_hash(1, i));
        target_.add_batch(truth_);
    }

    // The attacker may add too, as whoever signs up does. So these are in the source of truth as well.
    void plant(const std::vector<std::uint64_t>& keys) {
        truth_.insert(truth_.end(), keys.begin(), keys.end());
        for (const std::uint64_t key : keys) target_.add(key);
    }

    // Of absent keys, one by one and as a batch.
    double rate_of(const std::vector<std::uint64_t>& absent) const {
        std::size_t found = 0;
        for (const std::uint64_t key : absent) found += target_.may_contain(key);
        answers said(absent.size());
        EXPECT_EQ(target_.may_contain(absent, said.span()), found);
        return static_cast<double>(found) / static_cast<double>(absent.size());
    }
    // What the bits promise to keys that nobody chose.
    ::testing::AssertionResult as_expected(const std::vector<std::uint64_t>& absent) const {
        const auto count = static_cast<double>(absent.size());
        return within_sigma(rate_of(absent) * count, count, target_.read()->filter().expected_fpr());
    }

    template <class Meanwhile>
    void rebuild(const any_hasher& with, Meanwhile meanwhile) {
        const auto plan = rebuild_plan<served_set>::of(wanted, with).value();
        const auto done = builder_.rebuild(plan, [&](auto& sink) -> result<void> {
            sink.add_batch(std::span(truth_).first(truth_.size() / 2));
            meanwhile();
            sink.add_batch(std::span(truth_).subspan(truth_.size() / 2));
            return {};
        });
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(target_.read()->hash(), spec_of(with));
        for (const std::uint64_t key : truth_) ASSERT_TRUE(target_.may_contain(key));
    }

    std::vector<std::uint64_t> truth_;
    const std::vector<std::uint64_t> strangers_ = random_hashes(scaled(200'000), 2);
    const std::vector<std::uint64_t> planted_ = crafted(planted_keys, 0, 0);
    const std::vector<std::uint64_t> asked_ = crafted(scaled(2'000), 0, std::uint64_t{1} << 40);
    const siphash13 secret_{secret_key::from_hex("2b7e151628aed2a6abf7158809cf4f3c").value()};
    hot<served_set> target_{served_set::create(wanted).value()};
    rebuilder<served_set> builder_{target_};
};

TEST_F(under_attack, a_secret_key_ends_it_while_the_filter_serves) {
    // Before: the promise holds, for crafted keys too, up to what one block has more than the average.
    EXPECT_TRUE(as_expected(strangers_));
    EXPECT_LT(target_.read()->filter().expected_fpr(), 0.0105);
    EXPECT_LT(rate_of(asked_), 0.1);

    // Under it: the block is full, and whatever falls into it is "there". The expected rate hardly tells.
    plant(planted_);
    EXPECT_GT(rate_of(asked_), 0.99);
    EXPECT_TRUE(as_expected(strangers_));
    EXPECT_LT(target_.read()->filter().expected_fpr(), 0.015);

    // The switch: until its end the old filter serves with its own hash, and adds go to both, hashed by each.
    const std::uint64_t late = 1'234'567;
    rebuild(secret_, [&] {
        EXPECT_EQ(target_.read()->hash(), xxh3{}.spec());
        EXPECT_GT(rate_of(asked_), 0.99);
        target_.add(late);
        target_.add_batch(std::vector<std::uint64_t>{late + 1, late + 2});
        EXPECT_FALSE(target_.test_and_add(late + 3));
        for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(target_.may_contain(late + i));
    });
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(target_.may_contain(late + i));

    // After: the planted keys are still in the set, spread over all blocks; crafted keys are keys like any other.
    EXPECT_TRUE(as_expected(asked_));
    EXPECT_TRUE(as_expected(strangers_));
    EXPECT_LT(target_.read()->filter().expected_fpr(), 0.0105);
}

// The same bits as a filter that had the secret from the start.
TEST_F(under_attack, after_the_switch_nothing_is_left_of_the_old_hash) {
    plant(planted_);
    rebuild(secret_, [] {});
    auto typed = keyed<atomic_blocked_bloom, siphash13>::create(wanted, secret_).value();
    typed.add_batch(truth_);
    const auto held = target_.read();
    EXPECT_TRUE(held->filter() == typed.filter());
}

// Why not another seed: whoever learns it begins again, at the same cost. It is in every file, and no secret.
TEST_F(under_attack, a_fresh_seed_lasts_until_it_is_known) {
    plant(planted_);
    const std::uint64_t seed = 0x5eed;
    rebuild(xxh3{seed}, [] {});
    EXPECT_TRUE(as_expected(asked_)); // these are spent
    plant(crafted(planted_keys, seed, 0));
    EXPECT_GT(rate_of(crafted(scaled(2'000), seed, std::uint64_t{1} << 40)), 0.99);
}

// How it is noticed: by the observed rate.
TEST_F(under_attack, shows_in_the_observed_rate_alone) {
    const auto due = expected_fpr_above(1.5, 0.01);
    const auto attacked = observed_fpr_above(0.05, 1'000);
    const auto signals = [&] {
        fpr_meter meter;
        for (std::uint64_t i = 0; i < 9'000; ++i)
            target_.may_contain(random_hash(3, i)) ? meter.false_positive() : meter.said_no();
        for (std::uint64_t i = 0; i < 1'000; ++i)
            target_.may_contain(asked_[i % asked_.size()]) ? meter.false_positive() : meter.said_no();
        return rebuild_signals{.expected_fpr = target_.read()->filter().expected_fpr(),
                               .observed_fpr = meter.read()};
    };
    EXPECT_FALSE((due || attacked)(signals()));
    plant(planted_);
    EXPECT_FALSE(due(signals()));
    EXPECT_TRUE(attacked(signals()));
    rebuild(secret_, [] {});
    EXPECT_FALSE((due || attacked)(signals()));
}

} // namespace
} // namespace bouncer::test
