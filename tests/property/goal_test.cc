// Goals drawn at random: what create() returns keeps what the goal asked for, for every kind.
#include "property/generators.h"
#include "support/subject.h"

namespace bouncer::test {
namespace {

class goal_test : public kind_test {};

INSTANTIATE_TEST_SUITE_P(all, goal_test, plain_subjects_that(&facts::keeps_goal), subject_names);

TEST_P(goal_test, a_goal_that_can_be_served_is_kept) {
    EXPECT_TRUE(rc::check(std::string(k.is.name) + " keeps its goal", [&] {
        const goal wanted = *servable_goal(20'000).as("goal");
        const auto made = k.create(wanted);
        if (!k.is.bits && !wanted.false_positive_rate && !made) {
            // A kind of larger units may find a size too small, and one that grows has none.
            RC_ASSERT(made.error().code == error_code::invalid_argument);
            return;
        }
        RC_ASSERT(made.has_value());
        if (wanted.false_positive_rate) {
            RC_ASSERT(made->fpr_at(wanted.keys) <= *wanted.false_positive_rate * (1 + 1e-9));
            if (k.is.has_capacity) RC_ASSERT(made->capacity(*wanted.false_positive_rate) >= wanted.keys);
        } else {
            RC_ASSERT(made->size_bytes() <= *wanted.size_bytes);
        }
    }));
}

class bit_goal_test : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, bit_goal_test,
                         plain_subjects_that([](const facts& is) { return is.bits && is.keeps_goal; }),
                         subject_names);

// The largest block of any kind is 128 bytes, so that much is always enough: for few keys too, where the best k of a
// layout without a size would not fit.
TEST_P(bit_goal_test, a_small_size_is_served) {
    for (const std::uint64_t size : {128u, 200u, 512u})
        for (const std::uint64_t keys : {1u, 10u, 100u, 10'000u}) {
            const auto made = k.create(goal{.keys = keys, .size_bytes = size});
            ASSERT_TRUE(made) << keys << " keys, " << size << " bytes: " << made.error().message;
            EXPECT_LE(made->size_bytes(), size);
        }
}

TEST_P(bit_goal_test, a_size_limit_is_kept_or_refused) {
    EXPECT_TRUE(rc::check(std::string(k.is.name) + " keeps or refuses a size limit", [&] {
        goal wanted = *servable_goal(20'000).as("goal");
        RC_PRE(wanted.false_positive_rate.has_value());
        const std::uint64_t needed = k.create(wanted)->size_bytes();
        wanted.size_bytes = needed;
        const auto same = k.create(wanted);
        RC_ASSERT(same && same->size_bytes() <= needed);
        RC_ASSERT(same->fpr_at(wanted.keys) <= *wanted.false_positive_rate * (1 + 1e-9));
        RC_PRE(needed > 256); // half of it is less than any layout of the kind needs
        wanted.size_bytes = needed / 2;
        const auto refused = k.create(wanted);
        RC_ASSERT(!refused && refused.error().code == error_code::too_large);
    }));
}

} // namespace
} // namespace bouncer::test
