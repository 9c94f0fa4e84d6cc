// Work cut into parts, a thread for each.
#pragma once

#include <concepts>
#include <cstddef>

namespace bouncer::detail {

// [any-thread] 0 asks for a thread per core, and fewer when there is little to do; other numbers are taken as they
// are, up to 256.
unsigned thread_count(unsigned asked, std::size_t items) noexcept;

// A reference to something callable as work(part, parts), so that the threads are compiled once, not for every caller.
class part_of_work {
  public:
    template <class Work>
    requires(!std::same_as<Work, part_of_work>) part_of_work(Work& work)
    noexcept
        : work_(&work), call_([](void* called, unsigned part, unsigned parts) {
              (*static_cast<Work*>(called))(part, parts);
          }) {}
    void operator()(unsigned part, unsigned parts) const { call_(work_, part, parts); }

  private:
    void* work_;
    void (*call_)(void*, unsigned, unsigned);
};

// [any-thread] Calls work(part, parts) for every part, each on a thread of its own, and waits. A part whose thread
// cannot be started runs on the calling thread: the work is always done. `work` must not throw.
void run_parallel(unsigned parts, part_of_work work);
template <class Work>
void run_parallel(unsigned parts, Work&& work) {
    run_parallel(parts, part_of_work(work));
}

} // namespace bouncer::detail
