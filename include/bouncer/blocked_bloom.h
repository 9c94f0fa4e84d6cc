// blocked_bloom: all of a key's bits in one 64-byte cache line (two adjacent ones below 0.05 %): one memory access
// per query, a few percent more space than the flat filter. The default kind. docs/filters/blocked_bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/layout.h>

namespace bouncer {

// Where a key's bits lie in its block. The numbers are stored in files.
enum class block_form : std::uint8_t {
    lanes8 = 0,  // one bit in each of the 8 words of a line: k is 8; the fastest to test
    any_k = 1,   // k bits (1 to 16) anywhere in a line
    lanes16 = 2, // one bit in each of the 16 words of two adjacent lines: k is 16
};

// Explicit parameters: `blocks` lines (pairs of lines for lanes16).
struct blocked_bloom_parameters {
    std::uint64_t blocks = 0;
    std::uint32_t k = 8;
    block_form form = block_form::lanes8;
    friend bool operator==(const blocked_bloom_parameters&, const blocked_bloom_parameters&) = default;
};

namespace detail {

class blocked_layout : public takes_any_hash {
  public:
    using parameters = blocked_bloom_parameters;
    static constexpr std::uint16_t kind_id = 2;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "blocked_bloom";
    static constexpr bool one_word = false;
    static constexpr bool one_block = true;

    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);
    static math::geometry shape_of(const parameters& chosen) noexcept;

    explicit constexpr blocked_layout(const parameters& chosen) noexcept : params_(chosen) {}

    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.blocks * words_per_block(); }
    std::uint64_t block_count() const noexcept { return params_.blocks; }
    math::geometry shape() const noexcept { return shape_of(params_); }
    result<parameters> folded(std::uint64_t factor) const;

    query_kernel kernel() const noexcept {
        switch (params_.form) {
        case block_form::lanes8: return active_kernels().lanes8;
        case block_form::any_k: return nullptr;
        case block_form::lanes16: return active_kernels().lanes16;
        }
        return nullptr;
    }

    // visit(word index, bits of that word) for each word of the block that has bits, until it returns false.
    template <class Visit>
    constexpr bool every_word(std::uint64_t hash, Visit visit) const noexcept {
        const std::uint64_t first = fast_range(hash, params_.blocks) * words_per_block();
        if (params_.form == block_form::any_k) {
            const auto mask = mask_any_k(hash, params_.k);
            for (std::size_t w = 0; w < mask.size(); ++w)
                if (mask[w] != 0 && !visit(first + w, mask[w])) return false;
            return true;
        }
        for (std::size_t line = 0; line < words_per_block() / 8; ++line) {
            const std::uint64_t positions = position_word(hash, line);
            for (std::size_t w = 0; w < 8; ++w)
                if (!visit(first + 8 * line + w, lane_bit(positions, w))) return false;
        }
        return true;
    }
    // visit(index of a word in the line) for every line that a query may read.
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        const std::uint64_t first = fast_range(hash, params_.blocks) * words_per_block();
        for (std::uint64_t w = 0; w < words_per_block(); w += 8) visit(first + w);
    }

  private:
    constexpr std::uint64_t words_per_block() const noexcept {
        return params_.form == block_form::lanes16 ? 16 : 8;
    }

    parameters params_;
};

} // namespace detail

template <class Words>
using basic_blocked_bloom = bit_filter<detail::blocked_layout, Words>;
using plain_blocked_bloom = basic_blocked_bloom<plain_words>;
using atomic_blocked_bloom = basic_blocked_bloom<atomic_words>;
using blocked_bloom_view = basic_blocked_bloom<const_words>;

} // namespace bouncer
