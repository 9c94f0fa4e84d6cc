// Keys as real programs have them. Key i of a set is a function of i alone, and two indices never give the same key:
// add the first n, and every later index is an absent key of the same kind.
#pragma once

#include <bouncer/hash.h>

#include "support/random_hashes.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bouncer::test {

enum class key_set : std::uint8_t {
    random,     // 64 random bits
    sequential, // 0, 1, 2, ... as 64-bit integers
    uuids,      // version 4, as text of 36 characters
    urls,       // text that differs in the middle: "https://shop-17.example.com/item/123456/reviews?page=3"
    common_prefix, // text of 45 characters that differs in its last digits only
};

inline constexpr std::array all_key_sets{key_set::random, key_set::sequential, key_set::uuids, key_set::urls,
                                         key_set::common_prefix};

constexpr std::string_view name_of(key_set set) noexcept {
    switch (set) {
    case key_set::random: return "random";
    case key_set::sequential: return "sequential";
    case key_set::uuids: return "UUIDs";
    case key_set::urls: return "URLs";
    case key_set::common_prefix: return "common prefix";
    }
    return "unknown";
}

namespace detail {

// Text put together in place: a quarter of the time of snprintf.
class key_text {
  public:
    key_text& operator<<(std::string_view text) noexcept {
        used_ += text.copy(buffer_.data() + used_, buffer_.size() - used_);
        return *this;
    }
    key_text& operator<<(std::uint64_t number) noexcept {
        const auto end = std::to_chars(buffer_.data() + used_, buffer_.data() + buffer_.size(), number);
        used_ = static_cast<std::size_t>(end.ptr - buffer_.data());
        return *this;
    }
    // The last `digits` digits of a number in some base up to 16, zeros in front.
    key_text& digits(std::uint64_t number, std::size_t digits, unsigned base) noexcept {
        for (std::size_t at = used_ + digits; at-- > used_; number /= base)
            buffer_[at] = "0123456789abcdef"[number % base];
        used_ += digits;
        return *this;
    }
    std::string_view view() const noexcept { return {buffer_.data(), used_}; }

  private:
    std::array<char, 128> buffer_;
    std::size_t used_ = 0;
};

} // namespace detail

// use(key) with key i of the set: a std::uint64_t or a std::string_view.
template <class Use>
auto with_key(key_set set, std::uint64_t i, Use use) {
    detail::key_text text;
    switch (set) {
    case key_set::random: return use(random_hash(71, i));
    case key_set::sequential: return use(i);
    case key_set::uuids: {
        const std::uint64_t high = random_hash(72, i);
        const std::uint64_t low = random_hash(73, i);
        text.digits(high >> 32, 8, 16) << "-";
        text.digits(high >> 16, 4, 16) << "-4";
        text.digits(high, 3, 16) << "-";
        text.digits(8 + (low >> 62), 1, 16).digits(low >> 48, 3, 16) << "-";
        return use(text.digits(low, 12, 16).view());
    }
    case key_set::urls: {
        static constexpr std::array<std::string_view, 4> sections{"item", "user", "search/results", "tag"};
        text << "https://shop-" << i % 64 << ".example.com/" << sections[i / 64 % 4] << "/" << i;
        text << "/reviews?page=" << i % 7;
        return use(text.view());
    }
    case key_set::common_prefix: break;
    }
    text << "tenant/0000000000000042/session/user:";
    return use(text.digits(i, 8, 10).view());
}

// hash_key of the keys first .. first + count - 1 of a set.
template <class Hasher>
std::vector<std::uint64_t> hashes_of(const Hasher& hasher, key_set set, std::uint64_t first,
                                     std::size_t count) {
    std::vector<std::uint64_t> out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i] = with_key(set, first + i, [&](const auto& key) { return hash_key(hasher, key); });
    return out;
}

} // namespace bouncer::test
