// A filter that remembers in which step a key came, and calls back when it has rotated, once.
#pragma once

#include <bouncer/hash.h>
#include <bouncer/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>

namespace bouncer::test {

class stepping {
  public:
    static inline std::function<void()> when_rotated;

    bool may_contain(std::uint64_t hash) const noexcept { return steps_.contains(hash); }
    std::size_t may_contain(std::span<const std::uint64_t>, std::span<bool>) const noexcept { return 0; }
    bool add(std::uint64_t hash) noexcept {
        steps_[hash] = epoch_;
        return true;
    }
    result<void> rotate_to(std::uint64_t epoch) {
        if (epoch < epoch_) return failure{error_code::invalid_argument, "back"};
        const bool moved = epoch != epoch_;
        epoch_ = epoch;
        if (moved && when_rotated) std::exchange(when_rotated, nullptr)();
        return {};
    }
    std::uint64_t epoch() const noexcept { return epoch_; }
    std::uint64_t step_of(std::uint64_t hash) const { return steps_.at(hash); }
    std::uint64_t size_bytes() const noexcept { return 8; }
    hash_spec hash() const noexcept { return {}; }

  private:
    std::map<std::uint64_t, std::uint64_t> steps_;
    std::uint64_t epoch_ = 0;
};

} // namespace bouncer::test
