// split_block_bloom: Apache Parquet's split block Bloom filter, bit for bit: its words are a valid Parquet bitset.
// One bit in each of the eight 32-bit lanes of a 256-bit block. docs/filters/split_block_bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/fields.h>

namespace bouncer {

// Explicit parameters: `blocks` blocks of 32 bytes, at most 4Mi: 128 MiB, as Apache Arrow limits them. k is 8.
struct split_block_bloom_parameters {
    std::uint64_t blocks = 0;
    friend bool operator==(const split_block_bloom_parameters&,
                           const split_block_bloom_parameters&) = default;
};

namespace detail {

class split_block_layout : public starts_empty, public fields<split_block_bloom_parameters, "blocks"> {
  public:
    template <class Words>
    using filter = bit_filter<split_block_layout, Words>;
    static constexpr std::uint16_t kind_id = 3;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "split_block_bloom";
    static constexpr std::uint64_t blocks_most = (std::uint64_t{128} << 20) / 32;
    static constexpr bool one_word = false;
    static constexpr bool one_block = true;
    static constexpr std::size_t words_per_key = 4;

    // Parquet fixes the hash: XXH64 with seed 0. Anything else is refused.
    using default_hasher = xxh64;
    static hash_spec default_hash() noexcept { return xxh64{}.spec(); }
    static result<void> check_hash(const hash_spec& spec);

    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);

    explicit constexpr split_block_layout(const parameters& chosen) noexcept : params_(chosen) {}

    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.blocks * 4; }
    std::uint64_t block_count() const noexcept { return params_.blocks; }
    math::geometry shape() const noexcept {
        return {.blocks = params_.blocks, .groups = 8, .sector_bits = 32};
    }
    result<parameters> folded(std::uint64_t factor) const;
    query_kernel kernel() const noexcept { return active_kernels().split_block; }
    detail::add_kernel add_kernel() const noexcept { return active_kernels().add_split_block; }
    detail::put_kernel put_kernel() const noexcept { return active_kernels().put_split_block; }

    std::uint64_t block_index(std::uint64_t hash) const noexcept {
        return split_block_index(hash, params_.blocks);
    }

    template <class Visit>
    constexpr bool every_word(std::uint64_t hash, Visit visit) const noexcept {
        const std::uint64_t first = split_block_index(hash, params_.blocks) * 4;
        for (std::size_t w = 0; w < 4; ++w)
            if (!visit(first + w, split_block_word(hash, w))) return false;
        return true;
    }
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        visit(split_block_index(hash, params_.blocks) * 4);
    }

  private:
    parameters params_;
};

} // namespace detail

template <class Words>
using basic_split_block_bloom = bit_filter<detail::split_block_layout, Words>;
using plain_split_block_bloom = basic_split_block_bloom<plain_words>;
using atomic_split_block_bloom = basic_split_block_bloom<atomic_words>;
using split_block_bloom_view = basic_split_block_bloom<const_words>;

} // namespace bouncer
