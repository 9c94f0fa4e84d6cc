// A filter that knows when it is used after its end, and how many of its kind are alive.
#pragma once

#include <bouncer/hash.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bouncer::test {

class poisoned {
  public:
    static inline std::atomic<int> alive{0};
    static inline std::atomic<int> used_dead{0};

    explicit poisoned(std::uint64_t value) : value_(value) { ++alive; }
    poisoned(poisoned&& other) noexcept : value_(other.value_) {
        ++alive;
        other.die();
    }
    ~poisoned() { die(); }

    bool may_contain(std::uint64_t hash) const noexcept { return check() && hash == value_; }
    std::size_t may_contain(std::span<const std::uint64_t>, std::span<bool>) const noexcept { return 0; }
    bool add(std::uint64_t) noexcept { return check(); }
    std::uint64_t value() const noexcept { return check() ? value_ : 0; }
    std::uint64_t size_bytes() const noexcept { return 8; }
    hash_spec hash() const noexcept { return {}; }

  private:
    static constexpr std::uint64_t living = 0x11fe;
    static constexpr std::uint64_t dead = 0xdead;

    // What was moved from is dead too.
    void die() noexcept {
        if (state_.exchange(dead, std::memory_order_relaxed) == living) --alive;
    }

    bool check() const noexcept {
        if (state_.load(std::memory_order_relaxed) == living) return true;
        ++used_dead;
        return false;
    }

    std::atomic<std::uint64_t> state_{living};
    std::uint64_t value_;
};

} // namespace bouncer::test
