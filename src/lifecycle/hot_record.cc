#include "bouncer/detail/hot_record.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>

namespace bouncer::detail {

namespace {

// Its first entry is never free, and nobody scans it.
constinit hot_record no_record{.entries = {hot_out_of_line}};

} // namespace

constinit thread_local hot_record* this_thread_hot_record = &no_record;

namespace {

constinit std::atomic<hot_record*> registry{nullptr};

// Gives a thread's records back. A key and not a thread_local object: its destructor runs after those of thread_local
// objects, and again if another key's destructor still asks a filter.
void leave_records(void*) noexcept {
    if (this_thread_hot_record == &no_record) return;
    hot_record* record = this_thread_hot_record;
    this_thread_hot_record = &no_record;
    while (record != nullptr) {
        hot_record* const more = record->more;
        record->more = nullptr;
        record->thread_id.store(0, std::memory_order_release);
        record = more;
    }
}

// Without a key (there are 1024 in a process) the records of threads that ended are not used again.
class thread_end_key {
  public:
    thread_end_key() noexcept : made_(::pthread_key_create(&key_, leave_records) == 0) {}
    ~thread_end_key() {
        if (made_) ::pthread_key_delete(key_); // no call into a library that was unloaded
    }
    void watch_this_thread() noexcept {
        if (made_) ::pthread_setspecific(key_, &registry);
    }

  private:
    pthread_key_t key_ = 0;
    bool made_;
};

int membarrier(int command) noexcept {
    return ::syscall(SYS_membarrier, command, 0u, 0) == 0 ? 0 : errno;
}

bool decide_membarrier() noexcept {
    const char* const wish = std::getenv("BOUNCER_MEMBARRIER");
    if (wish != nullptr && std::string_view(wish) == "off") return false;
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

hot_record* take_record() noexcept {
    static thread_end_key key;
    key.watch_this_thread();
    const auto thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    for (hot_record* record = hot_records(); record != nullptr; record = record->next) {
        std::uint32_t nobody = 0;
        if (record->thread_id.load(std::memory_order_relaxed) == 0 &&
            record->thread_id.compare_exchange_strong(nobody, thread_id, std::memory_order_acquire,
                                                      std::memory_order_relaxed))
            return record;
    }
    hot_record* made;
    while ((made = new (std::nothrow) hot_record) == nullptr) std::this_thread::yield();
    made->thread_id.store(thread_id, std::memory_order_relaxed);
    if (!hot_uses_membarrier()) made->entries[0].store(hot_out_of_line, std::memory_order_relaxed);
    made->next = registry.load(std::memory_order_relaxed);
    while (!registry.compare_exchange_weak(made->next, made, std::memory_order_seq_cst,
                                           std::memory_order_relaxed)) {
    }
    return made;
}

std::atomic<std::uintptr_t>& free_entry() noexcept {
    if (this_thread_hot_record == &no_record) this_thread_hot_record = take_record();
    for (hot_record* record = this_thread_hot_record;; record = record->more) {
        // An entry may be taken from before: by a handle that outlived the thread it was made in.
        for (auto& entry : record->entries)
            if (entry.load(std::memory_order_relaxed) == 0) return entry;
        if (record->more == nullptr) record->more = take_record();
    }
}

} // namespace

// The argument is in hot_guard.h.
hot_hold hold_out_of_line(const std::atomic<hot_version*>& current, std::uintptr_t use) noexcept {
    auto& entry = free_entry();
    const bool exchange = !hot_uses_membarrier();
    hot_version* seen = current.load(std::memory_order_acquire);
    for (;;) {
        const std::uintptr_t mark = reinterpret_cast<std::uintptr_t>(seen) | use;
        if (exchange)
            entry.exchange(mark, std::memory_order_seq_cst);
        else
            entry.store(mark, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        hot_version* const again = current.load(std::memory_order_seq_cst);
        if (again == seen) return {&entry, seen};
        seen = again;
    }
}

// Sequentially consistent, as the push: without membarrier a reader whose record this misses pushed it, and so marked
// its entry, after the writer's exchange.
hot_record* hot_records() noexcept {
    return registry.load(std::memory_order_seq_cst);
}

bool hot_uses_membarrier() noexcept {
    static const bool yes = decide_membarrier();
    return yes;
}

int hot_barrier() noexcept {
    if (!hot_uses_membarrier()) return 0;
    const int refused = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    if (refused != EPERM) return refused;
    // Not registered: nothing says that a child process inherits it.
    if (const int again = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); again != 0) return again;
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

} // namespace bouncer::detail
