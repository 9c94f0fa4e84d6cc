// How a filter reaches its 64-bit words: a type parameter of the filter, not a flag. One algorithm over plain_words
// is the single-threaded filter, over atomic_words the concurrent one, over const_words a read-only view.
#pragma once

#include <bouncer/region.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace bouncer {

namespace detail {

// What the three have in common: an owned (or borrowed) region, seen as words.
class words_base {
  public:
    static constexpr std::size_t words_per_line = 8;

    explicit words_base(region memory) noexcept : memory_(std::move(memory)) {
        data_ = static_cast<std::uint64_t*>(memory_.data());
    }
    words_base(words_base&& other) noexcept
        : memory_(std::move(other.memory_)), data_(std::exchange(other.data_, nullptr)) {}
    words_base& operator=(words_base&& other) noexcept {
        memory_ = std::move(other.memory_);
        data_ = std::exchange(other.data_, nullptr);
        return *this;
    }

    // [immutable]
    std::uint64_t size() const noexcept { return memory_.size_bytes() / sizeof(std::uint64_t); }

    // [immutable] The first word of the line that holds word i; 64-byte aligned.
    const std::uint64_t* line(std::uint64_t i) const noexcept {
        return data_ + i / words_per_line * words_per_line;
    }

    // [immutable]
    const region& memory() const noexcept { return memory_; }

    // [exclusive] For host-supplied memory: the host has copied the block to another place.
    void host_block_moved_to(void* block) noexcept {
        memory_.host_block_moved_to(block);
        data_ = static_cast<std::uint64_t*>(memory_.data());
    }

  protected:
    std::uint64_t* address(std::uint64_t i) const noexcept { return data_ + i; }

  private:
    region memory_;
    std::uint64_t* data_ = nullptr;
};

} // namespace detail

// Ordinary memory accesses. [exclusive] for writers; any number of readers while nobody writes.
class plain_words : public detail::words_base {
  public:
    static constexpr bool writable = true;
    static constexpr bool concurrent = false;
    using words_base::words_base;

    // [any-thread] while nobody writes.
    template <std::memory_order = std::memory_order_relaxed>
    std::uint64_t load(std::uint64_t i) const noexcept {
        return *address(i);
    }
    // [exclusive] The same by address, for loops that must not read this object again between two writes.
    static std::uint64_t load_at(const std::uint64_t* at) noexcept { return *at; }
    static void or_at(std::uint64_t* at, std::uint64_t bits) noexcept { *at |= bits; }
    // [exclusive] This and all below.
    template <std::memory_order = std::memory_order_relaxed>
    std::uint64_t fetch_or(std::uint64_t i, std::uint64_t bits) noexcept {
        return std::exchange(*address(i), *address(i) | bits);
    }
    template <std::memory_order = std::memory_order_relaxed>
    std::uint64_t fetch_and(std::uint64_t i, std::uint64_t bits) noexcept {
        return std::exchange(*address(i), *address(i) & bits);
    }
    std::uint64_t fetch_add(std::uint64_t i, std::uint64_t n) noexcept {
        return std::exchange(*address(i), *address(i) + n);
    }
    bool compare_exchange(std::uint64_t i, std::uint64_t& expected, std::uint64_t desired) noexcept {
        const bool equal = *address(i) == expected;
        if (equal)
            *address(i) = desired;
        else
            expected = *address(i);
        return equal;
    }
    template <std::memory_order = std::memory_order_relaxed>
    void store(std::uint64_t i, std::uint64_t value) noexcept {
        *address(i) = value;
    }
};

// Atomic accesses, relaxed unless asked otherwise. [any-thread]. A fetch_or whose result is not used compiles to one
// `lock or` on x86-64 (wait-free); a used result to a compare-exchange loop.
class atomic_words : public detail::words_base {
  public:
    static constexpr bool writable = true;
    static constexpr bool concurrent = true;
    using words_base::words_base;

    // [any-thread] This and all below.
    template <std::memory_order Order = std::memory_order_relaxed>
    std::uint64_t load(std::uint64_t i) const noexcept {
        return at(i).load(Order);
    }
    // The same by address, for loops that must not read this object again between two writes: on x86-64 a load waits
    // for the locked instruction before it.
    static std::uint64_t load_at(const std::uint64_t* at) noexcept {
        return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(at))
            .load(std::memory_order_relaxed);
    }
    static void or_at(std::uint64_t* at, std::uint64_t bits) noexcept {
        std::atomic_ref<std::uint64_t>(*at).fetch_or(bits, std::memory_order_relaxed);
    }
    template <std::memory_order Order = std::memory_order_relaxed>
    std::uint64_t fetch_or(std::uint64_t i, std::uint64_t bits) noexcept {
        return at(i).fetch_or(bits, Order);
    }
    template <std::memory_order Order = std::memory_order_relaxed>
    std::uint64_t fetch_and(std::uint64_t i, std::uint64_t bits) noexcept {
        return at(i).fetch_and(bits, Order);
    }
    std::uint64_t fetch_add(std::uint64_t i, std::uint64_t n) noexcept {
        return at(i).fetch_add(n, std::memory_order_relaxed);
    }
    bool compare_exchange(std::uint64_t i, std::uint64_t& expected, std::uint64_t desired) noexcept {
        return at(i).compare_exchange_strong(expected, desired, std::memory_order_relaxed);
    }
    template <std::memory_order Order = std::memory_order_relaxed>
    void store(std::uint64_t i, std::uint64_t value) noexcept {
        at(i).store(value, Order);
    }

  private:
    std::atomic_ref<std::uint64_t> at(std::uint64_t i) const noexcept {
        return std::atomic_ref<std::uint64_t>(*address(i));
    }
};

// Read-only. Loads are relaxed atomic ones, because the words may belong to a filter that others add to (a view, or
// a file mapped by several processes); on every 64-bit machine they cost what plain loads cost.
class const_words : public detail::words_base {
  public:
    static constexpr bool writable = false;
    static constexpr bool concurrent = true;
    using words_base::words_base;

    // [any-thread]
    template <std::memory_order Order = std::memory_order_relaxed>
    std::uint64_t load(std::uint64_t i) const noexcept {
        return std::atomic_ref<std::uint64_t>(*address(i)).load(Order);
    }
    static std::uint64_t load_at(const std::uint64_t* at) noexcept { return atomic_words::load_at(at); }
};

// What a filter asks of its words.
template <class W>
concept readable_words = requires(const W& words, std::uint64_t i) {
    { words.size() } -> std::same_as<std::uint64_t>;
    { words.load(i) } -> std::same_as<std::uint64_t>;
    { words.line(i) } -> std::same_as<const std::uint64_t*>;
    requires std::same_as<decltype(W::writable), const bool>;
};

template <class W>
concept writable_words = readable_words<W> && W::writable &&
    requires(W& words, std::uint64_t i, std::uint64_t bits) {
    { words.fetch_or(i, bits) } -> std::same_as<std::uint64_t>;
    words.store(i, bits);
};

} // namespace bouncer
