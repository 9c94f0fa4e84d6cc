// The specification: which bits of a filter a hash has. All vector code is tested equal to this file, so a filter written
// on one machine reads the same on every other. Moving a bit here is a new layout version.
//
// A FORM is a type without state. All forms have the same vocabulary:
//   block_words   64-bit words of a block; 0 for a form without blocks
//   key_words     the most words in which a hash has bits
//   k_step, k_max k is a multiple of k_step, from k_step to k_max
//   block_of      the block of a hash
//   words         of the whole filter
//   key           the words of a hash and their bits, one after the other:
//                     for (key its(at, hash); its.more();) { const auto [word, bits] = its.next(); ... }
//   shape         where the bits go, for the math
// A key is an object that is asked. Rejected: a function that calls a visitor back. A visitor compiled for AVX2 cannot be
// inlined into a loop that was compiled for less, so every word would cost a call.
#pragma once

#include <bouncer/detail/bits.h>
#include <bouncer/math.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace bouncer::detail {

// What a form must know of the filter. 16 bytes, passed by value: in two registers, where no write to the words can be
// taken for a change of it.
struct extent {
    std::uint64_t units = 0; // blocks; of forms without blocks: bits (of a slice)
    std::uint32_t k = 0;     // bits per key
};

// Bits of one word of the filter.
struct word_bits {
    std::uint64_t word;
    std::uint64_t bits;
};

// The block takes the top bits of the hash (fast_range). Positions inside the block come from an independent odd multiply,
// never from the hash itself: within one block the top bits are all alike, and positions taken from them measured 1.6 %
// instead of 1.0 % at 10M keys. The multiply leaves the low bits weak; the fold repairs bits 0 to 31.
// The multipliers have no structure: the first 64 fractional bits of sqrt(2) and sqrt(3), made odd.
inline constexpr std::array<std::uint64_t, 2> position_multipliers{0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu};
constexpr std::uint64_t position_word(std::uint64_t hash, std::size_t j) noexcept {
    const std::uint64_t g = hash * position_multipliers[j];
    return g ^ (g >> 32);
}

// A position word is eight bytes. The low six bits of each are the position of a bit in a 64-bit word. Bytes, not six bits
// after six bits: a vector unit spreads bytes over its lanes in one instruction, where shifting and masking takes two.
inline constexpr std::uint64_t position_mask = 0x3f3f3f3f3f3f3f3fu;

constexpr std::uint64_t byte_bit(std::uint64_t positions, std::size_t byte) noexcept {
    return std::uint64_t{1} << ((positions >> (8 * byte)) & 63u);
}
// The bits of the first `count` bytes (1 to 8) in one word, with replacement. A jump into a row of shifts: g++ vectorises a
// loop, and queries took more than twice as long for the three or four bits that it has.
constexpr std::uint64_t byte_bits(std::uint64_t positions, std::uint32_t count) noexcept {
    std::uint64_t bits = 0;
    switch (count) {
    default: bits |= byte_bit(positions, 7); [[fallthrough]];
    case 7: bits |= byte_bit(positions, 6); [[fallthrough]];
    case 6: bits |= byte_bit(positions, 5); [[fallthrough]];
    case 5: bits |= byte_bit(positions, 4); [[fallthrough]];
    case 4: bits |= byte_bit(positions, 3); [[fallthrough]];
    case 3: bits |= byte_bit(positions, 2); [[fallthrough]];
    case 2: bits |= byte_bit(positions, 1); [[fallthrough]];
    case 1: bits |= byte_bit(positions, 0);
    }
    return bits;
}

// ---- forms with blocks -----------------------------------------------------------------------------------------------

// What they share. A form adds word(hash, k, i): the i-th word of a key in its block.
template <class Form, std::size_t BlockWords, std::size_t KeyWords>
struct block_form_of {
    static constexpr std::size_t block_words = BlockWords;
    static constexpr std::size_t key_words = KeyWords;
    static constexpr std::uint64_t block_of(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return fast_range(hash, blocks);
    }
    static constexpr std::uint64_t words(extent at) noexcept { return at.units * BlockWords; }
    class key {
      public:
        constexpr key(extent at, std::uint64_t hash) noexcept
            : hash_(hash), first_(BlockWords * Form::block_of(hash, at.units)), k_(at.k) {}
        constexpr bool more() const noexcept { return i_ < KeyWords; }
        constexpr word_bits next() noexcept {
            const word_bits in_block = Form::word(hash_, k_, i_++);
            return {first_ + in_block.word, in_block.bits};
        }

      private:
        std::uint64_t hash_, first_;
        std::uint32_t k_;
        std::uint32_t i_ = 0;
    };
};

// One bit in each word of a line, or of two adjacent ones: k is 8 or 16. The fastest to test: one load, one shift.
template <std::size_t Lines>
struct lanes : block_form_of<lanes<Lines>, 8 * Lines, 8 * Lines> {
    static constexpr std::string_view name = Lines == 1 ? "lanes8" : "lanes16";
    static constexpr std::uint32_t k_step = 8 * Lines, k_max = k_step;
    static constexpr word_bits word(std::uint64_t hash, std::uint32_t, std::uint32_t i) noexcept {
        return {i, byte_bit(position_word(hash, i / 8), i % 8)};
    }
    static constexpr math::geometry shape(extent at) noexcept {
        return {.blocks = at.units, .groups = 8 * Lines, .sector_bits = 64};
    }
};

// Cache-sectorised: a line is 2 or 4 runs of neighbouring words. A key picks one word of each run and sets k / Groups bits of
// it, so an add writes 2 or 4 words and not 8: threads that add at once pay about 4 ns for each. A run has 16 / Groups bytes
// of two position words, at most one bit from each; the top bits of its last byte, which no position uses, pick the word.
template <std::uint32_t Groups>
struct sectors : block_form_of<sectors<Groups>, 8, Groups> {
    static constexpr std::string_view name = Groups == 2 ? "sectors2" : "sectors4";
    static constexpr std::uint32_t k_step = Groups, k_max = 16;
    static constexpr std::uint32_t bytes = 16 / Groups; // 8 or 4
    static constexpr std::uint32_t run = 8 / Groups;    // 4 or 2 words
    // The bytes of a run, the first of them lowest.
    static constexpr std::uint64_t positions(std::uint64_t hash, std::uint32_t group) noexcept {
        return position_word(hash, group * bytes / 8) >> (8 * (group * bytes % 8));
    }
    static constexpr std::uint64_t word_of(std::uint64_t positions, std::uint32_t group) noexcept {
        return group * run + ((positions >> (8 * bytes - 2)) & (run - 1));
    }
    static constexpr word_bits word(std::uint64_t hash, std::uint32_t k, std::uint32_t i) noexcept {
        const std::uint64_t from = positions(hash, i);
        return {word_of(from, i), byte_bits(from, k / Groups)};
    }
    static constexpr math::geometry shape(extent at) noexcept {
        return {.blocks = at.units,
                .groups = Groups,
                .sectors = run,
                .sector_bits = 64,
                .bits_per_group = at.k / Groups};
    }
};

// Apache Parquet's: one bit in each of the eight 32-bit lanes of half a line, by the eight salts of its format
// specification; the block is a 32-bit fast range over the upper half of the hash. Lane 2w is the low half of word w, so
// that on a little-endian machine the words are Parquet's bytes.
struct split8x32 : block_form_of<split8x32, 4, 4> {
    static constexpr std::string_view name = "split8x32";
    static constexpr std::uint32_t k_step = 8, k_max = 8;
    static constexpr std::array<std::uint32_t, 8> salts{0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                                        0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
    static constexpr std::uint64_t block_of(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return ((hash >> 32) * blocks) >> 32;
    }
    static constexpr std::uint64_t lane_bit(std::uint64_t hash, std::size_t lane) noexcept {
        return std::uint64_t{1} << ((static_cast<std::uint32_t>(hash) * salts[lane]) >> 27);
    }
    static constexpr word_bits word(std::uint64_t hash, std::uint32_t, std::uint32_t i) noexcept {
        return {i, lane_bit(hash, 2 * i) | lane_bit(hash, 2 * i + 1) << 32};
    }
    static constexpr math::geometry shape(extent at) noexcept {
        return {.blocks = at.units, .groups = 8, .sector_bits = 32};
    }
};

// All k bits in one 64-bit word: one read-modify-write decides who was first.
struct registers : block_form_of<registers, 1, 1> {
    static constexpr std::string_view name = "registers";
    static constexpr std::uint32_t k_step = 1, k_max = 8;
    static constexpr word_bits word(std::uint64_t hash, std::uint32_t k, std::uint32_t) noexcept {
        return {0, byte_bits(position_word(hash, 0), k)};
    }
    static constexpr math::geometry shape(extent at) noexcept {
        return {.blocks = at.units, .sector_bits = 64, .bits_per_group = at.k};
    }
};

// ---- forms without blocks: each bit anywhere, a line for each --------------------------------------------------------

// Position i is fast_range(hash * step^i, m), all modulo 2^64: each is a full odd multiple of the hash. Two keys share j
// given positions about as rarely as if these were independent (measured, see docs/math.md). Sums of a few mixes were no cheaper
// and had fewer free numbers than positions: with three, two keys share all k with about 1/(m k)^3, and a partitioned filter
// of two keys at 10^-7 measured 5.7 times its rate.
// It takes hashes, not ids: 0 has one position k times over, a multiple of 2^58 has few. hash_key mixes an id.
// `step` is 3 modulo 8, so that its powers do not come back to 1 early. Two chains in turn, because a multiply takes four
// cycles and nothing else here does.
class spread_positions {
  public:
    constexpr explicit spread_positions(std::uint64_t hash) noexcept : now_(hash), next_(hash * step) {}
    constexpr std::uint64_t next() noexcept {
        const std::uint64_t out = now_;
        now_ = next_;
        next_ = out * (step * step);
        return out;
    }

  private:
    static constexpr std::uint64_t step = position_multipliers[1];
    static_assert(step % 8 == 3);
    std::uint64_t now_, next_;
};

constexpr word_bits bit_at(std::uint64_t position) noexcept {
    return {position / 64, std::uint64_t{1} << (position % 64)};
}

// What they share: at.k of these positions, one after the other.
template <class Positions>
struct flat_form_of {
    static constexpr std::size_t block_words = 0;
    static constexpr std::size_t key_words = 64;
    static constexpr std::uint32_t k_step = 1, k_max = 64;
    static constexpr std::uint64_t words(extent at) noexcept { return at.units / 64 + (at.units % 64 != 0); }
    class key {
      public:
        constexpr key(extent at, std::uint64_t hash) noexcept : positions_(at, hash), left_(at.k) {}
        constexpr bool more() const noexcept { return left_ != 0; }
        constexpr word_bits next() noexcept {
            --left_;
            return positions_.next();
        }

      private:
        Positions positions_;
        std::uint32_t left_;
    };
};

struct flat_positions {
    constexpr flat_positions(extent at, std::uint64_t hash) noexcept : bits(at.units), from(hash) {}
    constexpr word_bits next() noexcept { return bit_at(fast_range(from.next(), bits)); }
    std::uint64_t bits;
    spread_positions from;
};
struct flat : flat_form_of<flat_positions> {
    static constexpr std::string_view name = "flat";
    static constexpr math::geometry shape(extent at) noexcept {
        return {.sector_bits = at.units, .bits_per_group = at.k};
    }
};

// k slices of at.units bits, a multiple of 64; one bit in each.
struct slice_positions {
    constexpr slice_positions(extent at, std::uint64_t hash) noexcept : bits(at.units), from(hash) {}
    constexpr word_bits next() noexcept {
        const word_bits in_slice = bit_at(fast_range(from.next(), bits));
        const std::uint64_t first = slice;
        slice += bits / 64;
        return {first + in_slice.word, in_slice.bits};
    }
    std::uint64_t bits;
    std::uint64_t slice = 0; // its first word
    spread_positions from;
};
struct slices : flat_form_of<slice_positions> {
    static constexpr std::string_view name = "slices";
    static constexpr std::uint64_t words(extent at) noexcept { return at.units / 64 * at.k; }
    static constexpr math::geometry shape(extent at) noexcept {
        return {.groups = at.k, .sector_bits = at.units};
    }
};

// Those of DCSO's Go program `bloom`: x = hash mod P, then k times x = (x g mod 2^64) mod P and position x mod m, where
// P = 2^64 - 59 is prime. The product is cut to 64 bits before P is taken, as in the program, so x is not a power sequence
// modulo P but nearly hash * g^i modulo 2^64. Hence the low bits of all positions follow from those of the hash when m is
// even, and with m = 2^j a key has only 2^j possible patterns.
//
// x mod m takes two multiplications: with r = floor((2^64 - 1) / m), mulhi(x, r) is floor(x / m) or one less, so what is
// left lies below 2 m. r is worked out for each key (one division, 0.4 ns of 16): kept in the extent, it would push that out of
// registers for all forms.
class dcso_positions {
  public:
    constexpr dcso_positions(extent at, std::uint64_t hash) noexcept
        : bits_(at.units), reciprocal_(at.units == 0 ? 0 : ~std::uint64_t{0} / at.units),
          x_(below_prime(hash)) {}
    constexpr word_bits next() noexcept {
        x_ = below_prime(x_ * step);
        const std::uint64_t left = x_ - mul_high(x_, reciprocal_) * bits_;
        return bit_at(left < bits_ ? left : left - bits_);
    }

  private:
    static constexpr std::uint64_t prime = 18446744073709551557u;
    static constexpr std::uint64_t step = 18446744073709550147u;
    static constexpr std::uint64_t below_prime(std::uint64_t x) noexcept { return x < prime ? x : x - prime; }

    std::uint64_t bits_, reciprocal_, x_;
};
struct dcso : flat_form_of<dcso_positions> {
    static constexpr std::string_view name = "dcso";
    static constexpr math::geometry shape(extent at) noexcept {
        return {.sector_bits = at.units, .bits_per_group = at.k};
    }
};

// ---- all of them -----------------------------------------------------------------------------------------------------

template <class... Form>
struct form_list {
    static constexpr std::size_t size = sizeof...(Form);
    template <class Wanted>
    static constexpr std::size_t index_of() noexcept {
        static_assert((std::is_same_v<Form, Wanted> || ...));
        std::size_t at = 0;
        static_cast<void>(((std::is_same_v<Form, Wanted> || (++at, false)) || ...));
        return at;
    }
    // visit(Form{}) for each, in order.
    template <class Visit>
    static constexpr void each(Visit visit) {
        (visit(Form{}), ...);
    }
};

// Every form once. The rows of the kernel tables and the tests come from this list.
using all_forms =
    form_list<lanes<1>, lanes<2>, sectors<2>, sectors<4>, split8x32, registers, flat, slices, dcso>;

} // namespace bouncer::detail
