// split_block_bloom: Apache Parquet's split block Bloom filter, bit for bit: its words are a valid Parquet bitset.
// One bit in each of the eight 32-bit lanes of a 256-bit block. docs/filters/split_block_bloom.md
#pragma once

#include <bouncer/bit_filter.h>

namespace bouncer {

// Explicit parameters: `blocks` blocks of 32 bytes, at most 4Mi: 128 MiB, as Apache Arrow limits them. k is 8.
struct split_block_bloom_parameters {
    std::uint64_t blocks = 0;
    friend bool operator==(const split_block_bloom_parameters&,
                           const split_block_bloom_parameters&) = default;
};

namespace detail {

class split_block_layout : public form_layout<split8x32, split_block_bloom_parameters, "blocks"> {
  public:
    template <class Words>
    using filter = bit_filter<split_block_layout, Words>;
    static constexpr std::uint16_t kind_id = 3;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "split_block_bloom";
    static constexpr std::uint64_t blocks_most = (std::uint64_t{128} << 20) / 32;

    // Parquet fixes the hash: XXH64 with seed 0. Anything else is refused.
    using default_hasher = xxh64;
    static hash_spec default_hash() noexcept { return xxh64{}.spec(); }
    static result<void> check_hash(const hash_spec& spec);

    using form_layout::form_layout;
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    result<parameters> folded(std::uint64_t factor) const;
};

} // namespace detail

template <class Words>
using basic_split_block_bloom = bit_filter<detail::split_block_layout, Words>;
using plain_split_block_bloom = basic_split_block_bloom<plain_words>;
using atomic_split_block_bloom = basic_split_block_bloom<atomic_words>;
using split_block_bloom_view = basic_split_block_bloom<const_words>;

} // namespace bouncer
