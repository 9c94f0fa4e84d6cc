#include "team.h"

#include "clock.h"

#include <atomic>
#include <thread>
#include <vector>

namespace bench {

double timed_team(unsigned threads, std::uint64_t operations, const std::function<void(unsigned)>& warm,
                  const std::function<void(unsigned)>& work) {
    std::vector<double> times(threads);
    std::atomic<unsigned> waiting{threads};
    const auto member = [&](unsigned thread) {
        warm(thread);
        waiting.fetch_sub(1);
        while (waiting.load() != 0)
            std::this_thread::yield(); // spins: a futex would wake them one after the other
        const stopwatch watch;
        work(thread);
        times[thread] = watch.elapsed_ns();
    };
    std::vector<std::thread> others;
    for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(member, thread);
    member(0);
    for (std::thread& other : others) other.join();

    double throughput = 0;
    for (const double time : times) throughput += static_cast<double>(operations) / time;
    return threads / throughput;
}

} // namespace bench
