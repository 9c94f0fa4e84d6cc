// libxxhash's code, inlined: for our own sources and tests only (detail/hash_xxh.h says why no public header has it).
#pragma once

// In a build for AVX-512 g++ 12 warns about undefined registers in xxHash's code for it. AVX2 loses nothing: xxh3_wide,
// which takes the long keys, uses it too.
#if defined(__AVX512F__)
#define XXH_VECTOR 2 // XXH_AVX2
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>
