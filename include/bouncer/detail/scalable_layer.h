// One layer of a chain: a filter, how many adds changed it, and what it was made for.
#pragma once

#include <bouncer/detail/scalable_plan.h>
#include <bouncer/detail/striped_counter.h>
#include <bouncer/result.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace bouncer::detail {

// The adds that changed a layer, counted so that hardly any of them has to look at the whole count.
//
// Thread safety: add_one, add and total are [any-thread]; the rest is [exclusive].
//   1. add_one asks its caller to look when the thread's own stripe passes one of 128 marks per stripe, spread over
//      the capacity. Between two looks every stripe may gain less than capacity / (128 stripes), so the count passes
//      the capacity unseen by less than 1/128 of it (by nothing in capacities below 128).
//   2. One of the marks is the capacity itself: a thread that is alone looks exactly there.
//   3. A stripe for every 8192 keys of capacity: small layers are filled too soon for contention to matter (7-23 ns an
//      add), and a look at 64 stripes is spread over at least 64 adds.
class shared_change_count {
  public:
    explicit shared_change_count(std::uint64_t capacity) noexcept
        : counter_(stripes_for(capacity)), mask_(spacing(capacity, counter_.size()) - 1),
          phase_(0 - capacity) {}

    // [any-thread] Nothing: the marks stay where they are.
    void look_at(std::uint64_t) noexcept {}
    // [any-thread] Returns whether the caller should look at total().
    bool add_one() noexcept { return ((counter_.fetch_add(1) + 1 + phase_) & mask_) == 0; }
    // [any-thread]
    void add(std::uint64_t n) noexcept { counter_.add(n); }
    // [any-thread] Every add that happens-before it, and perhaps some more.
    std::uint64_t total() const noexcept { return counter_.total(); }
    // [exclusive]
    void set(std::uint64_t count) noexcept {
        counter_.reset();
        counter_.add(count);
    }

  private:
    static std::uint32_t stripes_for(std::uint64_t capacity) noexcept {
        static const std::uint32_t here = striped_counter().size();
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(capacity / 8192, 1, here));
    }
    static std::uint64_t spacing(std::uint64_t capacity, std::uint32_t stripes) noexcept {
        return std::bit_floor(std::max<std::uint64_t>(1, capacity / (std::uint64_t{128} * stripes)));
    }

    striped_counter counter_;
    std::uint64_t mask_;
    std::uint64_t phase_;
};

// The same for one thread at a time: [exclusive]. Who has looked says when to look again.
class exclusive_change_count {
  public:
    explicit exclusive_change_count(std::uint64_t) noexcept {}
    void look_at(std::uint64_t count) noexcept { look_at_ = count; }
    bool add_one() noexcept { return ++count_ >= look_at_; }
    void add(std::uint64_t n) noexcept { count_ += n; }
    std::uint64_t total() const noexcept { return count_; }
    void set(std::uint64_t count) noexcept {
        count_ = count;
        look_at_ = 0;
    }

  private:
    std::uint64_t count_ = 0;
    std::uint64_t look_at_ = 0; // the first add looks
};

// What a layer knows of the one after it. Under way: the thread that made the layer is at it, for about 5 ms.
enum class successor_plan : std::uint8_t { none, under_way, known };

template <class F>
struct scalable_layer {
    using words = typename F::words_type;
    using change_count =
        std::conditional_t<words::writable && words::concurrent, shared_change_count, exclusive_change_count>;

    scalable_layer(F made, std::uint64_t keys, double promised, double left) noexcept
        : filter(std::move(made)), capacity(keys), rate(promised), remaining(left), changes(keys),
          attempt_at(first_attempt(keys)) {}
    ~scalable_layer() { delete refused.load(std::memory_order_relaxed); }
    scalable_layer(const scalable_layer&) = delete;
    scalable_layer& operator=(const scalable_layer&) = delete;

    // When the next layer is prepared. Small layers fill within the time that takes: half-way, where the memory hardly
    // counts; others at 31/32.
    static constexpr std::uint64_t small_most = 1'000'000;
    static std::uint64_t first_attempt(std::uint64_t keys) noexcept {
        return keys - (keys < small_most ? keys / 2 : keys / 32);
    }

    F filter;
    std::uint64_t capacity; // in changing adds
    double rate;            // promised at `capacity`
    // What later layers may spend; it means something for the newest layer and a parked one alone. A union that copies
    // layers takes from it, while nobody makes a layer.
    std::atomic<double> remaining;
    change_count changes;
    // The count at which the next layer is (or is again) prepared; later after each refusal.
    std::atomic<std::uint64_t> attempt_at;
    // Why there is no layer after this one: the first reason, written once.
    std::atomic<const failure*> refused{nullptr};
    std::atomic<error_code> refused_code{};
    // The parameters of the next layer, once the plan is known, and the budget that they are for: a union may have changed
    // it since. Written by the thread that made this layer, while the plan is under way; later by one that prepares the next
    // layer and lets no other do so for that moment.
    typename F::parameters successor{};
    layer_budget successor_budget{};
    std::atomic<successor_plan> plan{successor_plan::none};
};

} // namespace bouncer::detail
