// xor_filter: fingerprints of a set that never changes, a cell of each third of the table per key: 9.84 bits per key for a
// rate of 1/256. binary_fuse is smaller, and as fast; this is the simpler and older form. docs/filters/xor_filter.md
//
// After T. M. Graf and D. Lemire, "Xor Filters: Faster and Smaller Than Bloom and Cuckoo Filters" (2020).
#pragma once

#include <bouncer/built_filter.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/fingerprint_table.h>

namespace bouncer {

struct xor_filter_parameters {
    std::uint64_t words = 0; // of the whole filter, its directory counted
    std::uint64_t keys = 0;
    std::uint64_t shards = 1;
    std::uint64_t seed = 0;
    std::uint32_t fingerprint_bits = 8; // 8, 16 or 32
    friend bool operator==(const xor_filter_parameters&, const xor_filter_parameters&) = default;
};

namespace detail {

class xor_layout
    : public built_once,
      public fields<xor_filter_parameters, "words", "keys", "shards", "seed", "fingerprint_bits"> {
  public:
    template <class Words>
    using filter = built_filter<xor_layout, form<Words>>;
    static constexpr std::uint16_t kind_id = 10;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "xor_filter";

    // [any-thread] Cells of 8, 16 or 32 bits; reads and space are preferred alike.
    static result<void> check_goal(const goal& wanted);
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);
    static result<built_words<parameters>> build(const sorted_hashes& set, const goal& wanted,
                                                 const build_options& options);
    // [any-thread] The same of a width (8, 16, 32) without a goal.
    static result<built_words<parameters>>
    build_with(const sorted_hashes& set, std::uint32_t fingerprint_bits, const build_options& options);

    explicit xor_layout(const parameters& chosen) noexcept
        : params_(chosen), seed_word_(seed_word_of(chosen.seed)),
          bytes_(chosen.keys != 0 && chosen.fingerprint_bits == 8) {}
    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.words; }

    // The commonest width is short enough to be inlined where it is asked, the others are a call away.
    bool contains(const std::uint64_t* words, std::uint64_t hash) const noexcept {
        if (!bytes_) return contains_other(words, hash);
        const auto by = table();
        return by.holds<std::uint8_t>(words, by.find(words, hash));
    }
    std::size_t contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                         bool* answers) const noexcept;
    result<void> check_words(const std::uint64_t* words) const;
    double rate() const noexcept {
        return 1 / static_cast<double>(std::uint64_t{1} << params_.fingerprint_bits);
    }

    // [immutable] Where the cells of a hash are.
    constexpr fingerprint_table<xor_shape> table() const noexcept { return {{}, params_.shards, seed_word_}; }

  private:
    bool contains_other(const std::uint64_t* words, std::uint64_t hash) const noexcept;

    parameters params_;
    std::uint64_t seed_word_;
    bool bytes_; // cells of 8 bits, and there are keys
};

} // namespace detail

using xor_filter = built_filter<detail::xor_layout>;
using xor_filter_view = built_filter<detail::xor_layout, const_words>;

} // namespace bouncer
