// key_sketch: how many distinct hashes came by, within 1 %, in 128 KiB.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bouncer::tool {

// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) with Ertl's estimator (arXiv:1702.01284, algorithm 6), which needs
// no table of corrections: a standard error of 0.29 % for large sets, less for those below 100,000. So one set in 2,000 is
// counted more than 1 % wrong. A hash counts by its value: of a weak hash the distinct values, not the distinct keys.
// [exclusive]
class key_sketch {
  public:
    key_sketch() : ranks_(registers) {}
    void add(std::span<const std::uint64_t> hashes) noexcept;
    // As if its hashes had come here.
    void merge(const key_sketch& other) noexcept;
    double distinct() const;

  private:
    static constexpr unsigned index_bits = 17;
    static constexpr std::size_t registers = std::size_t{1} << index_bits;

    std::vector<std::uint8_t>
        ranks_; // the most zeros that a hash of this register began with, and one; 0: none came
};

} // namespace bouncer::tool
