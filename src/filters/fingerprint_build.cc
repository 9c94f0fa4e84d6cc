#include "filters/fingerprint_build.h"

#include <bouncer/detail/format.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/peel.h>
#include <bouncer/math.h>
#include <bouncer/region.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace bouncer::detail {

namespace {

// log2 to 2^-20, by multiplications alone: std::log may differ in its last bit from machine to machine.
double log2_of(std::uint64_t n) noexcept {
    const auto whole = static_cast<unsigned>(std::bit_width(n)) - 1;
    double fraction = static_cast<double>(n) / static_cast<double>(std::uint64_t{1} << whole);
    double out = whole;
    for (double bit = 0.5; bit > 0x1p-21; bit /= 2) {
        fraction *= fraction;
        if (fraction >= 2) {
            fraction /= 2;
            out += bit;
        }
    }
    return out;
}

std::uint64_t grown(std::uint64_t capacity, unsigned growths) noexcept {
    for (unsigned i = 0; i < growths; ++i) capacity += capacity / 20 + 1;
    return capacity;
}

// `share` and `slope` are those of Graf and Lemire's fits: cells per key = share + slope / log2(keys), at least `least`.
std::uint64_t fuse_starts(unsigned arity, std::uint64_t segment, std::uint64_t keys, unsigned growths,
                          double least, double share, double slope) noexcept {
    const double factor = std::max(least, share + slope / log2_of(std::max<std::uint64_t>(keys, 2)));
    const auto capacity =
        grown(static_cast<std::uint64_t>(std::ceil(static_cast<double>(keys) * factor)), growths);
    const std::uint64_t segments = (capacity + segment - 1) / segment;
    return segment * (segments < arity ? 1 : segments - (arity - 1));
}

} // namespace

std::uint64_t starts_for(const fuse_shape<3>& shape, std::uint64_t keys, unsigned growths) noexcept {
    return fuse_starts(3, shape.segment_length, keys, growths, 1.125, 0.875, 0.25 * 19.931568569324174);
}
std::uint64_t starts_for(const fuse_shape<4>& shape, std::uint64_t keys, unsigned growths) noexcept {
    return fuse_starts(4, shape.segment_length, keys, growths, 1.075, 0.77, 0.305 * 19.194602975157967);
}
std::uint64_t starts_for(const xor_shape&, std::uint64_t keys, unsigned growths) noexcept {
    return (grown(keys + keys / 100 * 23 + keys % 100 * 23 / 100 + 32, growths) + 2) / 3;
}

// 2^floor(log(keys) / log(3.33) + 2.25), and 2^floor(log(keys) / log(2.91) - 0.5) of arity 4; at least 4. Small sets of
// arity 4 get twice that: the first cells are the same in every attempt, so where they crowd, a few segments must have
// room for the crowd.
std::uint32_t fuse_segment_length(unsigned arity, std::uint64_t keys_per_shard) noexcept {
    const double base = arity == 3 ? 3.33 : 2.91;
    double needs =
        arity == 3 ? 2.465092 : 42.036395; // keys from which a segment has 8 cells: base^0.75, base^3.5
    std::uint32_t length = 4;
    while (length < fuse_shape<3>::segment_most && static_cast<double>(keys_per_shard) >= needs) {
        length *= 2;
        needs *= base;
    }
    if (arity == 4 && keys_per_shard < 10'000) return std::max<std::uint32_t>(16, 2 * length);
    return length;
}

namespace {

// Memory that is kept from shard to shard. In huge pages: faults of small ones took a quarter of the time of a first shard
// of a million keys.
template <class T>
class scratch {
  public:
    // Its content is whatever was there before. Throws std::bad_alloc.
    T* room_for(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (held_.size_bytes() < bytes || bytes == 0) {
            held_ = region();
            auto more = region::allocate(bytes + bytes / 16 + 64);
            if (!more) throw std::bad_alloc();
            held_ = std::move(*more);
        }
        return data();
    }
    T* data() noexcept { return static_cast<T*>(held_.data()); }
    const T* data() const noexcept { return static_cast<const T*>(held_.data()); }

  private:
    region held_;
};

// What peel() sees of the keys of a shard: of each cell how many keys it has (times 4, plus the xor of which of their
// cells it is) and the xor of them.
template <class Shape>
class cells_of_keys {
  public:
    cells_of_keys(const Shape& shape, std::uint64_t shards) noexcept : shape_(shape), shards_(shards) {}

    void reset(std::uint64_t starts, std::uint64_t attempt) {
        starts_ = starts;
        multiplier_ = multiplier_of(attempt);
        const std::uint64_t cells = shape_.cell_count(starts);
        std::fill_n(keys_.room_for(cells), cells, 0);
        std::fill_n(counts_.room_for(cells), cells, 0);
    }

    key_cells<Shape::arity> cells_of(std::uint64_t g) const noexcept {
        return shape_.cells(g * shards_, offsets_of(g, multiplier_), starts_);
    }

    // False: some cell has more keys than it can count.
    bool put_in(std::span<const std::uint64_t> hashes) noexcept {
        std::uint64_t* const keys = keys_.data();
        std::uint8_t* const counts = counts_.data();
        bool over = false;
        for (const std::uint64_t g : hashes) {
            cells_of(g).each([&](unsigned i, std::uint64_t cell) {
                keys[cell] ^= g;
                const auto count = static_cast<std::uint8_t>((counts[cell] + 4) ^ i);
                counts[cell] = count;
                over |= count < 4;
            });
        }
        return !over;
    }

    bool alone(std::uint32_t cell) const noexcept { return counts_.data()[cell] >> 2 == 1; }
    std::uint64_t item(std::uint32_t cell) const noexcept { return keys_.data()[cell]; }
    // Leaves the key in `cell`, where it is looked up when the values are given out.
    template <class Touched>
    [[gnu::always_inline]] void take_out(std::uint64_t g, std::uint32_t cell, Touched touched) noexcept {
        std::array<std::uint32_t, Shape::arity> cells;
        cells_of(g).each([&](unsigned i, std::uint64_t c) { cells[i] = static_cast<std::uint32_t>(c); });
        std::uint64_t* const keys = keys_.data();
        std::uint8_t* const counts = counts_.data();
        unsigned at = counts[cell] & 3u;
        counts[cell] = 0;
        for (unsigned i = 1; i < Shape::arity; ++i) {
            at = at + 1 == Shape::arity ? 0 : at + 1;
            const std::uint32_t other = cells[at];
            keys[other] ^= g;
            counts[other] = static_cast<std::uint8_t>((counts[other] - 4) ^ at);
            touched(other);
        }
    }

  private:
    Shape shape_;
    std::uint64_t shards_;
    std::uint64_t starts_ = 0;
    std::uint64_t multiplier_ = 0;
    scratch<std::uint64_t> keys_;
    scratch<std::uint8_t> counts_;
};

template <class Shape, class Cell>
class fingerprint_builder final : public shard_builder {
  public:
    fingerprint_builder(const Shape& shape, std::uint64_t shards) noexcept
        : shape_(shape), table_(shape, shards) {}

    result<void> build(std::span<const std::uint64_t> hashes, std::uint64_t shard,
                       shard_words& out) override {
        for (unsigned attempt = 0; attempt < attempts_most; ++attempt) {
            const std::uint64_t starts = starts_for(shape_, hashes.size(), attempt / tries_per_size);
            if (!shape_.starts_ok(starts))
                return failure{error_code::too_large,
                               "shard " + std::to_string(shard) + " would have " +
                                   std::to_string(hashes.size()) +
                                   " keys, too many for one: the hashes are not random"};
            if (!order_keys(hashes, starts, attempt)) continue;
            give_values(hashes.size(), starts, out);
            out.entry[1] = starts;
            out.entry[2] = multiplier_of(attempt);
            return {};
        }
        return failure{error_code::invalid_argument,
                       "shard " + std::to_string(shard) + " of " + std::to_string(hashes.size()) +
                           " keys could not be built in " + std::to_string(attempts_most) +
                           " attempts: the hashes are not random; take another seed, or a keyed hash"};
    }

  private:
    // An order in which every key has, at its turn, a cell that no key after it has.
    bool order_keys(std::span<const std::uint64_t> hashes, std::uint64_t starts, std::uint64_t attempt) {
        const auto cells = static_cast<std::uint32_t>(shape_.cell_count(starts));
        table_.reset(starts, attempt);
        if (!table_.put_in(hashes)) return false;
        peel_stack stack({stack_.room_for(std::size_t{cells} + 1), std::size_t{cells} + 1});
        peel_starts(table_, cells, stack);
        std::uint32_t* next = order_.room_for(hashes.size());
        return peel(table_, stack, hashes.size(),
                    [&](std::uint64_t, std::uint32_t cell) { *next++ = cell; }) == hashes.size();
    }

    void give_values(std::size_t keys, std::uint64_t starts, shard_words& out) {
        out.words.assign(cell_words(shape_.cell_count(starts), 8 * sizeof(Cell)), 0);
        std::uint64_t* const words = out.words.data();
        auto* const bytes = reinterpret_cast<unsigned char*>(words);
        for (std::size_t i = keys; i-- != 0;) {
            const std::uint32_t cell = order_.data()[i];
            const std::uint64_t g = table_.item(cell);
            auto value = static_cast<Cell>(fingerprint_of(g));
            // Its own cell is still 0.
            table_.cells_of(g).each([&](unsigned, std::uint64_t other) {
                value = static_cast<Cell>(value ^ load_cell<Cell>(cell_address<Cell>(words, other)));
            });
            std::memcpy(bytes + cell_index<Cell>(cell) * sizeof value, &value, sizeof value);
        }
    }

    Shape shape_;
    cells_of_keys<Shape> table_;
    scratch<std::uint32_t> stack_;
    scratch<std::uint32_t> order_; // the cell that each key was alone in
};

} // namespace

template <class Shape>
std::unique_ptr<shard_builder> make_fingerprint_builder(const Shape& shape, std::uint32_t cell_bits,
                                                        std::uint64_t shards) {
    switch (cell_bits) {
    case 8: return std::make_unique<fingerprint_builder<Shape, std::uint8_t>>(shape, shards);
    case 16: return std::make_unique<fingerprint_builder<Shape, std::uint16_t>>(shape, shards);
    default: return std::make_unique<fingerprint_builder<Shape, std::uint32_t>>(shape, shards);
    }
}

template <class Shape>
std::uint64_t expected_words(const Shape& shape, std::uint32_t cell_bits, std::uint64_t shards,
                             std::uint64_t keys) noexcept {
    if (keys == 0) return 8;
    const auto words_of = [&](std::uint64_t shard_keys) {
        return cell_words(shape.cell_count(starts_for(shape, shard_keys, 0)), cell_bits);
    };
    const std::uint64_t directory = directory_words(shards, fingerprint_entry_words);
    if (shards == 1) return directory + words_of(keys);
    // The numbers of keys of shards are normal, and a shard has whole segments: the mean over eighths of that curve.
    const double mean = static_cast<double>(keys) / static_cast<double>(shards);
    std::uint64_t eight = 0;
    for (const double sigmas : {-1.534, -0.887, -0.489, -0.157, 0.157, 0.489, 0.887, 1.534})
        eight += words_of(static_cast<std::uint64_t>(mean + sigmas * std::sqrt(mean)));
    return directory + (eight * shards + 63) / 64 * 8;
}

template <class Shape>
result<assembled> build_fingerprints(const sorted_hashes& set, const Shape& shape, std::uint32_t cell_bits,
                                     std::uint64_t shards, const build_options& options) {
    const std::uint64_t expected = expected_words(shape, cell_bits, shards, set.size());
    return assemble_shards(
        set,
        {.shards = shards,
         .entry_words = fingerprint_entry_words,
         .expected_words = expected + expected / 128 - directory_words(shards, fingerprint_entry_words),
         .scratch_bytes_per_key =
             24 + cell_bits / 6, // 17 bytes, a sixteenth more, and the value for each of 1.3 cells
         .make_builder = [&] { return make_fingerprint_builder(shape, cell_bits, shards); }},
        options);
}

template <class Shape>
result<void> check_directory(const Shape& shape, std::uint32_t cell_bits, std::uint64_t shards,
                             const std::uint64_t* words, std::uint64_t word_count) {
    const std::uint64_t after_directory = directory_words(shards, fingerprint_entry_words);
    for (std::uint64_t shard = 0; shard < shards; ++shard) {
        const std::uint64_t* const entry = words + shard * fingerprint_entry_words;
        const std::uint64_t first = entry[0];
        if (!shape.starts_ok(entry[1]))
            return failure{error_code::corrupt, "shard " + std::to_string(shard) + " claims " +
                                                    std::to_string(entry[1]) + " first cells"};
        const std::uint64_t length = cell_words(shape.cell_count(entry[1]), cell_bits);
        if (first < after_directory || first % 8 != 0 || first > word_count || length > word_count - first)
            return failure{error_code::corrupt, "shard " + std::to_string(shard) + " claims " +
                                                    std::to_string(length) + " words from word " +
                                                    std::to_string(first) + " on, of " +
                                                    std::to_string(word_count)};
    }
    return {};
}

#define BOUNCER_FOR_SHAPE(shape)                                                                             \
    template std::unique_ptr<shard_builder> make_fingerprint_builder(const shape&, std::uint32_t,            \
                                                                     std::uint64_t);                         \
    template std::uint64_t expected_words(const shape&, std::uint32_t, std::uint64_t,                        \
                                          std::uint64_t) noexcept;                                           \
    template result<assembled> build_fingerprints(const sorted_hashes&, const shape&, std::uint32_t,         \
                                                  std::uint64_t, const build_options&);                      \
    template result<void> check_directory(const shape&, std::uint32_t, std::uint64_t, const std::uint64_t*,  \
                                          std::uint64_t);
BOUNCER_FOR_SHAPE(fuse_shape<3>)
BOUNCER_FOR_SHAPE(fuse_shape<4>)
BOUNCER_FOR_SHAPE(xor_shape)
#undef BOUNCER_FOR_SHAPE

result<std::vector<std::uint32_t>> widths_for(std::string_view kind, std::uint64_t keys, const goal& wanted,
                                              const std::function<std::uint64_t(std::uint32_t)>& bytes_of) {
    const double collisions = math::hash_collision_rate(static_cast<double>(keys));
    const auto rate_of = [&](std::uint32_t bits) {
        return std::ldexp(1.0, -static_cast<int>(bits)) + collisions;
    };
    const auto too_large = [&](std::uint32_t bits) {
        return failure{error_code::too_large,
                       std::string(kind) + " of " + std::to_string(keys) + " keys with " +
                           std::to_string(bits) + "-bit fingerprints needs " +
                           std::to_string(bytes_of(bits)) + " bytes, above size_bytes, " +
                           std::to_string(*wanted.size_bytes)};
    };
    std::vector<std::uint32_t> out;
    if (wanted.false_positive_rate) {
        for (const std::uint32_t bits : {8u, 16u, 32u}) {
            if (!keeps_rate(rate_of(bits), *wanted.false_positive_rate)) continue;
            if (wanted.size_bytes && bytes_of(bits) > *wanted.size_bytes) return too_large(bits);
            out.push_back(bits);
            return out;
        }
        return failure{error_code::invalid_argument,
                       std::string(kind) + " cannot keep a false_positive_rate of " +
                           scientific(*wanted.false_positive_rate) + " for " + std::to_string(keys) +
                           " keys: its best is " + scientific(rate_of(32)) +
                           ", with 32-bit fingerprints; ribbon takes any rate that 64-bit hashes can keep"};
    }
    for (const std::uint32_t bits : {32u, 16u, 8u})
        if (bytes_of(bits) <= *wanted.size_bytes) out.push_back(bits);
    if (out.empty()) return too_large(8);
    return out;
}

result<void> check_fingerprints(std::uint64_t words, std::uint64_t keys, std::uint64_t shards,
                                std::uint32_t cell_bits) {
    if (cell_bits != 8 && cell_bits != 16 && cell_bits != 32)
        return failure{error_code::invalid_argument,
                       "fingerprint_bits must be 8, 16 or 32, and is " + std::to_string(cell_bits)};
    if (words > words_most)
        return failure{error_code::too_large, "words must be at most 2^44, and is " + std::to_string(words)};
    if (words == 0 || words % 8 != 0)
        return failure{error_code::invalid_argument,
                       "words must be a multiple of 8, and is " + std::to_string(words)};
    if (keys > std::uint64_t{1} << 48)
        return failure{error_code::too_large, "keys must be at most 2^48, and is " + std::to_string(keys)};
    // The directory, and a line of each shard.
    if (shards == 0 || shards > words / 8 ||
        (keys != 0 && directory_words(shards, fingerprint_entry_words) + 8 * shards > words))
        return failure{error_code::invalid_argument, "shards must be at least 1 and fit into " +
                                                         std::to_string(words) + " words, and is " +
                                                         std::to_string(shards)};
    return {};
}

} // namespace bouncer::detail
