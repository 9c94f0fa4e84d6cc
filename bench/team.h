// Threads that start together.
#pragma once

#include <cstdint>
#include <functional>

namespace bench {

// work(thread) does `operations` on each thread; warm(thread) runs before, untimed. Returns ns per operation as
//     threads / sum over threads of (operations / time of that thread),
// so that two threads that do not disturb each other have the ns of one, and `threads / ns` is the throughput.
double timed_team(unsigned threads, std::uint64_t operations, const std::function<void(unsigned)>& warm,
                  const std::function<void(unsigned)>& work);

} // namespace bench
