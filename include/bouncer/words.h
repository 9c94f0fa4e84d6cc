// How a filter reaches its 64-bit words: a type parameter of the filter, not a flag. One algorithm over plain_words
// is the single-threaded filter, over atomic_words the concurrent one, over const_words a read-only view. They have no
// state: the filter owns the memory (a region), and these say how one word of it is read and written.
#pragma once

#include <bouncer/region.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <utility>

namespace bouncer {

// Read-only. Loads are relaxed atomic ones, because the words may belong to a filter that others add to (a view, or
// a file mapped by several processes); on every 64-bit machine they cost what plain loads cost.
struct const_words {
    static constexpr bool writable = false;
    static constexpr bool concurrent = true;
    // SIMD kernels may read (and write) these words beside the functions here. False for words that must see each access.
    static constexpr bool in_memory = true;

    // [any-thread]
    template <std::memory_order Order = std::memory_order_relaxed>
    static std::uint64_t load(const std::uint64_t* at) noexcept {
        return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(at)).load(Order);
    }
};

// Ordinary memory accesses. [exclusive] for writers; any number of readers while nobody writes.
struct plain_words {
    static constexpr bool writable = true;
    static constexpr bool concurrent = false;
    static constexpr bool in_memory = true;

    // [any-thread] while nobody writes.
    template <std::memory_order = std::memory_order_relaxed>
    static std::uint64_t load(const std::uint64_t* at) noexcept {
        return *at;
    }
    // [exclusive] This and all below.
    template <std::memory_order = std::memory_order_relaxed>
    static void store(std::uint64_t* at, std::uint64_t value) noexcept {
        *at = value;
    }
    static void set_bits(std::uint64_t* at, std::uint64_t bits) noexcept { *at |= bits; }
    template <std::memory_order = std::memory_order_relaxed>
    static std::uint64_t fetch_or(std::uint64_t* at, std::uint64_t bits) noexcept {
        return std::exchange(*at, *at | bits);
    }
    template <std::memory_order = std::memory_order_relaxed>
    static std::uint64_t fetch_and(std::uint64_t* at, std::uint64_t bits) noexcept {
        return std::exchange(*at, *at & bits);
    }
    static std::uint64_t fetch_add(std::uint64_t* at, std::uint64_t n) noexcept {
        return std::exchange(*at, *at + n);
    }
    static bool compare_exchange(std::uint64_t* at, std::uint64_t& expected, std::uint64_t desired) noexcept {
        const bool equal = *at == expected;
        if (equal)
            *at = desired;
        else
            expected = *at;
        return equal;
    }
};

// Atomic accesses, relaxed unless asked otherwise. [any-thread]. A fetch_or whose result is not used (set_bits) compiles to
// one `lock or` on x86-64 (wait-free); a used result to a compare-exchange loop.
struct atomic_words {
    static constexpr bool writable = true;
    static constexpr bool concurrent = true;
    static constexpr bool in_memory = true;

    // [any-thread] This and all below.
    template <std::memory_order Order = std::memory_order_relaxed>
    static std::uint64_t load(const std::uint64_t* at) noexcept {
        return const_words::load<Order>(at);
    }
    template <std::memory_order Order = std::memory_order_relaxed>
    static void store(std::uint64_t* at, std::uint64_t value) noexcept {
        std::atomic_ref<std::uint64_t>(*at).store(value, Order);
    }
    static void set_bits(std::uint64_t* at, std::uint64_t bits) noexcept {
        std::atomic_ref<std::uint64_t>(*at).fetch_or(bits, std::memory_order_relaxed);
    }
    template <std::memory_order Order = std::memory_order_relaxed>
    static std::uint64_t fetch_or(std::uint64_t* at, std::uint64_t bits) noexcept {
        return std::atomic_ref<std::uint64_t>(*at).fetch_or(bits, Order);
    }
    template <std::memory_order Order = std::memory_order_relaxed>
    static std::uint64_t fetch_and(std::uint64_t* at, std::uint64_t bits) noexcept {
        return std::atomic_ref<std::uint64_t>(*at).fetch_and(bits, Order);
    }
    static std::uint64_t fetch_add(std::uint64_t* at, std::uint64_t n) noexcept {
        return std::atomic_ref<std::uint64_t>(*at).fetch_add(n, std::memory_order_relaxed);
    }
    static bool compare_exchange(std::uint64_t* at, std::uint64_t& expected, std::uint64_t desired) noexcept {
        return std::atomic_ref<std::uint64_t>(*at).compare_exchange_strong(expected, desired,
                                                                           std::memory_order_relaxed);
    }
};

// What a filter asks of its words.
template <class W>
concept readable_words = requires(const std::uint64_t* at) {
    { W::load(at) } -> std::same_as<std::uint64_t>;
    requires std::same_as<decltype(W::writable), const bool>;
    requires std::same_as<decltype(W::concurrent), const bool>;
    requires std::same_as<decltype(W::in_memory), const bool>;
};

template <class W>
concept writable_words = readable_words<W> && W::writable && requires(std::uint64_t* at, std::uint64_t bits) {
    { W::fetch_or(at, bits) } -> std::same_as<std::uint64_t>;
    W::set_bits(at, bits);
    W::store(at, bits);
};

} // namespace bouncer
