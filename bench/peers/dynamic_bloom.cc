// The idea of RocksDB's DynamicBloom, the filter of its memtables, in code of our own: a 32-bit hash names a word by
// fast-range; the k bits lie two by two in k/2 words of that word's cache line, reached by xor with 0, 1, 2, …; an add
// looks before it writes, so that bits already there cost no ownership of the line. Made for concurrent adds. The
// 32-bit hash is the limit: with 100 million keys in, 2.3 % of all absent keys share a hash with one of them.
#include "loops.h"
#include "page_memory.h"
#include "peers.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

namespace bench {

namespace {

constexpr std::uint32_t pairs = 3; // k = 6, as memtables have it
constexpr std::uint64_t words_per_line = 8;
constexpr std::size_t lookahead = 32; // keys of a batch that are prefetched together

// The rate at `bits` per key: the mean over the number of keys (Poisson) in a group of four words, since xor with 0, 1
// and 2 does not leave it. Each key has two bits in three of the four. The three words of a query are taken as
// independent given that number.
double rate_at(double bits) {
    constexpr double group_words = 4;
    const double mean = 64 * group_words / bits;
    const double untouched = 1 - pairs / group_words / 64;
    double probability = std::exp(-mean);
    double sum = 0;
    for (int keys = 0; keys < 10 * mean + 50; ++keys) {
        sum += probability * std::pow(1 - std::pow(untouched, 2 * keys), 2 * pairs);
        probability *= mean / (keys + 1);
    }
    return sum;
}

double bits_for(double rate) {
    double low = 1;
    double high = 200;
    for (int step = 0; step < 50; ++step)
        (rate_at(std::midpoint(low, high)) > rate ? low : high) = std::midpoint(low, high);
    return high;
}

class dynamic_bloom_subject final : public looped<dynamic_bloom_subject> {
  public:
    explicit dynamic_bloom_subject(const request& wanted)
        : words_(words_for(wanted)), memory_(words_ * 8, wanted.pages) {}

    std::uint64_t size_bytes() const override { return memory_.size_bytes(); }
    void clear() override { memory_.clear(); }

    bool has(std::uint64_t key) const { return has(place_of(key)); }

    void put(std::uint64_t key) {
        const place at = place_of(key);
        std::uint64_t positions = at.positions;
        std::uint64_t* const words = address(0); // in a local: not to be read again after each atomic write
        for (std::uint32_t i = 0; i < pairs; ++i, positions <<= 12) {
            const std::uint64_t bits = two_bits(positions);
            const std::atomic_ref target(words[at.word ^ i]);
            if ((target.load(std::memory_order_relaxed) & bits) != bits)
                target.fetch_or(bits, std::memory_order_relaxed);
        }
    }

    std::size_t query_batch(std::span<const std::uint64_t> keys, std::span<bool> answers) const override {
        std::size_t found = 0;
        place places[lookahead];
        for (std::size_t first = 0; first < keys.size(); first += lookahead) {
            const std::size_t count = std::min(lookahead, keys.size() - first);
            for (std::size_t i = 0; i < count; ++i) {
                places[i] = place_of(keys[first + i]);
                __builtin_prefetch(address(places[i].word));
            }
            for (std::size_t i = 0; i < count; ++i) found += answers[first + i] = has(places[i]);
        }
        return found;
    }

  private:
    struct place {
        std::uint64_t word;
        std::uint64_t positions; // six bits each, from the top
    };

    static std::uint64_t words_for(const request& wanted) {
        const double each = wanted.bits_per_key > 0 ? wanted.bits_per_key : bits_for(wanted.fpr);
        const double lines = std::ceil(static_cast<double>(wanted.keys) * each / (64 * words_per_line));
        return static_cast<std::uint64_t>(std::max(1.0, lines)) * words_per_line;
    }

    place place_of(std::uint64_t key) const {
        const std::uint64_t hash = key & 0xffffffffu;
        return {.word = hash * words_ >> 32, .positions = hash * 0xd1b54a32d192ed03u};
    }
    bool has(const place& at) const {
        std::uint64_t positions = at.positions;
        for (std::uint32_t i = 0; i < pairs; ++i, positions <<= 12) {
            const std::uint64_t bits = two_bits(positions);
            if ((word(at.word ^ i).load(std::memory_order_relaxed) & bits) != bits) return false;
        }
        return true;
    }
    static std::uint64_t two_bits(std::uint64_t positions) {
        return std::uint64_t{1} << (positions >> 58) | std::uint64_t{1} << (positions >> 52 & 63);
    }
    std::uint64_t* address(std::uint64_t i) const {
        return reinterpret_cast<std::uint64_t*>(memory_.data()) + i;
    }
    std::atomic_ref<std::uint64_t> word(std::uint64_t i) const { return std::atomic_ref(*address(i)); }

    std::uint64_t words_;
    page_memory memory_;
};

} // namespace

subject_type dynamic_bloom_peer() {
    return {.name = "dynamic_bloom",
            .kind = "dynamic_bloom",
            .peer = true,
            .can = can_query | can_query_batch | can_add | can_share,
            .make = [](const request& wanted) -> std::unique_ptr<subject> {
                // The product of hash and words must fit into 64 bits.
                const double bits = static_cast<double>(wanted.keys) * std::max(wanted.bits_per_key, 1.0);
                if (bits / 64 >= 0x1p31) return nullptr;
                return std::make_unique<dynamic_bloom_subject>(wanted);
            }};
}

} // namespace bench
