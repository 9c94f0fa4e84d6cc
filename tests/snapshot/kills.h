// How often the kill tests kill, and when.
#pragma once

#include "support/random_hashes.h"
#include "support/statistics.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace bouncer::test {

// BOUNCER_TEST_KILLS, for long runs (scripts/soak-shared); else some hundreds, fewer in slow builds.
inline std::uint64_t kill_count(std::uint64_t usual) {
    if (const char* const wanted = std::getenv("BOUNCER_TEST_KILLS"); wanted != nullptr)
        return std::strtoull(wanted, nullptr, 10);
    return std::max<std::uint64_t>(20, scaled(usual));
}

// Sleeps for anything up to `most` microseconds.
inline void random_pause(std::uint64_t round, std::uint64_t most) {
    ::usleep(static_cast<useconds_t>(random_hash(99, round) % most));
}

} // namespace bouncer::test
