#include <bouncer/detail/bit_scan.h>

#include <bouncer/detail/bits.h>

#include "math/power.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bouncer::detail {

using math::detail::power;

namespace {

// The set bits among `count` bits from bit `first` on, which is a multiple of 32, and so is the count unless they all
// lie in one group. What stands behind the last bit does not count.
std::uint64_t ones_in(bit_source bits, std::uint64_t first, std::uint64_t count) noexcept {
    std::uint64_t ones = 0;
    std::uint64_t word = first / 64;
    if (first % 64 != 0) {
        ones += static_cast<std::uint64_t>(std::popcount(bits.load(word) >> 32));
        ++word;
        count -= 32;
    }
    for (; count >= 64; count -= 64) ones += static_cast<std::uint64_t>(std::popcount(bits.load(word++)));
    if (count != 0)
        ones +=
            static_cast<std::uint64_t>(std::popcount(bits.load(word) & ((std::uint64_t{1} << count) - 1)));
    return ones;
}

// What block `block` answers "maybe" to: in every group the query picks a sector and must find all its bits.
double block_rate(const math::geometry& shape, bit_source bits, std::uint64_t block) noexcept {
    double rate = 1;
    std::uint64_t first = block * shape.groups * shape.sectors * shape.sector_bits;
    for (std::uint32_t group = 0; group < shape.groups; ++group) {
        double group_rate = 0;
        for (std::uint32_t sector = 0; sector < shape.sectors; ++sector, first += shape.sector_bits) {
            const auto ones = static_cast<double>(ones_in(bits, first, shape.sector_bits));
            group_rate += power(ones / static_cast<double>(shape.sector_bits), shape.bits_per_group);
        }
        rate *= group_rate / shape.sectors;
    }
    return rate;
}

// The mean of samples in [0, 1], drawn by `draw(random 64 bits)`, and its empirical Bernstein bound.
template <class Draw>
estimate sampled_mean(std::uint32_t samples, std::uint64_t seed, double confidence_loss, Draw draw) noexcept {
    samples = std::max(samples, 1u);
    double sum = 0;
    double squares = 0;
    for (std::uint32_t i = 0; i < samples; ++i) {
        const double x = draw(mix64(seed + i * std::uint64_t{0x9e3779b97f4a7c15}));
        sum += x;
        squares += x * x;
    }
    const double mean = sum / samples;
    const double variance = std::max(0.0, squares / samples - mean * mean);
    const double log_term = std::log(3 / confidence_loss);
    const double error = std::sqrt(2 * variance * log_term / samples) + 3 * log_term / samples;
    return {mean, std::max(0.0, mean - error), std::min(1.0, mean + error)};
}

constexpr double loss = 1e-3; // one minus the confidence of every bound

// Every other bit of the OR of x's pairs: the bits of half a word.
std::uint64_t halved(std::uint64_t x) noexcept {
    x = (x | x >> 1) & 0x5555555555555555u;
    x = (x | x >> 1) & 0x3333333333333333u;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (x | x >> 16) & 0x00000000ffffffffu;
}

estimate sampled_range_fill(bit_source bits, std::uint64_t first_word, std::uint64_t words,
                            std::uint32_t samples, std::uint64_t seed, double confidence_loss) noexcept {
    return sampled_mean(samples, seed, confidence_loss, [&](std::uint64_t random) {
        return static_cast<double>(std::popcount(bits.load(first_word + fast_range(random, words)))) / 64;
    });
}

// Of the whole filter. Bits behind the last whole word are left out, but for a filter that has no more.
estimate sampled_whole_fill(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                            std::uint64_t seed, double confidence_loss) noexcept {
    if (shape.total_bits() < 64) {
        const double fill = fill_of(shape, bits);
        return {fill, fill, fill};
    }
    return sampled_range_fill(bits, 0, shape.total_bits() / 64, samples, seed, confidence_loss);
}

estimate keys_behind_sample(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                            std::uint64_t seed, double confidence_loss) noexcept {
    const estimate fill = sampled_whole_fill(shape, bits, samples, seed, confidence_loss);
    return {keys_behind(shape, fill.value), keys_behind(shape, fill.low), keys_behind(shape, fill.high)};
}

} // namespace

double fill_of(const math::geometry& shape, bit_source bits) noexcept {
    return static_cast<double>(ones_in(bits, 0, shape.total_bits())) /
           static_cast<double>(shape.total_bits());
}

double answer_rate(const math::geometry& shape, bit_source bits) noexcept {
    double sum = 0;
    for (std::uint64_t block = 0; block < shape.blocks; ++block) sum += block_rate(shape, bits, block);
    return sum / static_cast<double>(shape.blocks);
}

double keys_behind(const math::geometry& shape, double fill) noexcept {
    return math::keys_for_zero_fraction(shape, 1 - fill);
}

estimate sampled_fill(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                      std::uint64_t seed) noexcept {
    return sampled_whole_fill(shape, bits, samples, seed, loss);
}

estimate sampled_answer_rate(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                             std::uint64_t seed) noexcept {
    if (shape.blocks > 1 || shape.sectors > 1 || shape.sector_bits < 64)
        return sampled_mean(samples, seed, loss, [&](std::uint64_t random) {
            return block_rate(shape, bits, fast_range(random, shape.blocks));
        });
    // One block (flat, partitioned; a single sector a group): the rate is the product of the groups' fills, each
    // sampled on its own; the confidence is shared among them.
    estimate rate{1, 1, 1};
    const std::uint64_t group_words = shape.total_bits() / 64 / shape.groups;
    for (std::uint32_t group = 0; group < shape.groups; ++group) {
        const estimate fill = sampled_range_fill(bits, group * group_words, group_words, samples,
                                                 seed + group, loss / shape.groups);
        rate.value *= power(fill.value, shape.bits_per_group);
        rate.low *= power(fill.low, shape.bits_per_group);
        rate.high *= power(fill.high, shape.bits_per_group);
    }
    return rate;
}

estimate sampled_keys(const math::geometry& shape, bit_source bits, std::uint32_t samples,
                      std::uint64_t seed) noexcept {
    return keys_behind_sample(shape, bits, samples, seed, loss);
}

double keys_in_common(const math::geometry& shape, bit_source both) noexcept {
    const auto keys = [&](bit_source bits) { return keys_behind(shape, fill_of(shape, bits)); };
    const double together = keys(both);
    if (std::isinf(together)) return together;
    return std::max(0.0, keys({both.words}) + keys({both.other}) - together);
}

estimate sampled_keys_in_common(const math::geometry& shape, bit_source both, std::uint32_t samples,
                                std::uint64_t seed) noexcept {
    // Three bounds become one, so they share its confidence.
    const auto sample = [&](bit_source bits) {
        return keys_behind_sample(shape, bits, samples, seed, loss / 3);
    };
    const estimate a = sample({both.words});
    const estimate b = sample({both.other});
    const estimate together = sample(both);
    if (std::isinf(together.value)) return together;
    return {std::max(0.0, a.value + b.value - together.value), std::max(0.0, a.low + b.low - together.high),
            std::max(0.0, a.high + b.high - together.low)};
}

void fold_words(const math::geometry& shape, std::uint64_t factor, std::span<const std::uint64_t> from,
                std::uint64_t first, std::uint64_t* to, std::uint64_t to_first) noexcept {
    const std::uint64_t words = shape.total_bits() / 64;
    const std::uint64_t last = first + from.size();
    const auto load = [&](std::uint64_t i) { return __atomic_load_n(&from[i - first], __ATOMIC_RELAXED); };
    if (shape.blocks > 1) {
        const std::uint64_t block_words = words / shape.blocks;
        for (std::uint64_t i = first; i < last; ++i)
            to[i / block_words / factor * block_words + i % block_words - to_first] |= load(i);
        return;
    }
    const std::uint64_t group_bits = shape.total_bits() / shape.groups;
    if (std::has_single_bit(factor) && factor <= 64) { // the bits of a word stay neighbours: no division
        for (std::uint64_t i = first; i < last; ++i) {
            std::uint64_t bits_left = load(i);
            for (std::uint64_t f = factor; f > 1; f /= 2) bits_left = halved(bits_left);
            const std::uint64_t target = i * (64 / factor);
            to[target / 64 - to_first] |= bits_left << (target % 64);
        }
        return;
    }
    for (std::uint64_t i = first; i < last; ++i) {
        const std::uint64_t group = i * 64 / group_bits;
        for (std::uint64_t left = load(i); left != 0; left &= left - 1) {
            const std::uint64_t bit =
                i * 64 + static_cast<std::uint64_t>(std::countr_zero(left)) - group * group_bits;
            const std::uint64_t target = group * (group_bits / factor) + bit / factor;
            to[target / 64 - to_first] |= std::uint64_t{1} << (target % 64);
        }
    }
}

std::uint64_t first_open_word(const math::geometry& shape, std::uint64_t factor,
                              std::uint64_t done) noexcept {
    if (shape.blocks == 1) return done / factor; // groups have whole words before and after
    const std::uint64_t block_words = shape.total_bits() / 64 / shape.blocks;
    return done / block_words / factor * block_words;
}

bool equal_bits(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t words) noexcept {
    for (std::uint64_t i = 0; i < words; ++i)
        if (__atomic_load_n(a + i, __ATOMIC_RELAXED) != __atomic_load_n(b + i, __ATOMIC_RELAXED))
            return false;
    return true;
}

} // namespace bouncer::detail
