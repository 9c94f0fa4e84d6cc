// The keys of every measurement: 64-bit hashes made from counters by a bijection, so that present and absent ones
// cannot meet, and no two are alike.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace bench {

// Steele, Lea and Flood's splitmix64 of a counter: an odd multiple, then xor-shifts and odd multiples, each a
// bijection of 64 bits.
constexpr std::uint64_t scrambled(std::uint64_t counter) {
    std::uint64_t x = counter * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// The upper half of the product: a number below `range`, as filters pick their blocks.
constexpr std::uint64_t below(std::uint64_t hash, std::uint64_t range) {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<wide>(hash) * range) >> 64);
}

// Counters: present keys from 0, absent ones from 2^63; the two halves of the absent serve two purposes.
inline constexpr std::uint64_t first_absent = std::uint64_t{1} << 63;
inline constexpr std::uint64_t first_absent_of_pools = first_absent + (std::uint64_t{1} << 62);

void present_hashes(std::uint64_t first, std::span<std::uint64_t> out);
void absent_hashes(std::uint64_t first, std::span<std::uint64_t> out);

// What is asked of filters, made once for each question.
class hash_pools {
  public:
    // All present keys in their order, for timed adds: 8 bytes a key.
    const std::vector<std::uint64_t>& present(std::uint64_t keys);
    // Queries of which a fraction `hits` are present, in random order: 1M for up to 2M keys, 4M (32 MB) beyond.
    const std::vector<std::uint64_t>& queries(std::uint64_t keys, double hits);

    void forget();

  private:
    std::map<std::uint64_t, std::vector<std::uint64_t>> present_;
    std::map<std::pair<std::uint64_t, double>, std::vector<std::uint64_t>> queries_;
};

} // namespace bench
