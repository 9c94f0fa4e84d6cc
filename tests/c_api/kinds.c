/* Every function on every kind, as far as one process and right arguments go. */
#include "check.h"

enum { key_count = 3000 };

static char texts[2 * key_count][16];
static bouncer_key keys[2 * key_count];
static uint64_t hashes[2 * key_count];
static uint8_t answers[2 * key_count];

static void make_keys(const bouncer_filter* filter) {
    size_t i;
    for (i = 0; i < 2 * key_count; ++i) {
        keys[i].size = (size_t)snprintf(texts[i], sizeof texts[i], "key %u", (unsigned)i);
        keys[i].data = texts[i];
        CHECK_OK(bouncer_hash_key(filter, keys[i].data, keys[i].size, &hashes[i]));
    }
}

static size_t ones(size_t first, size_t count) {
    size_t i, sum = 0;
    for (i = first; i < first + count; ++i) {
        CHECK(answers[i] <= 1);
        sum += answers[i];
    }
    return sum;
}

static void single_keys(bouncer_filter* filter) {
    uint8_t answer = 7;
    CHECK(!has(filter, "alice"));
    CHECK_OK(bouncer_add(filter, "alice", 5));
    CHECK(has(filter, "alice"));
    CHECK(!has(filter, "bob"));

    CHECK_OK(bouncer_test_and_add(filter, "carol", 5, &answer));
    CHECK(answer == 0);
    CHECK_OK(bouncer_test_and_add(filter, "carol", 5, &answer));
    CHECK(answer == 1);

    /* The empty key is a key. */
    CHECK_OK(bouncer_contains(filter, NULL, 0, &answer));
    CHECK(answer == 0);
    CHECK_OK(bouncer_add(filter, NULL, 0));
    CHECK_OK(bouncer_contains(filter, "", 0, &answer));
    CHECK(answer == 1);
}

static void single_hashes(bouncer_filter* filter) {
    uint64_t hash = 0;
    uint8_t answer = 7;
    CHECK_OK(bouncer_hash_key(filter, "dave", 4, &hash));
    CHECK_OK(bouncer_contains_hash(filter, hash, &answer));
    CHECK(answer == 0);
    CHECK_OK(bouncer_add_hash(filter, hash));
    CHECK_OK(bouncer_contains_hash(filter, hash, &answer));
    CHECK(answer == 1);
    CHECK(has(filter, "dave"));
    CHECK_OK(bouncer_test_and_add_hash(filter, hash, &answer));
    CHECK(answer == 1);
    CHECK_OK(bouncer_hash_key(filter, "erin", 4, &hash));
    CHECK_OK(bouncer_test_and_add_hash(filter, hash, &answer));
    CHECK(answer == 0);
    CHECK(has(filter, "erin"));
}

/* More keys than one chunk of the library's, and not a multiple of it. */
static void batches(bouncer_filter* filter, const char* kind) {
    const size_t found = forgets(kind) ? key_count / 2 : key_count; /* at least */
    make_keys(filter);
    CHECK_OK(bouncer_add_batch(filter, NULL, 0));
    CHECK_OK(bouncer_add_batch(filter, keys, key_count));
    CHECK_OK(bouncer_contains_batch(filter, keys, 2 * key_count, answers));
    CHECK(ones(0, key_count) >= found);
    CHECK(ones(key_count, key_count) < key_count / 20);
    CHECK_OK(bouncer_contains_hashes(filter, hashes, key_count, answers));
    CHECK(ones(0, key_count) >= found);

    CHECK_OK(bouncer_clear(filter));
    CHECK_OK(bouncer_contains_hashes(filter, hashes, 2 * key_count, answers));
    CHECK(ones(0, 2 * key_count) == 0);

    CHECK_OK(bouncer_add_hashes(filter, hashes, key_count));
    CHECK_OK(bouncer_test_and_add_batch(filter, keys, 2 * key_count, answers));
    CHECK(ones(0, key_count) >= found);
    CHECK(ones(key_count, key_count) < key_count / 20);
    CHECK_OK(bouncer_test_and_add_hashes(filter, hashes, 2 * key_count, answers));
    CHECK(ones(0, 2 * key_count) >= 2 * found);
}

static void stats(const bouncer_filter* filter, const char* kind, const char* hash) {
    bouncer_stats told = BOUNCER_STATS_INIT;
    CHECK_OK(bouncer_get_stats(filter, &told));
    CHECK(strcmp(told.kind, kind) == 0);
    CHECK(strcmp(told.hash, hash) == 0);
    CHECK(told.writable == 1);
    CHECK(told.size == sizeof told);
    CHECK(told.bits > 8 * 10000 && told.bits <= 8 * told.size_bytes);
    CHECK(told.fill_ratio > 0 && told.fill_ratio < 1);
    CHECK(told.fpr_expected > 0 && told.fpr_expected < 0.011);
    if (forgets(kind)) return;
    CHECK(told.fill_ratio < 0.6);
    CHECK(told.keys_estimated > 0.9 * 2 * key_count && told.keys_estimated < 1.1 * 2 * key_count);
    CHECK(told.fpr_expected < 0.01);
    if (is_bit_kind(kind)) CHECK(told.fill_ratio > 0.1);
}

/* Ten times the keys are too many, but for a kind that grows or forgets. */
static void overfull(const char* kind) {
    bouncer_stats told = BOUNCER_STATS_INIT;
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    bouncer_filter* filter = NULL;
    size_t i, round;
    options.keys = strcmp(kind, "windowed_bloom") == 0 ? 6 * 1000 : 1000;
    options.false_positive_rate = 1e-4;
    CHECK_OK(bouncer_create(kind, &options, &filter));
    for (round = 0; round < 10; ++round) {
        for (i = 0; i < 1000; ++i) {
            const uint64_t key = 1000 * round + i;
            CHECK_OK(bouncer_add(filter, &key, sizeof key));
        }
        CHECK_OK(bouncer_get_stats(filter, &told));
        CHECK(told.fpr_promised == 1e-4);
        if (round == 0) CHECK(told.overfull == 0);
    }
    CHECK(told.overfull == (strcmp(kind, "stable_bloom") != 0 && strcmp(kind, "scalable_bloom") != 0));
    bouncer_destroy(filter);
}

static void merges(const char* kind) {
    bouncer_filter* a = make_filter(kind, NULL, NULL);
    bouncer_filter* b = make_filter(kind, NULL, NULL);
    bouncer_filter* c = NULL;
    bouncer_options smaller = BOUNCER_OPTIONS_INIT;
    CHECK_OK(bouncer_add(a, "alice", 5));
    CHECK_OK(bouncer_add(b, "bob", 3));
    if (forgets(kind)) {
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_merge(a, b));
        bouncer_destroy(a);
        bouncer_destroy(b);
        return;
    }
    CHECK_OK(bouncer_merge(a, b));
    CHECK(has(a, "alice") && has(a, "bob") && !has(b, "alice"));
    CHECK_OK(bouncer_merge(a, a));

    smaller.keys = 500;
    smaller.false_positive_rate = 0.01;
    CHECK_OK(bouncer_create(kind, &smaller, &c));
    CHECK_REFUSED(BOUNCER_MISMATCH, "parameters", bouncer_merge(a, c));
    bouncer_destroy(a);
    bouncer_destroy(b);
    bouncer_destroy(c);
}

/* By the least factor that divides, whatever the kind made of 64 KiB. */
static void folds(const char* kind) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    bouncer_stats large = BOUNCER_STATS_INIT, small = BOUNCER_STATS_INIT;
    bouncer_filter *filter = NULL, *half = NULL;
    uint64_t factor;
    int code = BOUNCER_INVALID_ARGUMENT;
    options.keys = 100000;
    if (grows(kind) || forgets(kind))
        options.false_positive_rate = 0.01; /* the one has no size, and the other needs a rate */
    else
        options.size_bytes = 65536;
    CHECK_OK(bouncer_create(kind, &options, &filter));
    CHECK_OK(bouncer_add(filter, "alice", 5));
    if (!can_fold(kind)) {
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_fold(filter, 2, &half));
        bouncer_destroy(filter);
        return;
    }
    for (factor = 2; factor < 100 && code == BOUNCER_INVALID_ARGUMENT; ++factor)
        code = bouncer_fold(filter, factor, &half);
    CHECK_OK(code);
    CHECK(has(half, "alice") && !has(half, "bob"));
    CHECK_OK(bouncer_get_stats(filter, &large));
    CHECK_OK(bouncer_get_stats(half, &small));
    CHECK(small.size_bytes < large.size_bytes);
    CHECK_OK(bouncer_add(half, "bob", 3));
    CHECK(!has(filter, "bob"));
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "", bouncer_fold(filter, 0, &half));
    bouncer_destroy(filter);
    bouncer_destroy(half);
}

/* Only a counting_bloom: each add is taken back by one remove, and an absent key is told apart. */
static void removes(const char* kind) {
    bouncer_filter* filter = make_filter(kind, NULL, NULL);
    uint64_t hash = 0;
    uint8_t removed = 7;
    CHECK_OK(bouncer_add(filter, "alice", 5));
    CHECK_OK(bouncer_hash_key(filter, "alice", 5, &hash));
    if (!counts(kind)) {
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, "counting_bloom", bouncer_remove(filter, "alice", 5, &removed));
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, "counting_bloom", bouncer_remove_hash(filter, hash, &removed));
        CHECK(removed == 7 && has(filter, "alice"));
        bouncer_destroy(filter);
        return;
    }
    CHECK_OK(bouncer_add(filter, "alice", 5));
    CHECK_OK(bouncer_add(filter, "bob", 3));
    CHECK_OK(bouncer_remove(filter, "alice", 5, &removed));
    CHECK(removed == 1 && has(filter, "alice"));
    CHECK_OK(bouncer_remove_hash(filter, hash, &removed));
    CHECK(removed == 1 && !has(filter, "alice"));
    CHECK_OK(bouncer_remove(filter, "alice", 5, &removed));
    CHECK(removed == 0);
    removed = 7;
    CHECK_OK(bouncer_remove_hash(filter, hash, &removed));
    CHECK(removed == 0 && has(filter, "bob"));
    bouncer_destroy(filter);
}

/* Only a windowed_bloom, here with a window of six steps. */
static void rotates(const char* kind) {
    bouncer_filter* filter = make_filter(kind, NULL, NULL);
    uint64_t epoch = 77;
    unsigned step;
    CHECK_OK(bouncer_add(filter, "alice", 5));
    if (!has_window(kind)) {
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, "windowed_bloom", bouncer_rotate_to(filter, 1));
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, "windowed_bloom", bouncer_rotate(filter, &epoch));
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, "windowed_bloom", bouncer_epoch(filter, &epoch));
        CHECK(epoch == 77 && has(filter, "alice"));
        bouncer_destroy(filter);
        return;
    }
    CHECK_OK(bouncer_epoch(filter, &epoch));
    CHECK(epoch == 0);
    for (step = 1; step <= 6; ++step) {
        CHECK_OK(bouncer_rotate(filter, &epoch));
        CHECK(epoch == step && has(filter, "alice"));
    }
    CHECK_OK(bouncer_rotate(filter, &epoch));
    CHECK(epoch == 7 && !has(filter, "alice"));

    CHECK_OK(bouncer_add(filter, "bob", 3));
    CHECK_OK(bouncer_rotate_to(filter, 7));
    CHECK_OK(bouncer_rotate_to(filter, 13));
    CHECK(has(filter, "bob"));
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "go back to 12", bouncer_rotate_to(filter, 12));
    CHECK_CODE(BOUNCER_TOO_LARGE, bouncer_rotate_to(filter, UINT64_MAX));
    CHECK_OK(bouncer_epoch(filter, &epoch));
    CHECK(epoch == 13 && has(filter, "bob"));
    CHECK_OK(bouncer_rotate_to(filter, (uint64_t)1 << 63));
    CHECK(!has(filter, "bob"));
    epoch = 77;
    CHECK_CODE(BOUNCER_TOO_LARGE, bouncer_rotate(filter, &epoch));
    CHECK(epoch == 77);
    bouncer_destroy(filter);
}

static void prehashed(const char* kind) {
    uint8_t answer = 7;
    uint64_t hash = 0x9e3779b97f4a7c15u;
    bouncer_key key = {"a", 1};
    bouncer_filter* filter;
    if (fixes_its_hash(kind)) {
        bouncer_options options = BOUNCER_OPTIONS_INIT;
        options.keys = 100;
        options.false_positive_rate = 0.01;
        options.hash = "prehashed";
        CHECK_REFUSED(BOUNCER_MISMATCH, is_dcso(kind) ? "fnv1" : "xxh64",
                      bouncer_create(kind, &options, &filter));
        return;
    }
    filter = make_filter(kind, "prehashed", NULL);
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_add(filter, "a", 1));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_contains(filter, "a", 1, &answer));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_test_and_add(filter, "a", 1, &answer));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_hash_key(filter, "a", 1, &hash));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_remove(filter, "a", 1, &answer));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_add_batch(filter, &key, 1));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_contains_batch(filter, &key, 1, &answer));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_test_and_add_batch(filter, &key, 1, &answer));
    CHECK(answer == 7);
    CHECK_OK(bouncer_add_hash(filter, hash));
    CHECK_OK(bouncer_contains_hash(filter, hash, &answer));
    CHECK(answer == 1);
    bouncer_destroy(filter);
}

/* Built from all keys at once, asked, and refused what it cannot do. */
static void static_kind(const char* kind) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    bouncer_stats told = BOUNCER_STATS_INIT;
    bouncer_filter *built = NULL, *same = NULL, *picked = NULL, *none = NULL;
    options.keys = key_count;
    options.false_positive_rate = 0.01;
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_create(kind, &options, &none));
    CHECK_OK(bouncer_build(kind, &options, keys, key_count, &built));
    CHECK_OK(bouncer_contains_batch(built, keys, 2 * key_count, answers));
    CHECK(ones(0, key_count) == key_count);
    CHECK(ones(key_count, key_count) < 2 * key_count / 100);
    CHECK_OK(bouncer_build_hashes(kind, &options, hashes, key_count, &same));
    CHECK_OK(bouncer_contains_hashes(same, hashes, 2 * key_count, answers));
    CHECK(ones(0, key_count) == key_count);
    CHECK_OK(bouncer_get_stats(built, &told));
    CHECK(strcmp(told.kind, kind) == 0);
    CHECK(told.writable == 0);
    CHECK(told.keys_estimated == key_count);
    CHECK(told.fpr_expected > 0 && told.fpr_expected <= 0.01);
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "build a new one", bouncer_add(built, "alice", 5));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_merge(built, same));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_clear(built));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_remove(built, keys[0].data, keys[0].size, answers));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_rotate_to(built, 1));
    options.prefer = BOUNCER_PREFER_SPACE;
    CHECK_OK(bouncer_build(NULL, &options, keys, key_count, &picked));
    told.size = sizeof told;
    CHECK_OK(bouncer_get_stats(picked, &told));
    CHECK(strcmp(told.kind, "ribbon") == 0);
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "NULL", bouncer_build(kind, &options, NULL, 1, &none));
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "NULL", bouncer_build_hashes(kind, &options, NULL, 1, &none));
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "NULL", bouncer_build(kind, &options, keys, 1, NULL));
    options.hash = "prehashed";
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "bouncer_build_hashes",
                  bouncer_build(kind, &options, keys, 1, &none));
    CHECK(none == NULL);
    bouncer_destroy(built);
    bouncer_destroy(same);
    bouncer_destroy(picked);
}

int main(void) {
    size_t i;
    CHECK(bouncer_kind_count() > 0);
    CHECK(bouncer_kind_name(bouncer_kind_count()) == NULL);
    CHECK(bouncer_kind_name((size_t)-1) == NULL);
    CHECK(strchr(bouncer_version(), '.') != NULL);
    for (i = 0; i < bouncer_kind_count(); ++i) {
        const char* const kind = bouncer_kind_name(i);
        const int parquet = strcmp(kind, "split_block_bloom") == 0;
        bouncer_filter* filter;
        if (is_cascade(kind)) continue;
        if (is_built(kind)) {
            static_kind(kind);
            printf("%s: as it should be\n", kind);
            continue;
        }
        filter = make_filter(kind, NULL, NULL);
        single_keys(filter);
        single_hashes(filter);
        batches(filter, kind);
        stats(filter, kind, parquet ? "xxh64, seed 0" : is_dcso(kind) ? "fnv1" : "xxh3, seed 0");
        bouncer_destroy(filter);
        overfull(kind);
        merges(kind);
        folds(kind);
        removes(kind);
        rotates(kind);
        prehashed(kind);
        printf("%s: as it should be\n", kind);
    }
    return 0;
}
