// The filter that texts on Bloom filters show: one flat array of atomic words, two FNV-1a hashes of the key's bytes combined
// to k positions by double hashing, `% m`, a fetch_or per bit, and an early exit in queries. The texts hash once and take
// the two halves: that saves 4.5 ns of 24 in a query, and nearly nothing in an add (docs/benchmarks.md).
// What it costs: a multiply per byte of the key (twice), k divisions, and up to k cache lines.
#pragma once

#include "page_memory.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace bench {

// [immutable] FNV-1a, 64 bits; the second hash starts from another basis.
inline constexpr std::uint64_t fnv_basis = 0xcbf29ce484222325u;
inline constexpr std::uint64_t fnv_second_basis = 0x84222325cbf29ce4u;

inline std::uint64_t text_fnv1a(std::string_view bytes, std::uint64_t basis) noexcept {
    std::uint64_t hash = basis;
    for (const char byte : bytes) {
        hash ^= static_cast<unsigned char>(byte);
        hash *= 0x100000001b3u;
    }
    return hash;
}

// m = -n ln p / ln(2)^2 and k = m/n ln 2: the formulas of the texts. m is made odd, which most texts do not say: the low
// bits of two FNV-1a hashes that differ in the basis only are nearly the same bits, and `% m` of a round number keeps
// them. 10 bits for each of 1M keys gave 4 % of false positives instead of 0.8 %.
struct text_size {
    std::uint64_t bits = 0;
    std::uint32_t k = 0;

    static text_size of(std::uint64_t keys, double bits_per_key) {
        const double bits = std::ceil(static_cast<double>(keys) * bits_per_key);
        return {.bits = static_cast<std::uint64_t>(std::max(64.0, bits)) | 1,
                .k = static_cast<std::uint32_t>(std::max(1.0, std::round(bits_per_key * std::numbers::ln2)))};
    }
    static text_size for_rate(std::uint64_t keys, double rate) {
        return of(keys, -std::log(rate) / (std::numbers::ln2 * std::numbers::ln2));
    }
};

// Thread safety: has and put from any thread; clear alone.
class text_bloom {
  public:
    explicit text_bloom(text_size size, page_size pages = page_size::small)
        : size_(size), memory_((size.bits + 63) / 64 * 8, pages) {}

    // m, k and the address in locals: what is read from the object inside the loop is read again after each atomic
    // write, and waits for it. Texts do not do this; it took an add on a Zen 3 from 62 to 29 ns.
    void put(std::string_view key) noexcept {
        const std::uint64_t first = text_fnv1a(key, fnv_basis);
        const std::uint64_t second = text_fnv1a(key, fnv_second_basis);
        const auto [bits, k] = size_;
        std::uint64_t* const words = data();
        for (std::uint32_t i = 0; i < k; ++i) {
            const std::uint64_t position = (first + i * second) % bits;
            std::atomic_ref(words[position / 64])
                .fetch_or(std::uint64_t{1} << (position % 64), std::memory_order_relaxed);
        }
    }

    bool has(std::string_view key) const noexcept {
        const std::uint64_t first = text_fnv1a(key, fnv_basis);
        const std::uint64_t second = text_fnv1a(key, fnv_second_basis);
        for (std::uint32_t i = 0; i < size_.k; ++i)
            if (!has_position((first + i * second) % size_.bits)) return false;
        return true;
    }

    // The bits alone, for variants that hash in another way.
    void put_position(std::uint64_t position) noexcept {
        word(position).fetch_or(std::uint64_t{1} << (position % 64), std::memory_order_relaxed);
    }
    bool has_position(std::uint64_t position) const noexcept {
        return (word(position).load(std::memory_order_relaxed) >> (position % 64) & 1) != 0;
    }

    void clear() noexcept { memory_.clear(); }
    text_size size() const noexcept { return size_; }
    std::uint64_t size_bytes() const noexcept { return memory_.size_bytes(); }

  private:
    std::uint64_t* data() const noexcept { return reinterpret_cast<std::uint64_t*>(memory_.data()); }
    std::atomic_ref<std::uint64_t> word(std::uint64_t position) const noexcept {
        return std::atomic_ref(data()[position / 64]);
    }

    text_size size_;
    page_memory memory_;
};

} // namespace bench
