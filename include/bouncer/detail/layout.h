// What a layout is, and what the layouts of bit filters share.
#pragma once

#include <bouncer/goal.h>
#include <bouncer/hash.h>
#include <bouncer/math.h>
#include <bouncer/result.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::detail {

// The most 64-bit words a filter may have: 2^44, 128 TiB. Index arithmetic is exact far beyond.
inline constexpr std::uint64_t words_most = std::uint64_t{1} << 44;

// [any-thread] Refuses a goal whose values make no sense for any kind.
result<void> check_goal(const goal& wanted);

// What filter_base asks of a layout. Besides, the alias filter<Words>: the class of its filters.
template <class L>
concept filter_layout = std::constructible_from<L, const typename L::parameters&> &&
    requires(const L& layout, const typename L::parameters& chosen, const hash_spec& spec,
             const std::uint64_t* words) {
    typename L::default_hasher; // what keyed<> uses unless told otherwise
    { L::kind_id } -> std::convertible_to<std::uint16_t>;
    { L::layout_version } -> std::convertible_to<std::uint16_t>; // bumped when a bit moves
    { L::kind_name } -> std::convertible_to<std::string_view>;
    {
        L::is_static
        }
        -> std::convertible_to<bool>; // built once from a whole set; it has no create, and nothing changes it
    { L::field_count } -> std::convertible_to<std::size_t>; // of the parameters, as they are stored
    { L::fields_of(chosen) } -> std::same_as<std::vector<std::uint64_t>>;
    { L::from_fields(words) } -> std::same_as<typename L::parameters>;
    { L::default_hash() } -> std::same_as<hash_spec>;
    { L::check_hash(spec) } -> std::same_as<result<void>>;
    { L::check(chosen) } -> std::same_as<result<void>>;
    { L::describe(chosen) } -> std::same_as<std::string>;
    { layout.params() } -> std::same_as<const typename L::parameters&>;
    { layout.word_count() } -> std::same_as<std::uint64_t>;
    {
        layout.check_words(words)
        } -> std::same_as<result<void>>; // whether the kind writes such words (corrupt)
};

// What bit_filter asks of a layout, besides every_word(hash, visit) and every_line(hash, visit):
//   every_word  calls visit(word index, bits of that word) for each word that has bits of the hash, until it returns
//               false; returns whether it never did.
//   every_line  calls visit(word index) for every cache line that a query may read, to prefetch it.
//   block_index one-block layouts: the number of the block of a hash.
// Optional:
//   folded(factor)  the parameters of 1/factor of the size; a layout without it cannot be folded.
// Optional, for words that are plain memory:
//   kernel()      the SIMD kernel for query batches, or null;
//   add_kernel()  the one for batches of adds to words that nobody else writes, or null;
//   put_kernel()  the same without a count;
//   covers(words, hash)  one query, by SIMD where that is faster;
//   set(words, hash)     one add to words that nobody else writes, where has_set() says so;
//   set_shared<Words>(words, hash)  one add to words that others write too, where has_sectors() says so.
template <class L>
concept bit_layout = filter_layout<L> && requires(const L& layout, const goal& wanted) {
    { L::words_per_key } -> std::convertible_to<std::size_t>; // how often every_word visits, at most
    { L::one_word } -> std::convertible_to<bool>;             // all bits of a hash lie in one word
    {
        L::one_block
        } -> std::convertible_to<bool>; // all bits of a hash lie in one of block_count() equal blocks
    { L::solve(wanted) } -> std::same_as<result<typename L::parameters>>;
    { layout.block_count() } -> std::same_as<std::uint64_t>;
    { layout.shape() } -> std::same_as<math::geometry>;
};

template <class L>
concept foldable_layout = bit_layout<L> && requires(const L& layout, std::uint64_t factor) {
    { layout.folded(factor) } -> std::same_as<result<typename L::parameters>>;
};

// A layout that takes any hash.
struct takes_any_hash {
    using default_hasher = xxh3;
    static constexpr hash_spec default_hash() noexcept { return {}; } // prehashed
    static result<void> check_hash(const hash_spec& spec) { return check_known_hash(spec); }
};

// A layout of filters that start empty, and of which any words are one.
struct starts_empty {
    static constexpr bool is_static = false;
    static result<void> check_words(const std::uint64_t*) noexcept { return {}; }
};

} // namespace bouncer::detail
