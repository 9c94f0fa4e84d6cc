// The fuzzer's bytes, read as numbers; when they run out, everything is zero.
#pragma once

#include <bouncer/detail/bits.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

namespace bouncer::fuzz {

// A law does not hold: libFuzzer keeps the input of a program that aborts.
[[noreturn]] inline void broken(const char* law) {
    std::fprintf(stderr, "broken law: %s\n", law);
    std::abort();
}

inline void law(bool holds, const char* text) {
    if (!holds) broken(text);
}

class input {
  public:
    input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

    bool empty() const { return left_.empty(); }
    std::span<const std::uint8_t> rest() const { return left_; }

    template <class T>
    T take() {
        T value{};
        const std::size_t count = std::min(sizeof value, left_.size());
        if (count != 0) std::memcpy(&value, left_.data(), count);
        left_ = left_.subspan(count);
        return value;
    }

    // In [0, range), from one byte.
    std::uint64_t below(std::uint64_t range) { return take<std::uint8_t>() % range; }

    // Any 64-bit number; small ones, powers of two and their neighbours more often.
    std::uint64_t number() {
        const auto form = take<std::uint8_t>();
        switch (form % 4) {
        case 0: return take<std::uint8_t>();
        case 1: return take<std::uint32_t>();
        case 2: return (std::uint64_t{1} << (form / 4)) + take<std::uint8_t>() % 3 - 1;
        default: return take<std::uint64_t>();
        }
    }

    // Any double at all; those between 0 and 1 more often.
    double real() {
        constexpr std::array special{0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::denorm_min(),
                                     std::numeric_limits<double>::min(),
                                     std::numeric_limits<double>::max(),
                                     std::numeric_limits<double>::epsilon(),
                                     1 - std::numeric_limits<double>::epsilon() / 2};
        const auto form = take<std::uint8_t>();
        if (form < 64) return special[form % special.size()];
        if (form < 128) return std::bit_cast<double>(take<std::uint64_t>());
        return (take<std::uint16_t>() + 1.0) / 65537.0 / static_cast<double>(std::uint64_t{1} << (form % 64));
    }

  private:
    std::span<const std::uint8_t> left_;
};

} // namespace bouncer::fuzz
