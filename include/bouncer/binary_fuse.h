// binary_fuse: fingerprints of a set that never changes, in cells that a key shares with others: 9.0 bits per key for a rate
// of 1/256 (4-wise: 8.6), three (four) reads per query. docs/filters/binary_fuse.md
//
// After T. M. Graf and D. Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters" (2022).
#pragma once

#include <bouncer/built_filter.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/fingerprint_table.h>

namespace bouncer {

struct binary_fuse_parameters {
    std::uint64_t words = 0; // of the whole filter, its directory counted
    std::uint64_t keys = 0;
    std::uint64_t shards = 1;
    std::uint64_t seed = 0;
    std::uint32_t segment_length = 4;   // cells, a power of two
    std::uint32_t fingerprint_bits = 8; // 8, 16 or 32
    std::uint32_t arity = 3;            // 3 or 4 cells per key
    friend bool operator==(const binary_fuse_parameters&, const binary_fuse_parameters&) = default;
};

namespace detail {

class fuse_layout : public built_once,
                    public fields<binary_fuse_parameters, "words", "keys", "shards", "seed", "segment_length",
                                  "fingerprint_bits", "arity"> {
  public:
    template <class Words>
    using filter = built_filter<fuse_layout, form<Words>>;
    static constexpr std::uint16_t kind_id = 11;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "binary_fuse";

    // [any-thread] 3-wise where reads are preferred, 4-wise where space is; cells of 8, 16 or 32 bits.
    static result<void> check_goal(const goal& wanted);
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);
    static result<built_words<parameters>> build(const sorted_hashes& set, const goal& wanted,
                                                 const build_options& options);
    // [any-thread] The same of an arity (3, 4) and a width (8, 16, 32) without a goal.
    static result<built_words<parameters>> build_with(const sorted_hashes& set, std::uint32_t arity,
                                                      std::uint32_t fingerprint_bits,
                                                      const build_options& options);

    explicit fuse_layout(const parameters& chosen) noexcept
        : params_(chosen), seed_word_(seed_word_of(chosen.seed)),
          three_bytes_(chosen.keys != 0 && chosen.arity == 3 && chosen.fingerprint_bits == 8) {}
    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.words; }

    // The commonest shape is short enough to be inlined where it is asked, the others are a call away.
    bool contains(const std::uint64_t* words, std::uint64_t hash) const noexcept {
        if (!three_bytes_) return contains_other(words, hash);
        const auto by = table<3>();
        return by.holds<std::uint8_t>(words, by.find(words, hash));
    }
    std::size_t contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                         bool* answers) const noexcept;
    result<void> check_words(const std::uint64_t* words) const;
    double rate() const noexcept {
        return 1 / static_cast<double>(std::uint64_t{1} << params_.fingerprint_bits);
    }

    // [immutable] Where the cells of a hash are. Precondition: Arity is that of the parameters.
    template <unsigned Arity>
    constexpr fingerprint_table<fuse_shape<Arity>> table() const noexcept {
        return {{params_.segment_length}, params_.shards, seed_word_};
    }

  private:
    bool contains_other(const std::uint64_t* words, std::uint64_t hash) const noexcept;

    parameters params_;
    std::uint64_t seed_word_;
    bool three_bytes_; // three cells of 8 bits, and there are keys
};

} // namespace detail

using binary_fuse = built_filter<detail::fuse_layout>;
using binary_fuse_view = built_filter<detail::fuse_layout, const_words>;

} // namespace bouncer
