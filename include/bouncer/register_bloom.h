// register_bloom: all of a key's bits in one 64-bit word, so that one read-modify-write decides who added a key
// first. The price is space: 12 bits per key at 1 %, 24 at 0.1 %. docs/filters/register_bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/stored.h>

namespace bouncer {

// Explicit parameters: `words` 64-bit words, k bits per key from 1 to 8.
struct register_bloom_parameters {
    std::uint64_t words = 0;
    std::uint32_t k = 0;
    friend bool operator==(const register_bloom_parameters&, const register_bloom_parameters&) = default;
};

namespace detail {

class register_layout : public takes_any_hash,
                        public starts_empty,
                        public fields<register_bloom_parameters, "words", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<register_layout, Words>;
    static constexpr std::uint16_t kind_id = 4;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "register_bloom";
    static constexpr std::uint32_t k_most = register_k_most;
    static constexpr bool one_word = true;
    static constexpr bool one_block = true;
    static constexpr std::size_t words_per_key = 1;

    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    // Refuses a k that there was once (unknown_version).
    static result<void> check_stored(const std::uint64_t* fields);

    explicit constexpr register_layout(const parameters& chosen) noexcept : params_(chosen) {}

    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.words; }
    std::uint64_t block_count() const noexcept { return params_.words; }
    math::geometry shape() const noexcept {
        return {.blocks = params_.words, .sector_bits = 64, .bits_per_group = params_.k};
    }
    result<parameters> folded(std::uint64_t factor) const;

    query_kernel kernel() const noexcept { return active_kernels().registers[params_.k]; }

    std::uint64_t block_index(std::uint64_t hash) const noexcept { return fast_range(hash, params_.words); }
    template <class Visit>
    constexpr bool every_word(std::uint64_t hash, Visit visit) const noexcept {
        return visit(fast_range(hash, params_.words), mask_register(hash, params_.k));
    }
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        visit(fast_range(hash, params_.words));
    }

  private:
    parameters params_;
};

} // namespace detail

template <class Words>
using basic_register_bloom = bit_filter<detail::register_layout, Words>;
using plain_register_bloom = basic_register_bloom<plain_words>;
using atomic_register_bloom = basic_register_bloom<atomic_words>;
using register_bloom_view = basic_register_bloom<const_words>;

} // namespace bouncer
