// Words that note which cache lines are touched: a filter over them proves how many memory accesses a query costs.
#pragma once

#include <bouncer/words.h>

#include <cstdint>
#include <set>
#include <utility>

namespace bouncer::test {

struct access_log {
    std::set<std::uintptr_t> lines; // touched by loads and stores, as address / 64
    std::uint64_t loads = 0;
    std::uint64_t writes = 0;
};

// The log is one for all filters over the same words, so one filter at a time. Concurrent: a filter may treat its words
// otherwise then. No filter goes around these words to their memory.
template <bool Concurrent>
struct counting_words {
    static constexpr bool writable = true;
    static constexpr bool concurrent = Concurrent;
    static constexpr bool in_memory = false;

    static inline access_log log;

    static std::uint64_t load(const std::uint64_t* at) noexcept {
        ++log.loads;
        log.lines.insert(reinterpret_cast<std::uintptr_t>(at) / 64);
        return *at;
    }
    static std::uint64_t fetch_or(std::uint64_t* at, std::uint64_t bits) noexcept {
        ++log.writes;
        log.lines.insert(reinterpret_cast<std::uintptr_t>(at) / 64);
        return std::exchange(*at, *at | bits);
    }
    static void set_bits(std::uint64_t* at, std::uint64_t bits) noexcept { fetch_or(at, bits); }
    static bool compare_exchange(std::uint64_t* at, std::uint64_t& expected, std::uint64_t desired) noexcept {
        const std::uint64_t found = load(at);
        if (found == expected) fetch_or(at, desired); // bits only go from 0 to 1
        return std::exchange(expected, found) == found;
    }
    static void store(std::uint64_t* at, std::uint64_t value) noexcept {
        *at = value;
    } // by clear(): not logged
};

static_assert(writable_words<counting_words<true>>);

} // namespace bouncer::test
