// Work cut into parts, a thread for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace bouncer::detail {

// [any-thread] 0 asks for a thread per core, and fewer when there is little to do; other numbers are taken as they
// are, up to 256.
inline unsigned thread_count(unsigned asked, std::size_t items) noexcept {
    constexpr std::size_t items_worth_a_thread = 4096; // about 50 us of work, what starting a thread costs
    if (asked != 0) return std::min(asked, 256u);
    const std::size_t useful = items / items_worth_a_thread + 1;
    return static_cast<unsigned>(
        std::min<std::size_t>(useful, std::max(1u, std::thread::hardware_concurrency())));
}

// [any-thread] Calls work(part, parts) for every part, each on a thread of its own, and waits. A part whose thread
// cannot be started runs on the calling thread: the work is always done. `work` must not throw.
template <class Work>
void run_parallel(unsigned parts, Work work) {
    std::vector<std::jthread> threads;
    unsigned part = 1;
    try {
        threads.reserve(parts);
        for (; part < parts; ++part) threads.emplace_back([&work, part, parts] { work(part, parts); });
    } catch (const std::exception&) {
        for (; part < parts; ++part) work(part, parts);
    }
    work(0, parts);
}

} // namespace bouncer::detail
