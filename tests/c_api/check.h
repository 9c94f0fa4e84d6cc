/* Checks for the C programs: a failed one prints what was expected and ends the program. */
#ifndef BOUNCER_TESTS_C_API_CHECK_H
#define BOUNCER_TESTS_C_API_CHECK_H

#include <bouncer/bouncer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", __FILE__, __LINE__, #condition,          \
                    bouncer_last_error());                                                                   \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#define CHECK_OK(call) CHECK_CODE(BOUNCER_OK, call)

/* The call returns this code. */
#define CHECK_CODE(expected, call)                                                                           \
    do {                                                                                                     \
        const int got_code = (call);                                                                         \
        if (got_code != (int)(expected)) {                                                                   \
            fprintf(stderr, "%s:%d: %s gave %s instead of %s (last error: %s)\n", __FILE__, __LINE__, #call, \
                    bouncer_error_name(got_code), bouncer_error_name((int)(expected)),                       \
                    bouncer_last_error());                                                                   \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* The call is refused with this code, and the message has this text in it. */
#define CHECK_REFUSED(expected, text, call)                                                                  \
    do {                                                                                                     \
        CHECK_CODE(expected, call);                                                                          \
        CHECK(strstr(bouncer_last_error(), text) != NULL);                                                   \
    } while (0)

static inline int has_window(const char* kind) {
    return strcmp(kind, "windowed_bloom") == 0;
}

/* A filter for 10000 keys at 1 %; of a window with six steps they are those of one. */
static inline bouncer_filter* make_filter(const char* kind, const char* hash, const void* secret_key) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    bouncer_filter* filter = NULL;
    options.keys = has_window(kind) ? 60000 : 10000;
    options.false_positive_rate = 0.01;
    options.hash = hash;
    options.secret_key = secret_key;
    CHECK_OK(bouncer_create(kind, &options, &filter));
    return filter;
}

/* What only some kinds do: fold; forget, unasked; count, so that keys can go again. */
static inline int is_dcso(const char* kind) {
    return strcmp(kind, "dcso_bloom") == 0;
}
static inline int is_bit_kind(const char* kind) {
    return strcmp(kind, "bloom") == 0 || strcmp(kind, "blocked_bloom") == 0 ||
           strcmp(kind, "split_block_bloom") == 0 || strcmp(kind, "register_bloom") == 0 ||
           strcmp(kind, "partitioned_bloom") == 0 || is_dcso(kind);
}
static inline int can_fold(const char* kind) {
    return is_bit_kind(kind) && !is_dcso(kind);
}
/* Whose hash is fixed, and takes neither seed nor key. */
static inline int fixes_its_hash(const char* kind) {
    return strcmp(kind, "split_block_bloom") == 0 || is_dcso(kind);
}
static inline int counts(const char* kind) {
    return strcmp(kind, "counting_bloom") == 0;
}
static inline int forgets(const char* kind) {
    return strcmp(kind, "stable_bloom") == 0;
}
/* Built from all its keys at once; of these a cascade only in C++. */
static inline int is_built(const char* kind) {
    return strcmp(kind, "xor_filter") == 0 || strcmp(kind, "binary_fuse") == 0 ||
           strcmp(kind, "ribbon") == 0 || strcmp(kind, "fingerprint_set") == 0;
}
static inline int is_cascade(const char* kind) {
    return strcmp(kind, "cascade") == 0;
}
static inline int grows(const char* kind) {
    return strcmp(kind, "scalable_bloom") == 0;
}

/* What bouncer_contains says of a text. */
static inline int has(const bouncer_filter* filter, const char* text) {
    uint8_t answer = 7;
    CHECK_OK(bouncer_contains(filter, text, strlen(text), &answer));
    CHECK(answer == 0 || answer == 1);
    return answer;
}

#endif
