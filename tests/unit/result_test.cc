// result<T>: it holds a value or a failure, and owns what it holds through every copy, move and assignment.
#include <bouncer/result.h>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bouncer {
namespace {

using owned = std::shared_ptr<int>;
const failure no{error_code::io, "a sentence that is too long for the string itself"};

static_assert(!std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
static_assert(std::is_nothrow_move_constructible_v<result<std::unique_ptr<int>>>);

TEST(result, holds_a_value_or_a_failure) {
    const result<int> yes(7);
    EXPECT_TRUE(yes.has_value() && yes);
    EXPECT_EQ(*yes, 7);
    EXPECT_EQ(yes.value(), 7);
    const result<int> failed(no);
    EXPECT_FALSE(failed.has_value() || failed);
    EXPECT_EQ(failed.error().code, error_code::io);
    try {
        (void)failed.value();
        FAIL() << "no exception";
    } catch (const bad_result& why) {
        EXPECT_EQ(why.code(), error_code::io);
        EXPECT_EQ(why.what(), "io: " + no.message);
    }
}

TEST(result, destroys_what_it_holds_once) {
    const owned held = std::make_shared<int>(1);
    {
        const result<owned> one(held);
        const result<owned> copy(one); // NOLINT(performance-unnecessary-copy-initialization)
        EXPECT_EQ(held.use_count(), 3);
        result<owned> moved(result<owned>{held});
        EXPECT_EQ(held.use_count(), 4);
        const owned out = std::move(moved).value();
        EXPECT_EQ(held.use_count(), 4);
    }
    EXPECT_EQ(held.use_count(), 1);
}

TEST(result, takes_any_other_by_assignment) {
    const owned first = std::make_shared<int>(1);
    const owned second = std::make_shared<int>(2);
    result<owned> r(first);
    r = result<owned>(second); // value to value
    EXPECT_EQ(**r, 2);
    EXPECT_EQ(first.use_count(), 1);
    r = result<owned>(no); // value to failure
    EXPECT_EQ(r.error().message, no.message);
    EXPECT_EQ(second.use_count(), 1);
    r = result<owned>(failure{error_code::full, "another long sentence, in the place of the first one"});
    EXPECT_EQ(r.error().code, error_code::full);
    r = first; // failure to value
    EXPECT_EQ(**r, 1);
    EXPECT_EQ(first.use_count(), 2);
    const result<owned>& itself = r;
    r = itself;
    EXPECT_EQ(**r, 1);
    EXPECT_EQ(first.use_count(), 2);
}

TEST(result, holds_what_can_only_be_moved) {
    result<std::unique_ptr<int>> r(std::make_unique<int>(3));
    result<std::unique_ptr<int>> other(std::move(r));
    EXPECT_EQ(**other, 3);
    other = result<std::unique_ptr<int>>(no);
    EXPECT_FALSE(other.has_value());
    other = std::make_unique<int>(4);
    EXPECT_EQ(*std::move(other).value(), 4);
}

TEST(result, grows_in_a_vector) {
    std::vector<result<std::string>> all;
    for (int i = 0; i < 100; ++i) {
        if (i % 2 == 0)
            all.emplace_back(std::string(30, 'x') + std::to_string(i));
        else
            all.emplace_back(failure{error_code::corrupt, std::string(30, 'y') + std::to_string(i)});
    }
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(i % 2 == 0 ? *all[static_cast<std::size_t>(i)]
                             : all[static_cast<std::size_t>(i)].error().message,
                  std::string(30, i % 2 == 0 ? 'x' : 'y') + std::to_string(i));
}

TEST(result, of_nothing_is_done_or_a_failure) {
    const result<void> done;
    EXPECT_TRUE(done.has_value());
    done.value();
    result<void> failed = no;
    EXPECT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().message, no.message);
    EXPECT_THROW(failed.value(), bad_result);
    failed = {};
    EXPECT_TRUE(failed.has_value());
}

} // namespace
} // namespace bouncer
