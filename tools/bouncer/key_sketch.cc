#include "key_sketch.h"

#include <bouncer/detail/bits.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace bouncer::tool {

namespace {

// x + sum of 2^(i - 1) x^(2^i): what empty registers say.
double sigma(double x) {
    if (x == 1) return std::numeric_limits<double>::infinity();
    double sum = x;
    double before;
    double weight = 1;
    do {
        x *= x;
        before = sum;
        sum += x * weight;
        weight += weight;
    } while (sum != before);
    return sum;
}

// (1 - x - sum of 2^-i (1 - x^(2^-i))^2) / 3: what registers say that have the highest rank.
double tau(double x) {
    if (x == 0 || x == 1) return 0;
    double sum = 1 - x;
    double before;
    double weight = 1;
    do {
        x = std::sqrt(x);
        before = sum;
        weight /= 2;
        sum -= (1 - x) * (1 - x) * weight;
    } while (sum != before);
    return sum / 3;
}

} // namespace

void key_sketch::add(std::span<const std::uint64_t> hashes) noexcept {
    for (const std::uint64_t hash : hashes) {
        const std::uint64_t bits = detail::mix64(hash); // not every hash is as good as it should be
        // The lowest bit of the index ends the run of zeros: a rank of 48 at most.
        const auto rank = static_cast<std::uint8_t>(
            std::countl_zero(bits << index_bits | std::uint64_t{1} << (index_bits - 1)) + 1);
        // Stored each time: a branch here is guessed wrong for hundreds of thousands of hashes, and costs more.
        std::uint8_t& highest = ranks_[bits >> (64 - index_bits)];
        highest = std::max(highest, rank);
    }
}

void key_sketch::merge(const key_sketch& other) noexcept {
    std::transform(ranks_.begin(), ranks_.end(), other.ranks_.begin(), ranks_.begin(),
                   [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
}

double key_sketch::distinct() const {
    constexpr unsigned rank_most = 64 - index_bits + 1;
    constexpr double m = registers;
    std::array<double, rank_most + 1> count{};
    for (const std::uint8_t rank : ranks_) ++count[rank];
    double sum = m * tau(1 - count[rank_most] / m);
    for (unsigned rank = rank_most - 1; rank >= 1; --rank) sum = 0.5 * (sum + count[rank]);
    sum += m * sigma(count[0] / m);
    return m * m / (2 * std::log(2.0) * sum);
}

} // namespace bouncer::tool
