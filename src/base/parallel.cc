#include <bouncer/detail/parallel.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace bouncer::detail {

unsigned thread_count(unsigned asked, std::size_t items) noexcept {
    constexpr std::size_t items_worth_a_thread = 4096; // about 50 us of work, what starting a thread costs
    if (asked != 0) return std::min(asked, 256u);
    const std::size_t useful = items / items_worth_a_thread + 1;
    return static_cast<unsigned>(
        std::min<std::size_t>(useful, std::max(1u, std::thread::hardware_concurrency())));
}

void run_parallel(unsigned parts, part_of_work work) {
    std::vector<std::jthread> threads;
    unsigned part = 1;
    try {
        threads.reserve(parts);
        for (; part < parts; ++part) threads.emplace_back([work, part, parts] { work(part, parts); });
    } catch (const std::exception&) {
        for (; part < parts; ++part) work(part, parts);
    }
    work(0, parts);
}

} // namespace bouncer::detail
