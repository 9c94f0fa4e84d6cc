/* The library for C and for everything that calls C. C99; see docs/c_api.md.
 *
 * Every function that can fail returns BOUNCER_OK (0) or a bouncer_error; bouncer_last_error() then has a sentence that
 * names the offending value. No C++ exception leaves a function; running out of memory is BOUNCER_OUT_OF_MEMORY. Wrong
 * arguments (a NULL handle, a NULL place for an answer, a NULL key of more than 0 bytes) are BOUNCER_INVALID_ARGUMENT; an
 * output is written only on success.
 *
 * Thread safety: the tag above a function says what it asks of the handles it is given.
 *   [any-thread]     at the same time as any other [any-thread] or [immutable] call
 *   [exclusive]      while no other thread uses the handle
 *   [immutable]      any time: it reads what never changes
 * A call on a file takes no handle and so is [any-thread]. */
#ifndef BOUNCER_BOUNCER_H
#define BOUNCER_BOUNCER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BOUNCER_API __attribute__((visibility("default")))
#else
#define BOUNCER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A filter of any kind, with the hash of its keys. */
typedef struct bouncer_filter bouncer_filter;

/* The numbers never change; new ones are appended. */
typedef enum bouncer_error {
    BOUNCER_OK = 0,
    BOUNCER_INVALID_ARGUMENT = 1,
    BOUNCER_TOO_LARGE = 2,
    BOUNCER_OUT_OF_MEMORY = 3,
    BOUNCER_MISMATCH = 4,
    BOUNCER_UNSUPPORTED = 5,
    BOUNCER_CORRUPT = 6,
    BOUNCER_UNKNOWN_VERSION = 7,
    BOUNCER_WRONG_KEY = 8,
    BOUNCER_IO = 9,
    BOUNCER_FULL = 10,
    BOUNCER_CANCELLED = 11
} bouncer_error;

/* [any-thread] The message of the last failure of a call in this thread, never NULL; empty before the first. A success
 * leaves it. Valid until the next failure in this thread; at most 1023 bytes, longer ones are cut. */
BOUNCER_API const char* bouncer_last_error(void);
/* [immutable] "ok", "invalid_argument", ...; "unknown" for other numbers. */
BOUNCER_API const char* bouncer_error_name(int code);
/* [immutable] Of the library that runs, as "0.1.0". */
BOUNCER_API const char* bouncer_version(void);

/* [immutable] The names that bouncer_create knows; NULL for an index that is not below the count. */
BOUNCER_API size_t bouncer_kind_count(void);
BOUNCER_API const char* bouncer_kind_name(size_t index);

/* ---- making and ending one --------------------------------------------------------------------------------------- */

typedef enum bouncer_prefer {
    BOUNCER_PREFER_READS = 0, /* the fastest queries */
    BOUNCER_PREFER_ADDS = 1,  /* the cheapest concurrent adds */
    BOUNCER_PREFER_SPACE = 2  /* the fewest bytes */
} bouncer_prefer;

/* What a filter is for: keys, and a rate or a size or both. Start from BOUNCER_OPTIONS_INIT. `size` tells the library
 * which version of the struct the caller was compiled with; fields will be appended, and 0 in them means "not given". */
typedef struct bouncer_options {
    uint32_t size;              /* sizeof(bouncer_options) */
    uint32_t prefer;            /* bouncer_prefer */
    uint64_t keys;              /* how many distinct keys */
    double false_positive_rate; /* between 0 and 1; 0: not given */
    uint64_t size_bytes;        /* the most it may take; 0: not given */
    uint64_t seed;              /* of the hash; 0 for those that take none */
    /* xxh3, xxh64, murmur3, fnv1a, siphash13, siphash24, fnv1, or prehashed (the caller brings 64-bit hashes). NULL: the
     * kind's own, which is xxh3; xxh64 for split_block_bloom and fnv1 for dcso_bloom, which take no other. */
    const char* hash;
    const void* secret_key; /* 16 bytes for siphash13 and siphash24, copied; otherwise NULL */
} bouncer_options;

#define BOUNCER_OPTIONS_INIT                                                                                 \
    { (uint32_t)sizeof(bouncer_options), BOUNCER_PREFER_READS, 0, 0.0, 0, 0, NULL, NULL }

/* [any-thread] An empty filter in memory. Errors: invalid_argument, too_large, out_of_memory, mismatch (a hash that the
 * kind does not take), unsupported (a static kind: bouncer_build). */
BOUNCER_API int bouncer_create(const char* kind, const bouncer_options* options, bouncer_filter** out);
/* [exclusive] NULL is fine. A shared filter stays in its file as it is. */
BOUNCER_API void bouncer_destroy(bouncer_filter* filter);

/* ---- keys and hashes --------------------------------------------------------------------------------------------- */
/* A key is `size` bytes; the functions named ..._hash take the 64 bits that stand for a key instead. A prehashed filter,
 * or a file of a hash that only its author knows, takes hashes only (unsupported). A read-only filter takes no adds
 * (unsupported). */

/* [any-thread] The 64 bits that stand for a key: to hash it once for several filters. */
BOUNCER_API int bouncer_hash_key(const bouncer_filter* filter, const void* key, size_t size, uint64_t* hash);

/* [any-thread] */
BOUNCER_API int bouncer_add(bouncer_filter* filter, const void* key, size_t size);
BOUNCER_API int bouncer_add_hash(bouncer_filter* filter, uint64_t hash);

/* [any-thread] *answer = 0: surely never added. 1: probably added. */
BOUNCER_API int bouncer_contains(const bouncer_filter* filter, const void* key, size_t size, uint8_t* answer);
BOUNCER_API int bouncer_contains_hash(const bouncer_filter* filter, uint64_t hash, uint8_t* answer);

/* [any-thread] Adds; *answer = what bouncer_contains would have said before. Of threads that add the same new key at
 * once at least one is told 0, with register_bloom at most one. */
BOUNCER_API int bouncer_test_and_add(bouncer_filter* filter, const void* key, size_t size, uint8_t* answer);
BOUNCER_API int bouncer_test_and_add_hash(bouncer_filter* filter, uint64_t hash, uint8_t* answer);

/* ---- keys that go, windows that move ------------------------------------------------------------------------------ */
/* Each of these suits one kind; others are refused (unsupported). So is a read-only filter, but for bouncer_epoch. */

/* [any-thread] Of a counting_bloom. *removed = 1: the key was counted down by one. 0: it is surely not there, and nothing
 * changed. Remove only what was added, once for each add: a key that was never added but seems to be there (the
 * false-positive rate) is removed as well, and other keys may vanish with it. Of two removes that race, both may see the
 * last count of a key. */
BOUNCER_API int bouncer_remove(bouncer_filter* filter, const void* key, size_t size, uint8_t* removed);
BOUNCER_API int bouncer_remove_hash(bouncer_filter* filter, uint64_t hash, uint8_t* removed);

/* [any-thread] Of a windowed_bloom, whose time is cut into numbered steps. bouncer_rotate_to makes `epoch` the current step
 * and forgets what left the window; the current one again changes nothing, an earlier one is invalid_argument, one beyond
 * 2^63 too_large. A jump over the whole window leaves nothing. */
BOUNCER_API int bouncer_rotate_to(bouncer_filter* filter, uint64_t epoch);
/* [any-thread] One step on; *epoch = the step that begins. Rotations of one handle wait for each other, adds and queries for
 * none. Of the processes that share a file one rotates. */
BOUNCER_API int bouncer_rotate(bouncer_filter* filter, uint64_t* epoch);
/* [any-thread] The current step: 0 at first. */
BOUNCER_API int bouncer_epoch(const bouncer_filter* filter, uint64_t* epoch);

/* ---- arrays ------------------------------------------------------------------------------------------------------ */
/* Batches prefetch and use SIMD. All keys are checked before the first is added.
 * An array of 0 may be NULL; otherwise `answers` has one byte, 0 or 1, per key. */
typedef struct bouncer_key {
    const void* data;
    size_t size;
} bouncer_key;

/* [any-thread] A static filter of all these keys, or hashes (options->hash says how they were made); it takes no others later.
 * kind: xor_filter, binary_fuse, ribbon, fingerprint_set; NULL: options->prefer picks, BOUNCER_PREFER_READS binary_fuse and
 * BOUNCER_PREFER_SPACE ribbon. options->keys is not looked at: distinct keys are counted. On all cores, 24 bytes per key
 * meanwhile. Errors as bouncer_create. */
BOUNCER_API int bouncer_build(const char* kind, const bouncer_options* options, const bouncer_key* keys,
                              size_t count, bouncer_filter** out);
BOUNCER_API int bouncer_build_hashes(const char* kind, const bouncer_options* options, const uint64_t* hashes,
                                     size_t count, bouncer_filter** out);

/* [any-thread] */
BOUNCER_API int bouncer_add_batch(bouncer_filter* filter, const bouncer_key* keys, size_t count);
BOUNCER_API int bouncer_add_hashes(bouncer_filter* filter, const uint64_t* hashes, size_t count);
BOUNCER_API int bouncer_contains_batch(const bouncer_filter* filter, const bouncer_key* keys, size_t count,
                                       uint8_t* answers);
BOUNCER_API int bouncer_contains_hashes(const bouncer_filter* filter, const uint64_t* hashes, size_t count,
                                        uint8_t* answers);
BOUNCER_API int bouncer_test_and_add_batch(bouncer_filter* filter, const bouncer_key* keys, size_t count,
                                           uint8_t* answers);
BOUNCER_API int bouncer_test_and_add_hashes(bouncer_filter* filter, const uint64_t* hashes, size_t count,
                                            uint8_t* answers);

/* ---- the whole filter -------------------------------------------------------------------------------------------- */

/* [any-thread] `filter` becomes the union, as if every key of `other` had been added. Refuses one of another kind,
 * parameters or hash (mismatch, wrong_key), and changes nothing then; scalable_bloom also where its rate has no room (full).
 * Merges of scalable_blooms that share a handle wait for each other; no add or query waits for them. */
BOUNCER_API int bouncer_merge(bouncer_filter* filter, const bouncer_filter* other);
/* [exclusive] Forgets every key. */
BOUNCER_API int bouncer_clear(bouncer_filter* filter);
/* [any-thread] A new filter of 1/factor of the size, as if the same keys had been added to it: for one that turned out too
 * large. A factor that does not divide is invalid_argument. */
BOUNCER_API int bouncer_fold(const bouncer_filter* filter, uint64_t factor, bouncer_filter** out);

/* Start from BOUNCER_STATS_INIT; `size` as in bouncer_options. */
typedef struct bouncer_stats {
    uint32_t size;       /* sizeof(bouncer_stats) */
    uint32_t writable;   /* 0 or 1 */
    uint64_t size_bytes; /* of memory or mapped file */
    uint64_t bits;       /* that keys can set */
    double fill_ratio;   /* the fraction of them that is set; these three are NAN where a kind cannot tell */
    double keys_estimated; /* distinct keys, from the fill; INFINITY when every bit is set */
    double fpr_expected;   /* the false-positive rate now */
    char kind[32];
    char hash[96];       /* "xxh3, seed 0"; of a secret key its fingerprint */
    double fpr_promised; /* what it was made for, or its file says; 0: not told */
    uint32_t overfull;   /* 1: it holds more keys than that rate allows, beyond chance */
    uint32_t reserved;   /* 0 */
} bouncer_stats;

#define BOUNCER_STATS_INIT                                                                                   \
    { (uint32_t)sizeof(bouncer_stats), 0, 0, 0, 0.0, 0.0, 0.0, {0}, {0}, 0.0, 0, 0 }

/* [any-thread] Reads all bits four times, so its cost grows with the size: not for every request. */
BOUNCER_API int bouncer_get_stats(const bouncer_filter* filter, bouncer_stats* stats);

/* ---- files (docs/format.md) -------------------------------------------------------------------------------------- */

typedef enum bouncer_mode {
    BOUNCER_LOAD = 0, /* into memory, writable; every byte is checked (not of a live file: bouncer_verify) */
    BOUNCER_MAP = 1,  /* the file itself, read-only; every byte is checked first */
    BOUNCER_MAP_LAZY =
        2, /* the same in milliseconds: header and footer are checked, bouncer_verify checks the rest */
    BOUNCER_SHARED =
        3 /* the file itself: every process that opens it so adds to it and sees what others add; io while another
             process seals or changes it */
} bouncer_mode;

/* [any-thread] The filter in a file, whatever its kind. mode: a bouncer_mode. secret_key: 16 bytes where the file's hash needs them (wrong_key if
 * they are others), otherwise NULL. Errors: io, corrupt, unknown_version, wrong_key, invalid_argument (a key too many or too
 * few), unsupported (to map a compressed file), too_large, out_of_memory. */
BOUNCER_API int bouncer_open(const char* path, int mode, const void* secret_key, bouncer_filter** out);

/* To be combined with |. */
enum {
    BOUNCER_SAVE_NOT_DURABLE = 1, /* no fsync: a power cut may leave a damaged file */
    BOUNCER_SAVE_COMPRESSED =
        2 /* zstd, for sparse filters; such a file cannot be mapped. May be unsupported. */
};

/* [any-thread] Replaces the file in one step, while others add and query. On failure the old file is untouched and nothing
 * stays. A file that is open BOUNCER_SHARED, or that the command is changing, is not replaced (io). What others saved to it
 * since you opened it is undone: where several add to one file, open it BOUNCER_SHARED. label: free text of at most 1024 bytes, or NULL. */
BOUNCER_API int bouncer_save(const bouncer_filter* filter, const char* path, const char* label,
                             uint32_t flags);
/* [any-thread] The union of `count` files of the same kind, parameters and hash as a new file, in at most 8 MiB of memory. Needs no
 * secret key. On failure `output` is untouched. */
BOUNCER_API int bouncer_merge_files(const char* const* inputs, size_t count, const char* output,
                                    const char* label, uint32_t flags);
/* [any-thread] Reads every byte against its checksum: corrupt names the first damage. *live = 1 for a file that was opened
 * BOUNCER_SHARED and not sealed: the filter in it has no checksum, and only its header and size were checked. */
BOUNCER_API int bouncer_verify(const char* path, uint8_t* live);

/* Of a filter opened BOUNCER_SHARED; others: unsupported. */
/* [any-thread] Returns when every add that came before it is on the disk. Once it has failed (io) it always fails, and so does
 * bouncer_seal: save the filter to another file. */
BOUNCER_API int bouncer_sync(bouncer_filter* filter);
/* [exclusive] Computes the checksums anew. io while another handle or process has it open BOUNCER_SHARED. The handle is
 * read-only afterwards: to add, open the file again. */
BOUNCER_API int bouncer_seal(bouncer_filter* filter);

#ifdef __cplusplus
}
#endif

#endif
