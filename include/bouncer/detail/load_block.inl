// The ONE place where a vector register is loaded from words that other threads may be writing. Text to be included in a
// target region (src/base/target_begin.h), or in code that is compiled for AVX2 anyway.
//
// In C++ such a load is a data race; here is why it is sound. Writers use atomic 64-bit read-modify-writes. An
// aligned vector load reads each aligned 8-byte lane whole: Intel (SDM vol. 3A, 9.1.1) and AMD (APM vol. 2, 7.3.2)
// promise atomic 16-byte aligned accesses on processors with AVX, and no x86 processor splits an aligned quadword.
// Lanes may come from different moments; bits only go from 0 to 1, so a torn line can only miss adds that are still
// in progress, which a query may miss anyway. An add that happened-before the query is in every lane that is read.
// (Counters go down too; there it is each value that a word takes after the add that holds what the query looks for:
// counting_bloom.h, invariant 3.)
// The load is `asm volatile` with the bytes as an "m" input, so the compiler may neither invent, repeat nor merge it:
// two queries of one line are two loads. Plain relaxed word loads instead cost 1.1 to 3.8 times the query.
//
// Under the thread and address checkers, which do not see through asm, it is relaxed word loads.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define BOUNCER_LOAD_BY_WORD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define BOUNCER_LOAD_BY_WORD 1
#endif
#endif

#define BOUNCER_INLINE [[gnu::always_inline]] inline

BOUNCER_INLINE long long load_word(const std::uint64_t* at) noexcept {
    return static_cast<long long>(__atomic_load_n(at, __ATOMIC_RELAXED));
}

// 32 aligned bytes.
BOUNCER_INLINE __m256i load_half_line(const std::uint64_t* at) noexcept {
#if defined(BOUNCER_LOAD_BY_WORD)
    return _mm256_set_epi64x(load_word(at + 3), load_word(at + 2), load_word(at + 1), load_word(at));
#else
    __m256i out;
    asm volatile("vmovdqa %1, %0" : "=x"(out) : "m"(*reinterpret_cast<const __m256i*>(at)));
    return out;
#endif
}

// One word in all lanes.
BOUNCER_INLINE __m256i load_repeated(const std::uint64_t* at) noexcept {
#if defined(BOUNCER_LOAD_BY_WORD)
    return _mm256_set1_epi64x(load_word(at));
#else
    __m256i out;
    asm volatile("vpbroadcastq %1, %0" : "=x"(out) : "m"(*at));
    return out;
#endif
}

// Two words from two places, side by side.
BOUNCER_INLINE __m128i load_two(const std::uint64_t* first, const std::uint64_t* second) noexcept {
#if defined(BOUNCER_LOAD_BY_WORD)
    return _mm_set_epi64x(load_word(second), load_word(first));
#else
    __m128i out;
    asm volatile("vmovq %1, %0\n\tvmovhps %2, %0, %0" : "=&x"(out) : "m"(*first), "m"(*second));
    return out;
#endif
}

#if defined(BOUNCER_TARGET_AVX512)
// The words of a line in one register. A vector type, not __m512i: see lines_avx512.inl.
typedef std::uint64_t eight_words __attribute__((vector_size(64), may_alias));

// 64 aligned bytes: a line.
BOUNCER_INLINE eight_words load_whole_line(const std::uint64_t* at) noexcept {
#if defined(BOUNCER_LOAD_BY_WORD)
    const auto word = [at](std::size_t i) __attribute__((always_inline)) {
        return __atomic_load_n(at + i, __ATOMIC_RELAXED);
    };
    return eight_words{word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)};
#else
    eight_words out;
    asm volatile("vmovdqa64 %1, %0" : "=v"(out) : "m"(*reinterpret_cast<const eight_words*>(at)));
    return out;
#endif
}
#endif
