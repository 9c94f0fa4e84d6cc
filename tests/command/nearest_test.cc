// The word that was probably meant.
#include "nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bouncer::tool {
namespace {

TEST(nearest, distance_counts_letters) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("build", "bild"), 1u);
    EXPECT_EQ(edit_distance("build", "biuld"), 1u); // swapped
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("ca", "abc"), 3u); // no letter is touched twice
}

TEST(nearest, distance_is_a_distance) {
    const std::vector<std::string> words{"a", "ab", "ba", "abc", "bac", "cab", "dedup", "deudp", "count"};
    for (const std::string& a : words)
        for (const std::string& b : words) {
            EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << ' ' << b;
            EXPECT_EQ(edit_distance(a, b) == 0, a == b);
        }
}

TEST(nearest, suggests_what_is_near_and_nothing_else) {
    const std::vector<std::string> words{"build", "check", "dedup", "add", "blocked_bloom", "bloom"};
    EXPECT_EQ(suggestion("bild", words), "; did you mean \"build\"?");
    EXPECT_EQ(suggestion("chekc", words), "; did you mean \"check\"?");
    EXPECT_EQ(suggestion("ad", words), "; did you mean \"add\"?");
    EXPECT_EQ(suggestion("blocked", words), "; did you mean \"blocked_bloom\"?"); // its beginning
    EXPECT_EQ(suggestion("blom", words), "; did you mean \"bloom\"?");
    EXPECT_EQ(suggestion("frobnicate", words), "");
    EXPECT_EQ(suggestion("x", words), "");
    EXPECT_EQ(suggestion("-x", {std::vector<std::string>{"-h", "-c"}}), ""); // any letter is near any other
    EXPECT_EQ(suggestion("", words), "");
    EXPECT_EQ(suggestion("build", words), ""); // it is one
    EXPECT_EQ(suggestion(std::string(1'000'000, 'b'), words), "");
    EXPECT_EQ(suggestion("build", {}), "");
}

} // namespace
} // namespace bouncer::tool
