// ribbon: the smallest static kind, a bumped ribbon: 0.3 % above the bound of log2(1/p) bits per key for p = 2^-8, and any
// rate, not only powers of two. docs/filters/ribbon.md
#pragma once

#include <bouncer/built_filter.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/ribbon_table.h>

namespace bouncer {

// Of a filter that exists: a build chooses them.
struct ribbon_parameters {
    std::uint64_t words = 0;
    std::uint64_t keys = 0;
    std::uint64_t shards = 1;
    std::uint64_t seed = 0;
    std::uint32_t columns = 8; // bits of a fingerprint, at most
    std::uint32_t narrow = 0;  // of 2^32 blocks so many have a column less
    friend bool operator==(const ribbon_parameters&, const ribbon_parameters&) = default;
};

namespace detail {

class ribbon_layout
    : public built_once,
      public fields<ribbon_parameters, "words", "keys", "shards", "seed", "columns", "narrow"> {
  public:
    template <class Words>
    using filter = built_filter<ribbon_layout, form<Words>>;
    static constexpr std::uint16_t kind_id = 12;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "ribbon";
    // 1.4 x 10^-17, which collisions of 64-bit hashes exceed from 250 keys on: further columns would only cost.
    static constexpr std::uint32_t columns_most = 56;

    static result<void> check_goal(const goal& wanted);
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);
    static result<built_words<parameters>> build(const sorted_hashes& set, const goal& wanted,
                                                 const build_options& options);

    // A fraction beyond 32 bits must be refused, not narrowed: the columns say so.
    static parameters from_fields(const std::uint64_t* numbers) noexcept {
        parameters out = fields::from_fields(numbers);
        if (numbers[5] > UINT32_MAX) out.columns = UINT32_MAX;
        return out;
    }

    explicit ribbon_layout(const parameters& chosen) noexcept
        : params_(chosen), seed_word_(seed_word_of(chosen.seed)) {}
    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.words; }

    bool contains(const std::uint64_t* words, std::uint64_t hash) const noexcept {
        if (params_.keys == 0) return false;
        const std::uint64_t key = seeded(hash, seed_word_);
        const uint128 spread = static_cast<uint128>(key) * params_.shards;
        const ribbon::shard_view shard{words +
                                       static_cast<std::uint64_t>(spread >> 64) * ribbon::entry_words};
        const auto first = ribbon::look_first(words, shard, static_cast<std::uint64_t>(spread));
        if (ribbon::stays(first)) [[likely]]
            return ribbon::matches(ribbon::locate(first.rows, first.slots, shape(), first.start, key));
        return ribbon::contains_later(first, shard, shape(), key);
    }
    std::size_t contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                         bool* answers) const noexcept;
    result<void> check_words(const std::uint64_t* words) const;
    double rate() const noexcept;

  private:
    ribbon::row_shape shape() const noexcept { return {params_.columns, params_.narrow}; }

    parameters params_;
    std::uint64_t seed_word_;
};

} // namespace detail

using ribbon = built_filter<detail::ribbon_layout>;
using ribbon_view = built_filter<detail::ribbon_layout, const_words>;

} // namespace bouncer
