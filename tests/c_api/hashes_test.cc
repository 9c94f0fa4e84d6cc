// options.hash takes every hash of the list.
#include <bouncer/all_hashers.h>
#include <bouncer/bouncer.h>

#include <gtest/gtest.h>

#include <string>

namespace {

std::string stored_hash(const char* name, const void* secret_key) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    options.keys = 100;
    options.false_positive_rate = 0.01;
    options.hash = name;
    options.secret_key = secret_key;
    bouncer_filter* filter = nullptr;
    EXPECT_EQ(bouncer_create("bloom", &options, &filter), BOUNCER_OK) << bouncer_last_error();
    bouncer_stats stats = BOUNCER_STATS_INIT;
    EXPECT_EQ(bouncer_get_stats(filter, &stats), BOUNCER_OK);
    bouncer_destroy(filter);
    return stats.hash;
}

TEST(c_api_hashes, every_one_makes_a_filter) {
    const bouncer::secret_key key{};
    for (const bouncer::hash_info& each : bouncer::all_hashes) {
        const std::string name(each.name);
        const bouncer::hash_spec spec{each.id, each.takes_key ? key.fingerprint() : 0};
        EXPECT_EQ(stored_hash(name.c_str(), each.takes_key ? &key : nullptr), bouncer::to_string(spec));
    }
    EXPECT_EQ(stored_hash("prehashed", nullptr), "prehashed");
}

} // namespace
