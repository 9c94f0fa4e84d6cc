// dcso_bloom: the flat filter of DCSO's Go program `bloom`, bit for bit: its words are those of a file of that program.
// For sets that others publish in that form; bloom is better in every other respect. docs/filters/dcso_bloom.md
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/bits.h>
#include <bouncer/detail/fields.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/stored.h>

namespace bouncer {

// Explicit parameters: m = `bits`, any number up to 2^50, and k from 1 to 64. Even numbers of bits, and powers of two
// most of all, raise the rate: see every_word below.
struct dcso_bloom_parameters {
    std::uint64_t bits = 0;
    std::uint32_t k = 0;
    friend bool operator==(const dcso_bloom_parameters&, const dcso_bloom_parameters&) = default;
};

namespace detail {

// value % divisor by two multiplications. With r = floor((2^64 - 1) / d), mulhi(v, r) is floor(v / d) or one less, so
// what is left lies below 2 d. Precondition: the divisor is at most 2^63.
class remainder_of {
  public:
    explicit constexpr remainder_of(std::uint64_t divisor) noexcept
        : divisor_(divisor), reciprocal_(divisor == 0 ? 0 : ~std::uint64_t{0} / divisor) {}

    constexpr std::uint64_t operator()(std::uint64_t value) const noexcept {
        const auto quotient = static_cast<std::uint64_t>((uint128{value} * reciprocal_) >> 64);
        const std::uint64_t left = value - quotient * divisor_;
        return left < divisor_ ? left : left - divisor_;
    }

  private:
    std::uint64_t divisor_;
    std::uint64_t reciprocal_;
};

class dcso_layout : public starts_empty, public fields<dcso_bloom_parameters, "bits", "k"> {
  public:
    template <class Words>
    using filter = bit_filter<dcso_layout, Words>;
    static constexpr std::uint16_t kind_id = 15;
    static constexpr std::uint16_t layout_version = 1;
    static constexpr std::string_view kind_name = "dcso_bloom";
    static constexpr std::uint32_t k_most = 64;
    static constexpr bool one_word = false;
    static constexpr bool one_block = false;
    static constexpr std::size_t words_per_key = k_most;

    // The program fixes the hash: FNV-1, 64 bits, unmixed. Anything else is refused.
    using default_hasher = fnv1;
    static hash_spec default_hash() noexcept { return fnv1{}.spec(); }
    static result<void> check_hash(const hash_spec& spec);

    // From keys and a rate: the program's own m and k, so that files can be exchanged and joined. That is the textbook
    // formula, and the exact rate may lie above the goal: by 0.4 % at 0.01, by an eighth just below 0.5.
    static result<parameters> solve(const goal& wanted);
    static result<void> check(const parameters& chosen);

    explicit constexpr dcso_layout(const parameters& chosen) noexcept
        : params_(chosen), position_of_(chosen.bits) {}

    const parameters& params() const noexcept { return params_; }
    std::uint64_t word_count() const noexcept { return params_.bits / 64 + (params_.bits % 64 != 0); }
    std::uint64_t block_count() const noexcept { return 1; }
    math::geometry shape() const noexcept {
        return {.sector_bits = params_.bits, .bits_per_group = params_.k};
    }

    // Above it there are more keys than the program's own formula puts into so many bits. The positions of a key hang
    // together, so the fill varies more than by chance: see the .cc file.
    double fill_limit(double rate) const;

    // The k positions: x = hash mod P, then k times x = (x g mod 2^64) mod P and position x mod m, where P = 2^64 - 59 is
    // prime. The product is cut to 64 bits before P is taken, as in the program, so x is not a power sequence modulo P
    // but nearly hash * g^i modulo 2^64. Hence the low bits of all positions follow from those of the hash when m is
    // even, and with m = 2^j a key has only 2^j possible patterns.
    template <class Visit>
    constexpr bool every_word(std::uint64_t hash, Visit visit) const noexcept {
        std::uint64_t x = below_prime(hash);
        for (std::uint32_t i = 0; i < params_.k; ++i) {
            x = below_prime(x * step);
            const std::uint64_t position = position_of_(x);
            if (!visit(position / 64, std::uint64_t{1} << (position % 64))) return false;
        }
        return true;
    }
    // visit(index of a word in the line) for every line that a query may read.
    template <class Visit>
    constexpr void every_line(std::uint64_t hash, Visit visit) const noexcept {
        every_word(hash, [&](std::uint64_t word, std::uint64_t) { return visit(word), true; });
    }

  private:
    static constexpr std::uint64_t prime = 18446744073709551557u;
    static constexpr std::uint64_t step = 18446744073709550147u;
    static constexpr std::uint64_t below_prime(std::uint64_t x) noexcept { return x < prime ? x : x - prime; }

    parameters params_;
    remainder_of position_of_;
};

} // namespace detail

template <class Words>
using basic_dcso_bloom = bit_filter<detail::dcso_layout, Words>;
using plain_dcso_bloom = basic_dcso_bloom<plain_words>;
using atomic_dcso_bloom = basic_dcso_bloom<atomic_words>;
using dcso_bloom_view = basic_dcso_bloom<const_words>;

} // namespace bouncer
