// --hash takes every hash of the list, and says so.
#include "describe_commands.h"
#include "secret.h"

#include "support/toy_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bouncer::tool {
namespace {

TEST(hash_flags, help_and_completions_name_every_hash) {
    std::vector<std::string> names;
    for (const hash_info& each : all_hashes) names.emplace_back(each.name);
    std::size_t found = 0;
    for (const described_command& command : describe_commands())
        for (const described_flag& flag : command.flags) {
            if (flag.names.back() != "--hash") continue;
            ++found;
            EXPECT_EQ(flag.choices, names) << command.name;
            EXPECT_TRUE(flag.help.starts_with(hash_choices_text() + ": "))
                << command.name << ": " << flag.help;
        }
    EXPECT_EQ(found, 2u) << "build and dedup have the flag";
}

TEST(hash_flags, text) {
    EXPECT_EQ(hash_choices_text(),
              "xxh3 (default), xxh64, murmur3, fnv1a, fnv1; siphash13 and siphash24 with --key-file");
    EXPECT_EQ(hash_choices_text(test::all_hashes_and_toy),
              "xxh3 (default), xxh64, murmur3, fnv1a, fnv1, toy; siphash13 and siphash24 with --key-file");
}

TEST(hash_flags, every_hash_makes_a_hasher) {
    for (const hash_info& each : all_hashes) {
        if (each.takes_key) continue; // with a file: build_check.sh
        hash_flags flags;
        flags.name = each.name;
        EXPECT_EQ(flags.hasher().spec().algorithm, each.id) << each.name;
    }
    EXPECT_EQ(hash_flags().hasher().spec().algorithm, xxh3::algorithm);
}

} // namespace
} // namespace bouncer::tool
