// fingerprint_set: the 64-bit hashes of a set themselves, sorted: 8.3 bytes per key, and wrong for one absent key in
// 2^64 / n. What an exact answer costs when collisions of hashes do not matter; `bouncer dedup` remembers by it.
// docs/filters/fingerprint_set.md
#pragma once

#include <bouncer/built_filter.h>
#include <bouncer/detail/bits.h>
#include <bouncer/detail/fields.h>

namespace bouncer {

struct fingerprint_set_parameters {
    std::uint64_t words = 0; // of the whole filter, its directory counted
    std::uint64_t keys = 0;
    std::uint64_t shards = 1;
    std::uint64_t seed = 0;
    friend bool operator==(const fingerprint_set_parameters&, const fingerprint_set_parameters&) = default;
};

namespace detail {

// A shard: where each bucket begins (32 bits each, one more than buckets), in whole lines; then the keys, ascending. The
// directory entry of a shard: the place of its first word, its number of keys.
class set_layout : public built_once,
                   public fields<fingerprint_set_parameters, "words", "keys", "shards", "seed"> {
  public:
    template <class Words>
    using filter = built_filter<set_layout, form<Words>>;
    static constexpr std::uint16_t kind_id = 14;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "fingerprint_set";
    static constexpr std::uint64_t entry_words = 2;
    static constexpr std::uint64_t keys_per_bucket = 16; // two lines; 2 bits of directory per key

    static result<void> check_goal(const goal& wanted);
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);
    static std::string describe(const parameters& chosen);
    static result<built_words<parameters>> build(const sorted_hashes& set, const goal& wanted,
                                                 const build_options& options);

    explicit set_layout(const parameters& chosen) noexcept
        : params_(chosen), seed_word_(seed_word_of(chosen.seed)) {}
    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.words; }

    bool contains(const std::uint64_t* words, std::uint64_t hash) const noexcept;
    std::size_t contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                         bool* answers) const noexcept;
    result<void> check_words(const std::uint64_t* words) const;
    double rate() const noexcept { return 0; } // but for collisions, which built_filter counts

    // [any-thread] How many buckets a shard of so many keys has, and the words of their beginnings.
    static constexpr std::uint64_t buckets_of(std::uint64_t keys) noexcept {
        return keys / keys_per_bucket + 1;
    }
    static constexpr std::uint64_t bucket_words_of(std::uint64_t keys) noexcept {
        return ((buckets_of(keys) + 1) * 4 + 63) / 64 * 8;
    }

    // [any-thread] visit(hash) for every hash of the set, as it was given, in no order of its own: what turns a set into
    // another filter.
    template <class Visit>
    void for_each(const std::uint64_t* words, Visit visit) const {
        if (params_.keys == 0) return;
        for (std::uint64_t shard = 0; shard < params_.shards; ++shard) {
            const std::uint64_t* const entry = words + shard * entry_words;
            const std::uint64_t* const keys = words + entry[0] + bucket_words_of(entry[1]);
            for (std::uint64_t i = 0; i < entry[1]; ++i) visit(unmix64(keys[i]) ^ seed_word_);
        }
    }

  private:
    struct bucket {
        const std::uint64_t* first;
        const std::uint64_t* last;
    };
    bucket bucket_of(const std::uint64_t* words, std::uint64_t key) const noexcept;

    parameters params_;
    std::uint64_t seed_word_;
};

} // namespace detail

using fingerprint_set = built_filter<detail::set_layout>;
using fingerprint_set_view = built_filter<detail::set_layout, const_words>;

} // namespace bouncer
