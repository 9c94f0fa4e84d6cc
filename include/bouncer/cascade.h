// cascade: an exact set over a closed universe, where every key that will ever be asked is known to be listed or not
// (certificates and which of them are revoked). docs/filters/cascade.md
//
// Levels of ribbons. Level 0 holds the listed keys; level 1 those of the others that level 0 wrongly lets pass; level 2 the
// listed keys that level 1 lets pass; and so on, until nobody passes. The first level that says no decides. (Where fewer
// keys are not listed than are, the sides are exchanged: level 0 holds the others.) Outside of the universe the answer
// means nothing.
#pragma once

#include <bouncer/detail/fields.h>
#include <bouncer/ribbon.h>

namespace bouncer {

// Of a cascade that exists: a build chooses them.
struct cascade_parameters {
    std::uint64_t words = 0;
    std::uint64_t keys = 0;   // listed
    std::uint64_t others = 0; // of the universe, not listed
    std::uint64_t levels = 0;
    std::uint64_t seed = 0;
    friend bool operator==(const cascade_parameters&, const cascade_parameters&) = default;
};

namespace detail {

class cascade_layout : public built_once,
                       public fields<cascade_parameters, "words", "keys", "others", "levels", "seed"> {
  public:
    template <class Words>
    using filter = built_filter<cascade_layout, form<Words>>;
    static constexpr std::uint16_t kind_id = 13;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "cascade";
    static constexpr bool is_exact = true;
    // A level keeps half of what it is asked, so every second one holds half as many keys: a billion end after about 40
    // levels; sets of 2048 keys end at once.
    static constexpr std::uint64_t levels_most = 96;
    // A line for each level: place, words, keys, shards and seed of the ribbon, columns and narrow.
    static constexpr std::uint64_t entry_words = 8;

    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);
    static result<built_words<parameters>> build(std::span<const std::uint64_t> listed,
                                                 std::span<const std::uint64_t> others,
                                                 const build_options& options);

    explicit cascade_layout(const parameters& chosen) noexcept
        : params_(chosen), seed_word_(seed_word_of(chosen.seed)) {}
    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.words; }

    // Whether level 0 holds the keys that are not listed.
    bool holds_others() const noexcept { return params_.keys > params_.others; }

    bool contains(const std::uint64_t* words, std::uint64_t hash) const noexcept {
        const std::uint64_t key = seeded(hash, seed_word_); // what the levels take for a hash
        std::uint64_t i = 0;
        while (i < params_.levels && level(words, i).contains(words + words[i * entry_words], key)) ++i;
        return (i % 2 == 1) != holds_others();
    }
    std::size_t contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                         bool* answers) const noexcept;
    result<void> check_words(const std::uint64_t* words) const;
    double rate() const noexcept { return 0; }

  private:
    static ribbon_layout level(const std::uint64_t* words, std::uint64_t i) noexcept {
        return ribbon_layout(ribbon_layout::from_fields(words + i * entry_words + 1));
    }

    parameters params_;
    std::uint64_t seed_word_;
};

} // namespace detail

using cascade = built_filter<detail::cascade_layout>;
using cascade_view = built_filter<detail::cascade_layout, const_words>;

} // namespace bouncer
