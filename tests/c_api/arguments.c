/* Wrong arguments: always a code and a message, never a crash, and nothing written to the outputs. */
#include "check.h"

#include <math.h>

#define CHECK_BAD(call) CHECK_CODE(BOUNCER_INVALID_ARGUMENT, call)

static const unsigned char secret[16] = {1, 2, 3};

static void creation(void) {
    struct {
        bouncer_options known;
        uint64_t newer;
    } larger = {BOUNCER_OPTIONS_INIT, 0};
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    bouncer_filter* filter = NULL;
    options.keys = 100;
    options.false_positive_rate = 0.01;
    CHECK_BAD(bouncer_create(NULL, &options, &filter));
    CHECK_BAD(bouncer_create("bloom", NULL, &filter));
    CHECK_BAD(bouncer_create("bloom", &options, NULL));
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "blocked_bloom", bouncer_create("no kind", &options, &filter));

    options.size = 0;
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "BOUNCER_OPTIONS_INIT",
                  bouncer_create("bloom", &options, &filter));
    options.size = 0xdeadbeef;
    CHECK_BAD(bouncer_create("bloom", &options, &filter));
    options.size = sizeof options;

    options.false_positive_rate = 1.5;
    CHECK_BAD(bouncer_create("bloom", &options, &filter));
    options.false_positive_rate = -1;
    CHECK_BAD(bouncer_create("bloom", &options, &filter));
    options.false_positive_rate = (double)NAN;
    CHECK_BAD(bouncer_create("bloom", &options, &filter));
    options.false_positive_rate = 0;
    CHECK_BAD(bouncer_create("bloom", &options, &filter)); /* neither a rate nor a size */
    options.false_positive_rate = 0.01;
    options.keys = 0;
    CHECK_BAD(bouncer_create("bloom", &options, &filter));
    options.keys = UINT64_MAX;
    CHECK_CODE(BOUNCER_TOO_LARGE, bouncer_create("bloom", &options, &filter));
    options.keys = 100;
    options.prefer = 3;
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "prefer", bouncer_create("bloom", &options, &filter));
    options.prefer = BOUNCER_PREFER_SPACE;

    options.hash = "md5";
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "md5", bouncer_create("bloom", &options, &filter));
    options.hash = "siphash13";
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "key", bouncer_create("bloom", &options, &filter));
    options.secret_key = secret;
    options.seed = 1;
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "seed", bouncer_create("bloom", &options, &filter));
    options.hash = NULL;
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "xxh3", bouncer_create("bloom", &options, &filter));
    options.hash = "prehashed";
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "prehashed", bouncer_create("bloom", &options, &filter));
    options.secret_key = NULL;
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "prehashed", bouncer_create("bloom", &options, &filter));
    options.hash = NULL;
    CHECK_REFUSED(BOUNCER_MISMATCH, "xxh64", bouncer_create("split_block_bloom", &options, &filter));
    CHECK(filter == NULL);

    /* A caller of a later version: fine while what is new is not asked for. */
    larger.known.size = sizeof larger;
    larger.known.keys = 100;
    larger.known.size_bytes = 4096;
    larger.newer = 1;
    CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_create("bloom", &larger.known, &filter));
    CHECK(filter == NULL);
    larger.newer = 0;
    CHECK_OK(bouncer_create("bloom", &larger.known, &filter));
    bouncer_destroy(filter);
    bouncer_destroy(NULL);
}

static void without_handle(void) {
    uint64_t hash = 9;
    uint8_t answer = 9;
    bouncer_key key = {"a", 1};
    bouncer_filter* out = NULL;
    bouncer_stats stats = BOUNCER_STATS_INIT;
    CHECK_BAD(bouncer_hash_key(NULL, "a", 1, &hash));
    CHECK_BAD(bouncer_add(NULL, "a", 1));
    CHECK_BAD(bouncer_add_hash(NULL, 1));
    CHECK_BAD(bouncer_contains(NULL, "a", 1, &answer));
    CHECK_BAD(bouncer_contains_hash(NULL, 1, &answer));
    CHECK_BAD(bouncer_test_and_add(NULL, "a", 1, &answer));
    CHECK_BAD(bouncer_test_and_add_hash(NULL, 1, &answer));
    CHECK_BAD(bouncer_add_batch(NULL, &key, 1));
    CHECK_BAD(bouncer_add_hashes(NULL, &hash, 1));
    CHECK_BAD(bouncer_contains_batch(NULL, &key, 1, &answer));
    CHECK_BAD(bouncer_contains_hashes(NULL, &hash, 1, &answer));
    CHECK_BAD(bouncer_test_and_add_batch(NULL, &key, 1, &answer));
    CHECK_BAD(bouncer_test_and_add_hashes(NULL, &hash, 1, &answer));
    CHECK_BAD(bouncer_remove(NULL, "a", 1, &answer));
    CHECK_BAD(bouncer_remove_hash(NULL, 1, &answer));
    CHECK_BAD(bouncer_rotate_to(NULL, 1));
    CHECK_BAD(bouncer_rotate(NULL, &hash));
    CHECK_BAD(bouncer_epoch(NULL, &hash));
    CHECK_BAD(bouncer_merge(NULL, NULL));
    CHECK_BAD(bouncer_clear(NULL));
    CHECK_BAD(bouncer_fold(NULL, 2, &out));
    CHECK_BAD(bouncer_get_stats(NULL, &stats));
    CHECK_BAD(bouncer_save(NULL, "x", NULL, 0));
    CHECK_BAD(bouncer_sync(NULL));
    CHECK_BAD(bouncer_seal(NULL));
    CHECK(hash == 9 && answer == 9 && out == NULL);
    CHECK(strcmp(bouncer_last_error(), "the filter is NULL") == 0);
}

static void without_places(void) {
    uint64_t hash = 1;
    uint8_t answer = 9;
    uint8_t answers[2] = {9, 9};
    bouncer_key keys[2] = {{"a", 1}, {NULL, 1}};
    const char* paths[2] = {"x", NULL};
    bouncer_stats stats = BOUNCER_STATS_INIT;
    bouncer_filter* filter = make_filter("bloom", NULL, NULL);
    bouncer_filter* out = NULL;
    CHECK_BAD(bouncer_hash_key(filter, "a", 1, NULL));
    CHECK_BAD(bouncer_hash_key(filter, NULL, 1, &hash));
    CHECK_BAD(bouncer_add(filter, NULL, 1));
    CHECK_BAD(bouncer_contains(filter, "a", 1, NULL));
    CHECK_BAD(bouncer_contains(filter, NULL, 1, &answer));
    CHECK_BAD(bouncer_contains_hash(filter, 1, NULL));
    CHECK_BAD(bouncer_test_and_add(filter, "a", 1, NULL));
    CHECK_BAD(bouncer_test_and_add(filter, NULL, 1, &answer));
    CHECK_BAD(bouncer_test_and_add_hash(filter, 1, NULL));
    CHECK_BAD(bouncer_add_batch(filter, NULL, 1));
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "key 1", bouncer_add_batch(filter, keys, 2));
    CHECK_BAD(bouncer_add_hashes(filter, NULL, 1));
    CHECK_BAD(bouncer_contains_batch(filter, NULL, 1, answers));
    CHECK_BAD(bouncer_contains_batch(filter, keys, 1, NULL));
    CHECK_BAD(bouncer_contains_batch(filter, keys, 2, answers));
    CHECK_BAD(bouncer_contains_hashes(filter, NULL, 1, answers));
    CHECK_BAD(bouncer_contains_hashes(filter, &hash, 1, NULL));
    CHECK_BAD(bouncer_test_and_add_batch(filter, NULL, 1, answers));
    CHECK_BAD(bouncer_test_and_add_batch(filter, keys, 1, NULL));
    CHECK_BAD(bouncer_test_and_add_batch(filter, keys, 2, answers));
    CHECK_BAD(bouncer_test_and_add_hashes(filter, NULL, 1, answers));
    CHECK_BAD(bouncer_test_and_add_hashes(filter, &hash, 1, NULL));
    CHECK_BAD(bouncer_remove(filter, "a", 1, NULL));
    CHECK_BAD(bouncer_remove(filter, NULL, 1, &answer));
    CHECK_BAD(bouncer_remove_hash(filter, 1, NULL));
    CHECK_BAD(bouncer_rotate(filter, NULL));
    CHECK_BAD(bouncer_epoch(filter, NULL));
    CHECK_BAD(bouncer_merge(filter, NULL));
    CHECK_BAD(bouncer_fold(filter, 1, NULL));
    CHECK_BAD(bouncer_get_stats(filter, NULL));
    stats.size = 8;
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "BOUNCER_STATS_INIT", bouncer_get_stats(filter, &stats));
    CHECK_BAD(bouncer_save(filter, NULL, NULL, 0));
    CHECK_BAD(bouncer_save(filter, "x", NULL, 64));
    CHECK_BAD(bouncer_open(NULL, BOUNCER_LOAD, NULL, &out));
    CHECK_BAD(bouncer_open("x", BOUNCER_LOAD, NULL, NULL));
    CHECK_BAD(bouncer_verify(NULL, &answer));
    CHECK_BAD(bouncer_verify("x", NULL));
    CHECK_BAD(bouncer_merge_files(NULL, 1, "y", NULL, 0));
    CHECK_BAD(bouncer_merge_files(NULL, 0, "y", NULL, 0));
    CHECK_BAD(bouncer_merge_files(paths, 2, "y", NULL, 0));
    CHECK_BAD(bouncer_merge_files(paths, 1, NULL, NULL, 0));
    CHECK_BAD(bouncer_merge_files(paths, 1, "y", NULL, 64));
    CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_sync(filter));
    CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_seal(filter));
    CHECK(hash == 1 && answer == 9 && answers[0] == 9 && answers[1] == 9 && out == NULL);
    CHECK(!has(filter, "a")); /* no half of a refused batch is in it */

    CHECK_OK(bouncer_contains_batch(filter, NULL, 0, NULL));
    CHECK_OK(bouncer_contains_hashes(filter, NULL, 0, NULL));
    CHECK_OK(bouncer_test_and_add_hashes(filter, NULL, 0, NULL));
    bouncer_destroy(filter);
}

static void stats_of_a_newer_caller(void) {
    struct {
        bouncer_stats known;
        uint64_t newer;
    } larger = {BOUNCER_STATS_INIT, 77};
    bouncer_filter* filter = make_filter("bloom", "siphash24", secret);
    larger.known.size = sizeof larger;
    CHECK_OK(bouncer_get_stats(filter, &larger.known));
    CHECK(larger.known.size == sizeof larger && larger.newer == 0);
    CHECK(strncmp(larger.known.hash, "siphash24, key fingerprint 0x", 29) == 0);
    CHECK(larger.known.keys_estimated == 0);
    bouncer_destroy(filter);
}

static void errors(void) {
    static const char* const names[] = {
        "ok",          "invalid_argument", "too_large",       "out_of_memory", "mismatch",
        "unsupported", "corrupt",          "unknown_version", "wrong_key",     "io",
        "full",        "cancelled"};
    static char long_path[5000];
    bouncer_filter* filter = NULL;
    int code;
    for (code = 0; code < 12; ++code) CHECK(strcmp(bouncer_error_name(code), names[code]) == 0);
    CHECK(strcmp(bouncer_error_name(12), "unknown") == 0 && strcmp(bouncer_error_name(-1), "unknown") == 0);

    memset(long_path, 'x', sizeof long_path - 1);
    CHECK_CODE(BOUNCER_IO, bouncer_open(long_path, BOUNCER_LOAD, NULL, &filter));
    CHECK(strlen(bouncer_last_error()) == 1023);
}

int main(void) {
    CHECK(strcmp(bouncer_last_error(), "") == 0);
    creation();
    without_handle();
    without_places();
    stats_of_a_newer_caller();
    errors();
    return 0;
}
