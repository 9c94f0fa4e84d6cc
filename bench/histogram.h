// A log-linear histogram of durations: 32 linear steps in each power of two, so a percentile is at most 1/32 too high,
// in 15 KB for everything from 1 ns to centuries. Recording is a shift and an increment.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace bench {

class histogram {
  public:
    void record(std::uint64_t value) {
        ++counts_[slot_of(value)];
        ++total_;
    }
    void merge(const histogram& other) {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
        total_ += other.total_;
    }

    std::uint64_t total() const { return total_; }

    // The least value with at least `fraction` of all values at or below it, rounded up to its slot's end.
    std::uint64_t percentile(double fraction) const {
        const double wanted = fraction * static_cast<double>(total_);
        std::uint64_t seen = 0;
        for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
            seen += counts_[slot];
            if (seen > 0 && static_cast<double>(seen) >= wanted) return last_of(slot);
        }
        return 0;
    }

    static constexpr std::size_t slot_of(std::uint64_t value) {
        if (value < steps) return static_cast<std::size_t>(value);
        const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - step_bits - 1;
        return shift * steps + static_cast<std::size_t>(value >> shift);
    }
    static constexpr std::uint64_t last_of(std::size_t slot) {
        if (slot < 2 * steps) return slot;
        const std::size_t shift = slot / steps - 1;
        const std::uint64_t first = (slot - shift * steps) << shift;
        return first + ((std::uint64_t{1} << shift) - 1);
    }

  private:
    static constexpr unsigned step_bits = 5;
    static constexpr std::size_t steps = std::size_t{1} << step_bits;

    std::array<std::uint64_t, (64 - step_bits + 1) * steps> counts_{};
    std::uint64_t total_ = 0;
};

} // namespace bench
