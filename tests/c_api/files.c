/* Files of every kind, their keys, and what can go wrong with them. Writes into the current folder. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned char secret[16] = {1, 2, 3};
static const unsigned char other_secret[16] = {1, 2, 4};

/* Files in the current folder, hidden ones too. */
static int file_count(void) {
    int count = 0;
    DIR* const folder = opendir(".");
    CHECK(folder != NULL);
    while (readdir(folder) != NULL) ++count;
    closedir(folder);
    return count - 2;
}

static bouncer_filter* opened(const char* path, int mode, const void* key) {
    bouncer_filter* filter = NULL;
    CHECK_OK(bouncer_open(path, mode, key, &filter));
    return filter;
}

static uint32_t writable(const bouncer_filter* filter) {
    bouncer_stats stats = BOUNCER_STATS_INIT;
    CHECK_OK(bouncer_get_stats(filter, &stats));
    return stats.writable;
}

static void save_and_open(const char* kind) {
    static const int modes[] = {BOUNCER_LOAD, BOUNCER_MAP, BOUNCER_MAP_LAZY};
    size_t i;
    uint8_t live = 9, answer = 9;
    uint64_t hash = 1;
    bouncer_key key = {"bob", 3};
    bouncer_filter* filter = make_filter(kind, NULL, NULL);
    CHECK_OK(bouncer_add(filter, "alice", 5));
    CHECK_OK(bouncer_save(filter, "one.bnc", "a label", 0));
    bouncer_destroy(filter);
    CHECK_OK(bouncer_verify("one.bnc", &live));
    CHECK(live == 0);
    for (i = 0; i < sizeof modes / sizeof *modes; ++i) {
        filter = opened("one.bnc", modes[i], NULL);
        CHECK(has(filter, "alice") && !has(filter, "bob"));
        CHECK(writable(filter) == (modes[i] == BOUNCER_LOAD));
        if (modes[i] == BOUNCER_LOAD) {
            CHECK_OK(bouncer_add(filter, "bob", 3));
            CHECK_OK(bouncer_save(filter, "two.bnc", NULL, BOUNCER_SAVE_NOT_DURABLE));
        } else {
            bouncer_filter* copy = NULL;
            CHECK_REFUSED(BOUNCER_UNSUPPORTED, "read-only", bouncer_add(filter, "bob", 3));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_add_hash(filter, hash));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_add_batch(filter, &key, 1));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_add_hashes(filter, &hash, 1));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_test_and_add(filter, "bob", 3, &answer));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_test_and_add_hash(filter, hash, &answer));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_test_and_add_batch(filter, &key, 1, &answer));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_test_and_add_hashes(filter, &hash, 1, &answer));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_clear(filter));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_remove(filter, "alice", 5, &answer));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_rotate(filter, &hash));
            CHECK_CODE(has_window(kind) ? BOUNCER_OK : BOUNCER_UNSUPPORTED, bouncer_epoch(filter, &hash));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_merge(filter, filter));
            CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_seal(filter));
            if (can_fold(kind)) {
                CHECK_OK(bouncer_fold(filter, 1, &copy)); /* a copy in memory */
                CHECK(has(copy, "alice") && writable(copy));
                bouncer_destroy(copy);
            }
        }
        bouncer_destroy(filter);
    }
    CHECK(answer == 9);
}

static void merged_files(const char* kind) {
    const char* inputs[2] = {"one.bnc", "two.bnc"};
    const char* different[2] = {"one.bnc", "keyed.bnc"};
    bouncer_filter* filter;
    if (!is_bit_kind(kind)) { /* whose union is not the OR of the words */
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_merge_files(inputs, 2, "three.bnc", "both", 0));
        return;
    }
    CHECK_OK(bouncer_merge_files(inputs, 2, "three.bnc", "both", 0));
    filter = opened("three.bnc", BOUNCER_MAP, NULL);
    CHECK(has(filter, "alice") && has(filter, "bob") && !has(filter, "carol"));
    bouncer_destroy(filter);
    if (!fixes_its_hash(kind)) {
        filter = make_filter(kind, "siphash13", secret);
        CHECK_OK(bouncer_save(filter, "keyed.bnc", NULL, BOUNCER_SAVE_NOT_DURABLE));
        bouncer_destroy(filter);
        CHECK_REFUSED(BOUNCER_MISMATCH, "keyed.bnc", bouncer_merge_files(different, 2, "three.bnc", NULL, 0));
    }
    different[1] = "missing.bnc";
    CHECK_REFUSED(BOUNCER_IO, "missing.bnc", bouncer_merge_files(different, 2, "three.bnc", NULL, 0));
    filter = opened("three.bnc", BOUNCER_LOAD, NULL); /* as it was */
    CHECK(has(filter, "bob"));
    bouncer_destroy(filter);
}

static void shared(const char* kind) {
    uint8_t live = 9;
    int status = -1;
    pid_t child;
    bouncer_filter* filter = make_filter(kind, NULL, NULL);
    bouncer_filter* second;
    CHECK_OK(bouncer_save(filter, "shared.bnc", NULL, 0));
    bouncer_destroy(filter);
    if (grows(kind)) {
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_open("shared.bnc", BOUNCER_SHARED, NULL, &filter));
        return;
    }
    filter = opened("shared.bnc", BOUNCER_SHARED, NULL);
    CHECK_OK(bouncer_verify("shared.bnc", &live));
    CHECK(live == 1);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        second = opened("shared.bnc", BOUNCER_SHARED, NULL);
        CHECK_OK(bouncer_add(second, "from the child", 14));
        CHECK_REFUSED(BOUNCER_IO, "open elsewhere", bouncer_seal(second));
        _exit(0); /* without bouncer_destroy: the file has the key all the same */
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(has(filter, "from the child"));
    CHECK_OK(bouncer_add(filter, "alice", 5));
    CHECK_OK(bouncer_sync(filter));
    second = opened("shared.bnc", BOUNCER_SHARED, NULL);
    CHECK_REFUSED(BOUNCER_IO, "open elsewhere", bouncer_seal(filter));
    CHECK_REFUSED(BOUNCER_IO, "open elsewhere",
                  bouncer_seal(second)); /* the first still has it, refused or not */
    bouncer_destroy(second);
    CHECK(writable(filter));
    CHECK_OK(bouncer_seal(filter));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "sealed", bouncer_add(filter, "bob", 3));
    CHECK_CODE(BOUNCER_UNSUPPORTED, bouncer_clear(filter));
    CHECK(!writable(filter) && has(filter, "alice"));
    bouncer_destroy(filter);
    CHECK_OK(bouncer_verify("shared.bnc", &live));
    CHECK(live == 0);
    filter = opened("shared.bnc", BOUNCER_LOAD, NULL);
    CHECK(has(filter, "alice") && has(filter, "from the child") && !has(filter, "bob"));
    bouncer_destroy(filter);
}

static void secret_keys(void) {
    static const int modes[] = {BOUNCER_LOAD, BOUNCER_MAP, BOUNCER_MAP_LAZY, BOUNCER_SHARED};
    size_t i;
    uint8_t live = 9;
    bouncer_filter* out = NULL;
    bouncer_filter* filter = make_filter("bloom", "siphash24", secret);
    bouncer_filter* other = make_filter("bloom", "siphash24", other_secret);
    CHECK_OK(bouncer_add(filter, "alice", 5));
    CHECK_CODE(BOUNCER_WRONG_KEY, bouncer_merge(filter, other));
    CHECK_OK(bouncer_save(filter, "keyed.bnc", NULL, 0));
    bouncer_destroy(filter);
    bouncer_destroy(other);
    for (i = 0; i < sizeof modes / sizeof *modes; ++i) {
        CHECK_REFUSED(BOUNCER_WRONG_KEY, "keyed.bnc",
                      bouncer_open("keyed.bnc", modes[i], other_secret, &out));
        CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "key", bouncer_open("keyed.bnc", modes[i], NULL, &out));
        CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "key", bouncer_open("one.bnc", modes[i], secret, &out));
        CHECK(out == NULL);
    }
    CHECK_OK(bouncer_verify("keyed.bnc", &live)); /* needs no key, and no refused open has marked the file */
    CHECK(live == 0);
    for (i = 0; i < sizeof modes / sizeof *modes; ++i) {
        filter = opened("keyed.bnc", modes[i], secret);
        CHECK(has(filter, "alice") && !has(filter, "bob"));
        bouncer_destroy(filter);
    }
}

static void prehashed_file(void) {
    uint8_t answer = 9;
    bouncer_filter* out = NULL;
    bouncer_filter* filter = make_filter("blocked_bloom", "prehashed", NULL);
    CHECK_OK(bouncer_add_hash(filter, 12345));
    CHECK_OK(bouncer_save(filter, "prehashed.bnc", NULL, 0));
    bouncer_destroy(filter);
    filter = opened("prehashed.bnc", BOUNCER_SHARED, NULL);
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "prehashed", bouncer_contains(filter, "a", 1, &answer));
    CHECK_OK(bouncer_contains_hash(filter, 12345, &answer));
    CHECK(answer == 1);
    bouncer_destroy(filter);
    CHECK_CODE(BOUNCER_INVALID_ARGUMENT, bouncer_open("prehashed.bnc", BOUNCER_LOAD, secret, &out));
}

static void wrong_files(void) {
    static const int modes[] = {BOUNCER_LOAD, BOUNCER_MAP, BOUNCER_MAP_LAZY, BOUNCER_SHARED};
    static const char text[] = "This is no filter.";
    size_t i;
    uint8_t live = 9;
    bouncer_filter* out = NULL;
    FILE* file = fopen("text.bnc", "w");
    CHECK(file != NULL && fwrite(text, sizeof text, 1, file) == 1 && fclose(file) == 0);
    CHECK(mkdir("folder.bnc", 0700) == 0);
    for (i = 0; i < sizeof modes / sizeof *modes; ++i) {
        CHECK_REFUSED(BOUNCER_IO, "missing.bnc", bouncer_open("missing.bnc", modes[i], NULL, &out));
        CHECK_REFUSED(BOUNCER_IO, "folder.bnc", bouncer_open("folder.bnc", modes[i], NULL, &out));
        CHECK_REFUSED(BOUNCER_CORRUPT, "text.bnc", bouncer_open("text.bnc", modes[i], NULL, &out));
    }
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "99", bouncer_open("one.bnc", 99, NULL, &out));
    CHECK_CODE(BOUNCER_IO, bouncer_verify("missing.bnc", &live));
    CHECK_CODE(BOUNCER_CORRUPT, bouncer_verify("text.bnc", &live));
    CHECK(out == NULL && live == 9);
}

/* One bit of the payload: what checks every byte sees it. */
static void damaged_file(void) {
    bouncer_filter* out = NULL;
    uint8_t live = 9;
    bouncer_filter* filter = make_filter("bloom", NULL, NULL);
    FILE* file;
    int byte;
    CHECK_OK(bouncer_save(filter, "damaged.bnc", NULL, 0));
    bouncer_destroy(filter);
    file = fopen("damaged.bnc", "r+");
    CHECK(file != NULL && fseek(file, 5000, SEEK_SET) == 0);
    byte = fgetc(file);
    CHECK(byte != EOF && fseek(file, 5000, SEEK_SET) == 0 && fputc(byte ^ 16, file) != EOF);
    CHECK(fclose(file) == 0);
    CHECK_CODE(BOUNCER_CORRUPT, bouncer_verify("damaged.bnc", &live));
    CHECK_CODE(BOUNCER_CORRUPT, bouncer_open("damaged.bnc", BOUNCER_LOAD, NULL, &out));
    CHECK_CODE(BOUNCER_CORRUPT, bouncer_open("damaged.bnc", BOUNCER_MAP, NULL, &out));
    CHECK_CODE(BOUNCER_CORRUPT, bouncer_open("damaged.bnc", BOUNCER_SHARED, NULL, &out));
    CHECK_OK(bouncer_open("damaged.bnc", BOUNCER_MAP_LAZY, NULL, &out));
    bouncer_destroy(out);
}

static void compressed_file(void) {
    bouncer_filter* out = NULL;
    bouncer_filter* filter = make_filter("bloom", NULL, NULL);
    int code;
    CHECK_OK(bouncer_add(filter, "alice", 5));
    code = bouncer_save(filter, "small.bnc", NULL, BOUNCER_SAVE_COMPRESSED);
    bouncer_destroy(filter);
    if (code == BOUNCER_UNSUPPORTED) { /* built without zstd */
        printf("compression: %s\n", bouncer_last_error());
        return;
    }
    CHECK_OK(code);
    filter = opened("small.bnc", BOUNCER_LOAD, NULL);
    CHECK(has(filter, "alice") && !has(filter, "bob"));
    bouncer_destroy(filter);
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "compressed", bouncer_open("small.bnc", BOUNCER_MAP, NULL, &out));
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, "compressed", bouncer_open("small.bnc", BOUNCER_SHARED, NULL, &out));
}

/* A limit on the size of files stands in for a full disk. */
static void failed_save(void) {
    static char label[1026];
    struct rlimit limit, small;
    int before;
    bouncer_filter* filter = make_filter("bloom", NULL, NULL);
    CHECK_OK(bouncer_add(filter, "alice", 5));
    CHECK_OK(bouncer_save(filter, "kept.bnc", NULL, 0));
    CHECK_OK(bouncer_add(filter, "bob", 3));
    before = file_count();

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    small = limit;
    small.rlim_cur = 6000;
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_REFUSED(BOUNCER_IO, "kept.bnc", bouncer_save(filter, "kept.bnc", NULL, 0));
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);

    memset(label, 'x', 1025);
    CHECK_REFUSED(BOUNCER_INVALID_ARGUMENT, "label", bouncer_save(filter, "kept.bnc", label, 0));
    CHECK_CODE(BOUNCER_IO, bouncer_save(filter, "no such folder/kept.bnc", NULL, 0));
    bouncer_destroy(filter);

    CHECK(file_count() == before); /* nothing stays */
    filter = opened("kept.bnc", BOUNCER_LOAD, NULL);
    CHECK(has(filter, "alice") && !has(filter, "bob"));
    bouncer_destroy(filter);
}

static void built_file(const char* kind) {
    static const int modes[] = {BOUNCER_LOAD, BOUNCER_MAP, BOUNCER_MAP_LAZY};
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    bouncer_filter* filter = NULL;
    const bouncer_key keys[] = {{"alice", 5}, {"bob", 3}};
    size_t i;
    options.false_positive_rate = 0.0001;
    CHECK_OK(bouncer_build(kind, &options, keys, 2, &filter));
    CHECK_OK(bouncer_save(filter, "built.bnc", "two keys", 0));
    bouncer_destroy(filter);
    for (i = 0; i < sizeof modes / sizeof *modes; ++i) {
        filter = opened("built.bnc", modes[i], NULL);
        CHECK(has(filter, "alice") && has(filter, "bob") && !has(filter, "carol"));
        CHECK_REFUSED(BOUNCER_UNSUPPORTED, "build a new one", bouncer_add(filter, "carol", 5));
        bouncer_destroy(filter);
    }
    CHECK_REFUSED(BOUNCER_UNSUPPORTED, kind, bouncer_open("built.bnc", BOUNCER_SHARED, NULL, &filter));
}

int main(void) {
    size_t i;
    char folder[] = "c_api_files_XXXXXX";
    char remove[64];
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (i = 0; i < bouncer_kind_count(); ++i) {
        const char* const kind = bouncer_kind_name(i);
        if (is_cascade(kind)) continue;
        if (is_built(kind)) {
            built_file(kind);
        } else {
            save_and_open(kind);
            merged_files(kind);
            shared(kind);
        }
        printf("%s: as it should be\n", kind);
    }
    secret_keys();
    prehashed_file();
    wrong_files();
    damaged_file();
    compressed_file();
    failed_save();
    CHECK(chdir("..") == 0);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    return system(remove);
}
