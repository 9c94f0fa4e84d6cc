// blocked_bloom: all of a key's bits in one 64-byte cache line (two adjacent ones below 0.05 %): one memory access
// per query, a few percent more space than the flat filter. The default kind. docs/filters/blocked_bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/one_key.h>
#include <bouncer/detail/stored.h>

#include <span>
#include <type_traits>
#include <utility>

namespace bouncer {

// Where a key's bits lie in its block. The numbers are stored in files.
enum class block_form : std::uint8_t {
    lanes8 = 0,  // one bit in each of the 8 words of a line: k is 8; the fastest to test
    lanes16 = 2, // one bit in each of the 16 words of two adjacent lines: k is 16
    // Cache-sectorised: k / 2 bits in one of the first four words of a line and in one of the last four; or k / 4 bits
    // in one of each two neighbours. An add writes two or four words: the fastest to add to from many threads.
    sectors2 = 3, // k is even, at most 16
    sectors4 = 4, // k is a multiple of 4, at most 16
    // Dropped before the first release, and never to be used again: 1, 5, 6.
};

// [any-thread] "lanes8"; and as C++: "bouncer::block_form::lanes8".
std::string in_words(block_form form);
std::string in_code(block_form form);

// Explicit parameters: `blocks` lines (pairs of lines for lanes16).
struct blocked_bloom_parameters {
    std::uint64_t blocks = 0;
    std::uint32_t k = 8;
    block_form form = block_form::lanes8;
    friend bool operator==(const blocked_bloom_parameters&, const blocked_bloom_parameters&) = default;
};

namespace detail {

class blocked_layout : public takes_any_hash,
                       public starts_empty,
                       public fields<blocked_bloom_parameters, "blocks", "k", "form"> {
  public:
    template <class Words>
    using filter = bit_filter<blocked_layout, Words>;
    static constexpr std::uint16_t kind_id = 2;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "blocked_bloom";
    static constexpr bool one_word = false;
    static constexpr bool one_block = true;
    static constexpr std::size_t words_per_key = 16;

    static result<parameters> solve(const goal& wanted);
    // For one of many layers that a query asks (scalable): one line is worth more there.
    static result<parameters> solve_layer(const goal& wanted);
    static result<void> check(const parameters& chosen);
    // Refuses those of forms that there were once (unknown_version).
    static result<void> check_stored(const std::uint64_t* fields);
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
        case block_form::lanes16: return active_kernels().lanes16;
        case block_form::sectors2: return active_kernels().sectors2[params_.k / 2];
        case block_form::sectors4: return active_kernels().sectors4[params_.k / 4];
        default: return nullptr;
        }
    }
    detail::add_kernel add_kernel() const noexcept {
        switch (params_.form) {
        case block_form::lanes8: return active_kernels().add_lanes8;
        case block_form::lanes16: return active_kernels().add_lanes16;
        default: return nullptr;
        }
    }
    detail::put_kernel put_kernel() const noexcept {
        switch (params_.form) {
        case block_form::lanes8: return active_kernels().put_lanes8;
        case block_form::lanes16: return active_kernels().put_lanes16;
        default: return nullptr;
        }
    }
    // The usual form first and inline; code for the others beside it would cost a loop of queries a third of its speed.
    [[gnu::always_inline]] bool covers(const std::uint64_t* words, std::uint64_t hash) const noexcept {
        if (params_.form == block_form::lanes8) [[likely]]
            return lanes8_covered(words + 8 * block_index(hash), hash);
        switch (params_.form) {
        case block_form::lanes16: return two_lines_cover(words, hash);
        case block_form::sectors2: return two_sectors_cover(words, params_, hash);
        default: return sectors_cover(words, hash);
        }
    }

    bool has_set() const noexcept {
        return params_.form == block_form::lanes8 || params_.form == block_form::lanes16;
    }
    [[gnu::always_inline]] bool set(std::uint64_t* words, std::uint64_t hash) const noexcept {
        const std::uint64_t block = block_index(hash);
        return params_.form == block_form::lanes8 ? set_lanes8(words + 8 * block, hash)
                                                  : set_lanes16(words + 16 * block, hash);
    }

    // Adds to words that others write too, for forms with sectors; returns how many saw a zero bit. (bit_filter's
    // add_shared is the general form.) Everything is looked at before the first write, and what a loop needs is in
    // locals, because a load waits for the locked instruction before it. When one word must be written all are: a wrong
    // guess costs as much as a needless write.
    template <class Words>
    [[gnu::always_inline]] bool set_shared(std::uint64_t* words, std::uint64_t hash) const noexcept {
        if (params_.form == block_form::sectors2) return set_two_sectors<Words>(words, params_, hash);
        return set_any_sectors<Words>(words, hash);
    }
    template <class Words>
    [[gnu::noinline]] std::size_t set_shared(std::uint64_t* words,
                                             std::span<const std::uint64_t> hashes) const noexcept {
        const parameters params = params_;
        if (params.form == block_form::sectors2)
            return set_each(
                words, params.blocks, hashes, [=](std::uint64_t hash) __attribute__((always_inline)) {
                    return set_two_sectors<Words>(words, params, hash);
                });
        return with_sectors([=](auto bits, auto groups) __attribute__((always_inline)) {
            return set_each(
                words, params.blocks, hashes, [=](std::uint64_t hash) __attribute__((always_inline)) {
                    return set_sectors<Words>(words + 8 * fast_range(hash, params.blocks), hash, bits,
                                              groups);
                });
        });
    }
    bool has_sectors() const noexcept {
        return params_.form == block_form::sectors2 || params_.form == block_form::sectors4;
    }

    constexpr std::uint64_t block_index(std::uint64_t hash) const noexcept {
        return fast_range(hash, params_.blocks);
    }
    // visit(word index, bits of that word) for words of the block that have bits, each once, until it returns false.
    template <class Visit>
    constexpr bool every_word(std::uint64_t hash, Visit visit) const noexcept {
        const std::uint64_t first = block_index(hash) * words_per_block();
        switch (params_.form) {
        case block_form::sectors2: return every_sector<2>(hash, first, visit);
        case block_form::sectors4: return every_sector<4>(hash, first, visit);
        default: break;
        }
        for (std::size_t line = 0; line < words_per_block() / 8; ++line) {
            const std::uint64_t positions = position_word(hash, line);
            for (std::size_t w = 0; w < 8; ++w)
                if (!visit(first + 8 * line + w, byte_bit(positions, w))) return false;
        }
        return true;
    }
    // visit(index of a word in the line) for every line that a query may read.
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        const std::uint64_t first = block_index(hash) * words_per_block();
        for (std::uint64_t w = 0; w < words_per_block(); w += 8) visit(first + w);
    }

  private:
    template <class Set>
    [[gnu::always_inline]] static std::size_t set_each(const std::uint64_t* words, std::uint64_t blocks,
                                                       std::span<const std::uint64_t> hashes,
                                                       Set set) noexcept {
        constexpr std::size_t ahead = 32;
        std::size_t changed = 0;
        pipeline<ahead>(
            hashes.size(),
            [=](std::size_t i) __attribute__((always_inline)) {
                __builtin_prefetch(words + 8 * fast_range(hashes[i], blocks), 1);
            },
            [ =, &changed ](std::size_t i) __attribute__((always_inline)) { changed += set(hashes[i]); });
        return changed;
    }

    // Each a function of its own: together they would all pay for the vector code of one.
    [[gnu::noinline]] bool two_lines_cover(const std::uint64_t* words, std::uint64_t hash) const noexcept {
        return lanes16_covered(words + 16 * block_index(hash), hash);
    }
    // Parameters by value: in registers, where nothing that is written can change them.
    [[gnu::always_inline]] static bool two_sectors_cover(const std::uint64_t* words, parameters params,
                                                         std::uint64_t hash) noexcept {
        return sectors2_covered(words + 8 * fast_range(hash, params.blocks), hash, params.k / 2);
    }
    template <class Words>
    [[gnu::always_inline]] static bool set_two_sectors(std::uint64_t* words, parameters params,
                                                       std::uint64_t hash) noexcept {
        std::uint64_t* const line = words + 8 * fast_range(hash, params.blocks);
        const two_sectors at = two_sectors_of(hash, params.k / 2);
        if (((at.bits[0] & ~Words::load(line + at.word[0])) |
             (at.bits[1] & ~Words::load(line + at.word[1]))) == 0)
            return false;
        Words::set_bits(line + at.word[0], at.bits[0]);
        Words::set_bits(line + at.word[1], at.bits[1]);
        return true;
    }
    template <class Words>
    [[gnu::noinline]] bool set_any_sectors(std::uint64_t* words, std::uint64_t hash) const noexcept {
        std::uint64_t* const line = words + 8 * block_index(hash);
        return with_sectors([=](auto bits, auto groups) __attribute__((always_inline)) {
                   return set_sectors<Words>(line, hash, bits, groups);
               }) != 0;
    }
    [[gnu::noinline]] bool sectors_cover(const std::uint64_t* words, std::uint64_t hash) const noexcept {
        const std::uint64_t* const line = words + 8 * block_index(hash);
        return with_sectors([=](auto bits, auto groups) __attribute__((always_inline)) {
                   return missing_in<const_words>(line, hash, bits, groups) == 0;
               }) != 0;
    }

    template <std::uint32_t N>
    using count = std::integral_constant<std::uint32_t, N>;
    template <std::uint32_t... Group>
    using groups_of = std::integer_sequence<std::uint32_t, Group...>;

    // Sectors as arguments, not in an array: they stay in registers.
    template <class Words, std::uint32_t Bits, std::uint32_t... Group>
    [[gnu::always_inline]] static std::uint64_t missing_in(const std::uint64_t* line, std::uint64_t hash,
                                                           count<Bits>, groups_of<Group...>) noexcept {
        const auto missing = [line](auto... at) __attribute__((always_inline)) {
            return ((at.bits & ~Words::load(line + at.word)) | ...);
        };
        return missing(sector_of(hash, sizeof...(Group), Group, Bits)...);
    }
    template <class Words, std::uint32_t Bits, std::uint32_t... Group>
    [[gnu::always_inline]] static bool set_sectors(std::uint64_t* line, std::uint64_t hash, count<Bits>,
                                                   groups_of<Group...>) noexcept {
        const auto set = [line](auto... at) __attribute__((always_inline)) {
            if (((at.bits & ~Words::load(line + at.word)) | ...) == 0) return false;
            (Words::set_bits(line + at.word, at.bits), ...);
            return true;
        };
        return set(sector_of(hash, sizeof...(Group), Group, Bits)...);
    }

    // work(bits per group, groups), both known to the compiler: half the time of numbers that are not.
    template <class Work>
    [[gnu::always_inline]] std::size_t with_sectors(Work work) const noexcept {
        constexpr groups_of<0, 1> two;
        constexpr groups_of<0, 1, 2, 3> four;
        if (params_.form == block_form::sectors4) {
            switch (params_.k) {
            case 4: return work(count<1>(), four);
            case 8: return work(count<2>(), four);
            case 12: return work(count<3>(), four);
            default: return work(count<4>(), four);
            }
        }
        switch (params_.k) {
        case 2: return work(count<1>(), two);
        case 4: return work(count<2>(), two);
        case 6: return work(count<3>(), two);
        case 8: return work(count<4>(), two);
        case 10: return work(count<5>(), two);
        case 12: return work(count<6>(), two);
        case 14: return work(count<7>(), two);
        default: return work(count<8>(), two);
        }
    }

    template <std::uint32_t Groups, class Visit>
    constexpr bool every_sector(std::uint64_t hash, std::uint64_t first, Visit visit) const noexcept {
        for (std::uint32_t group = 0; group < Groups; ++group) {
            const sector at = sector_of(hash, Groups, group, params_.k / Groups);
            if (!visit(first + at.word, at.bits)) return false;
        }
        return true;
    }

    static constexpr std::uint64_t words_per_block(block_form form) noexcept {
        return form == block_form::lanes16 ? 16 : 8;
    }
    constexpr std::uint64_t words_per_block() const noexcept { return words_per_block(params_.form); }

    parameters params_;
};

} // namespace detail

template <class Words>
using basic_blocked_bloom = bit_filter<detail::blocked_layout, Words>;
using plain_blocked_bloom = basic_blocked_bloom<plain_words>;
using atomic_blocked_bloom = basic_blocked_bloom<atomic_words>;
using blocked_bloom_view = basic_blocked_bloom<const_words>;

} // namespace bouncer
