#include "bouncer/detail/hot_publisher.h"

#include "base/descriptor.h"
#include "bouncer/detail/hot_record.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace bouncer::detail {
namespace {

// visit(address of a version, for adding, thread) for every entry in use.
template <class Visit>
void each_entry(Visit visit) {
    for (const hot_record* record = hot_records(); record != nullptr; record = record->next) {
        for (const auto& entry : record->entries) {
            // Acquire for what the holder did; sequentially consistent for the way without membarrier.
            const std::uintptr_t mark = entry.load(std::memory_order_seq_cst);
            if (mark != 0)
                visit(mark & ~std::uintptr_t{1}, (mark & 1) != 0,
                      record->thread_id.load(std::memory_order_relaxed));
        }
    }
}

} // namespace

hot_publisher::hot_publisher(hot_publisher&& other) noexcept
    : current_(other.current_.exchange(nullptr, std::memory_order_acq_rel)),
      retired_(std::exchange(other.retired_, nullptr)) {}

hot_publisher::~hot_publisher() {
    if (current_.load(std::memory_order_relaxed) == nullptr) return;
    {
        const auto held = lock();
        publish(nullptr);
    }
    reclaim();
}

void hot_publisher::publish(hot_version* next) noexcept {
    hot_version* const old = current_.exchange(next, std::memory_order_seq_cst);
    old->retired_at_ = std::chrono::steady_clock::now();
    old->next_ = retired_;
    retired_ = old;
}

// Under the lock: finds out which retired versions are in use.
int hot_publisher::scan() noexcept {
    if (retired_ == nullptr) return 0;
    int refused = 0;
    if (!retired_->barrier_done_) { // the newest is first
        refused = hot_barrier();
        for (hot_version* each = retired_; each != nullptr && refused == 0; each = each->next_)
            each->barrier_done_ = true;
    }
    for (hot_version* each = retired_; each != nullptr; each = each->next_)
        each->read_ = each->written_ = !each->barrier_done_;
    each_entry([&](std::uintptr_t address, bool adds, std::uint32_t) {
        for (hot_version* each = retired_; each != nullptr; each = each->next_)
            if (reinterpret_cast<std::uintptr_t>(each) == address)
                (adds ? each->written_ : each->read_) = true;
    });
    return refused;
}

// Under the lock, after a scan: unlinks the versions that nobody holds.
hot_version* hot_publisher::take_free() noexcept {
    hot_version* free = nullptr;
    for (hot_version** link = &retired_; *link != nullptr;) {
        hot_version* const each = *link;
        if (each->read_ || each->written_) {
            link = &each->next_;
        } else {
            *link = each->next_;
            each->next_ = free;
            free = each;
        }
    }
    return free;
}

std::size_t hot_publisher::reclaim() noexcept {
    hot_version* free;
    {
        const auto held = lock();
        scan();
        free = take_free();
    }
    std::size_t count = 0;
    for (; free != nullptr; ++count) delete std::exchange(free, free->next_);
    return count;
}

std::size_t hot_publisher::retired() const noexcept {
    const auto held = lock();
    std::size_t count = 0;
    for (const hot_version* each = retired_; each != nullptr; each = each->next_) ++count;
    return count;
}

bool hot_publisher::wait_for_readers(std::chrono::nanoseconds at_most) noexcept {
    const auto began = std::chrono::steady_clock::now();
    for (hot_backoff backoff;; backoff.pause()) {
        reclaim();
        {
            const auto held = lock();
            if (retired_ == nullptr) return true;
            if (!retired_->barrier_done_ && hot_barrier() != 0) return false;
        }
        if (std::chrono::steady_clock::now() - began >= at_most) return false;
    }
}

result<bool> hot_publisher::older_adds_ended(std::uint64_t shadow) {
    const auto held = lock();
    if (const int refused = scan(); refused != 0)
        return failure{error_code::io, "the system refuses membarrier: " + error_text(refused)};
    for (const hot_version* each = retired_; each != nullptr; each = each->next_)
        if (each->shadow_id != shadow && each->written_) return false;
    return true;
}

std::vector<hot_holder> hot_publisher::holders(std::chrono::nanoseconds older_than) const {
    const auto now = std::chrono::steady_clock::now();
    std::vector<hot_holder> found;
    const auto held = lock();
    each_entry([&](std::uintptr_t address, bool, std::uint32_t thread_id) {
        for (const hot_version* each = retired_; each != nullptr; each = each->next_)
            if (reinterpret_cast<std::uintptr_t>(each) == address && now - each->retired_at_ >= older_than)
                found.push_back({thread_id, now - each->retired_at_});
    });
    return found;
}

void hot_backoff::pause() noexcept {
    if (++rounds_ <= 32) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000u, 20 * (rounds_ - 32))));
    }
}

} // namespace bouncer::detail
