// Reproducible 64-bit hashes, as a good hash of distinct keys gives them.
#pragma once

#include <bouncer/detail/bits.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bouncer::test {

// Bijective in (stream, i) for streams below 2^20 and i below 2^44: no two are equal.
constexpr std::uint64_t random_hash(std::uint64_t stream, std::uint64_t i) {
    return detail::mix64(((stream << 44) + i + 1) * 0x9e3779b97f4a7c15u);
}

inline std::vector<std::uint64_t> random_hashes(std::size_t count, std::uint64_t stream,
                                                std::uint64_t first = 0) {
    std::vector<std::uint64_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = random_hash(stream, first + i);
    return out;
}

// Hashes with long runs of equal bits: the ends of every range.
inline std::vector<std::uint64_t> extreme_hashes() {
    std::vector<std::uint64_t> out{0,           ~std::uint64_t{0},  0xaaaaaaaaaaaaaaaau, 0x5555555555555555u,
                                   0xffffffffu, 0xffffffff00000000u};
    for (unsigned bit = 0; bit < 64; ++bit) {
        out.push_back(std::uint64_t{1} << bit);
        out.push_back(~(std::uint64_t{1} << bit));
        out.push_back((std::uint64_t{1} << bit) - 1);
    }
    return out;
}

// A span of bool with as many elements as wanted; std::vector<bool> has none.
class answers {
  public:
    explicit answers(std::size_t count, bool value = false)
        : count_(count), data_(std::make_unique<bool[]>(count + 1)) {
        for (std::size_t i = 0; i < count; ++i) data_[i] = value;
    }
    std::span<bool> span() { return {data_.get(), count_}; }
    bool operator[](std::size_t i) const { return data_[i]; }

  private:
    std::size_t count_;
    std::unique_ptr<bool[]> data_;
};

} // namespace bouncer::test
