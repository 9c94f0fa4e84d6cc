// Everything between this header and target_end.h is compiled for the instruction set that BOUNCER_TARGET_AVX2 or
// BOUNCER_TARGET_AVX512 names. A region, not a per-file -mavx2: with the flag, inline functions of any header would
// be compiled with AVX code too, and the linker might keep that copy for the baseline build. Include system headers
// before. No include guard: each region includes it once.
#if defined(__clang__)
#if defined(BOUNCER_TARGET_AVX512)
#pragma clang attribute push(                                                                                \
    __attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#else
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#endif
#else
#pragma GCC push_options
#if defined(BOUNCER_TARGET_AVX512)
#pragma GCC target("avx2,bmi,bmi2,popcnt,avx512f,avx512dq,avx512bw,avx512vl")
#else
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
#endif
