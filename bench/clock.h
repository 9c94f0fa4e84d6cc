// What time is counted. A chunk costs the CPU time of its thread: other programs on the machine then only disturb the
// caches. A thread that went to sleep of its own will (a mutex) pays the wall clock instead, because CPU time would
// hide the wait, and with it the whole cost of a lock.
#pragma once

#include <cstdint>
#include <ctime>
#include <sys/resource.h>

namespace bench {

inline double clock_ns(clockid_t id) {
    timespec t{};
    clock_gettime(id, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

inline double wall_ns() {
    return clock_ns(CLOCK_MONOTONIC);
}
// Of all threads, also those that have ended.
inline double process_cpu_ns() {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

// Of the thread that made it. The calls cost about a microsecond: for chunks, not for single operations.
class stopwatch {
  public:
    stopwatch() : sleeps_(sleeps()), wall_(wall_ns()), cpu_(clock_ns(CLOCK_THREAD_CPUTIME_ID)) {}

    double elapsed_ns() const {
        const double cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_;
        const double wall = wall_ns() - wall_;
        return sleeps() == sleeps_ ? cpu : wall;
    }

  private:
    static long sleeps() {
        rusage used{};
        getrusage(RUSAGE_THREAD, &used);
        return used.ru_nvcsw;
    }

    long sleeps_;
    double wall_;
    double cpu_;
};

} // namespace bench
