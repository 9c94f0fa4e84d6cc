// Fingerprints in cells, for xor_filter and binary_fuse: a key has three or four cells, and is in the set if their values
// together (xor) are its fingerprint. Which cells, and the queries; how the values come about: src/filters/fingerprint_build.h
//
// A filter's words are a directory of three words per shard, then the shards. The set is cut by g = seeded(hash): the
// product g * shards gives the shard (high half) and the place in it (low half), which is ascending where g is, and from
// which the first cell comes. The others come from a second multiply. An entry has what a query needs, ready for use:
//   word 0   the shard's first word
//   word 1   the number of cells that can be first: of a fuse shape all but the last segments, of xor a third
//   word 2   what g is multiplied by to get the other cells; builds that do not come out try the next number
#pragma once

#include <bouncer/detail/bits.h>
#include <bouncer/detail/sorted_hashes.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bouncer::detail {

inline constexpr std::uint64_t fingerprint_entry_words = 3;

// Word 2 of an entry.
constexpr std::uint64_t multiplier_of(std::uint64_t attempt) noexcept {
    return mix64(attempt + 1) | 1;
}
// Where a key's cells lie after the first. Its highest bits are the best: they depend on all of g.
constexpr std::uint64_t offsets_of(std::uint64_t g, std::uint64_t multiplier) noexcept {
    return g * multiplier;
}
// Of a key; cells take its lowest bits, as many as they have. They are as good as any (g is mixed), and the shard and the
// first cell come from the highest.
constexpr std::uint32_t fingerprint_of(std::uint64_t g) noexcept {
    return static_cast<std::uint32_t>(g);
}

// The cells of a key. Members and no array: g++ -O2 leaves an array in memory, and queries took 1.6 times as long.
template <unsigned Arity>
struct key_cells {
    static_assert(Arity == 3 || Arity == 4);
    std::uint64_t first, second, third;
    std::uint64_t fourth = 0; // of arity 4

    // visit(number of the cell among the key's, cell)
    template <class Visit>
    [[gnu::always_inline]] constexpr void each(Visit visit) const noexcept {
        visit(0u, first);
        visit(1u, second);
        visit(2u, third);
        if constexpr (Arity == 4) visit(3u, fourth);
    }
};

// Binary fuse: each cell in the segment after that of the one before, so that keys in ascending order touch a window of
// `Arity` segments that moves on: builds stay in the cache. A segment has 2^18 cells at most, so 18 bits an offset.
template <unsigned Arity>
struct fuse_shape {
    static constexpr unsigned arity = Arity;
    static constexpr std::uint32_t segment_most = std::uint32_t{1} << 18;

    std::uint32_t segment_length; // a power of two

    [[gnu::always_inline]] constexpr key_cells<Arity> cells(std::uint64_t place, std::uint64_t offsets,
                                                            std::uint64_t starts) const noexcept {
        const std::uint64_t first = mul_high(place, starts);
        const std::uint64_t length = segment_length;
        const auto later = [&](unsigned segments, unsigned shift) {
            return (first + segments * length) ^ (offsets >> shift & (length - 1));
        };
        if constexpr (Arity == 3)
            return {first, later(1, 46), later(2, 28)};
        else
            return {first, later(1, 46), later(2, 28), later(3, 10)};
    }
    constexpr std::uint64_t cell_count(std::uint64_t starts) const noexcept {
        return starts + std::uint64_t{Arity - 1} * segment_length;
    }
    // Whether a directory may say so: no cell is beyond cell_count() then, and all are below 2^32.
    constexpr bool starts_ok(std::uint64_t starts) const noexcept {
        return starts != 0 && starts < (std::uint64_t{1} << 31) && starts % segment_length == 0;
    }
};

// Xor: three blocks of `starts` cells, and a cell of each.
struct xor_shape {
    static constexpr unsigned arity = 3;

    [[gnu::always_inline]] constexpr key_cells<3> cells(std::uint64_t place, std::uint64_t offsets,
                                                        std::uint64_t starts) const noexcept {
        return {mul_high(place, starts), starts + ((offsets & UINT32_MAX) * starts >> 32),
                2 * starts + ((offsets >> 32) * starts >> 32)};
    }
    constexpr std::uint64_t cell_count(std::uint64_t starts) const noexcept { return 3 * starts; }
    constexpr bool starts_ok(std::uint64_t starts) const noexcept {
        return starts != 0 && starts < (std::uint64_t{1} << 30);
    }
};

// [any-thread] A shard's words: whole lines.
constexpr std::uint64_t cell_words(std::uint64_t cells, std::uint32_t cell_bits) noexcept {
    return (cells * cell_bits + 511) / 512 * 8;
}

// Cell i of a shard is bits [i * width, (i + 1) * width) of its words, counted from the lowest: on a little-endian machine
// an array.
template <class Cell>
constexpr std::uint64_t cell_index(std::uint64_t i) noexcept {
    return std::endian::native == std::endian::little ? i : i ^ (8 / sizeof(Cell) - 1);
}
template <class Cell>
const unsigned char* cell_address(const std::uint64_t* shard, std::uint64_t i) noexcept {
    return reinterpret_cast<const unsigned char*>(shard) + cell_index<Cell>(i) * sizeof(Cell);
}
template <class Cell>
Cell load_cell(const unsigned char* at) noexcept {
    Cell out;
    std::memcpy(&out, at, sizeof out);
    return out;
}

// The queries. Precondition of all: the words passed check_words() of the layout.
template <class Shape>
struct fingerprint_table {
    Shape shape;
    std::uint64_t shards;
    std::uint64_t seed_word;

    struct spot {
        std::uint64_t first_word; // of the shard
        key_cells<Shape::arity> cells;
        std::uint32_t fingerprint;
    };

    // [any-thread] Reads nothing but the directory.
    [[gnu::always_inline]] constexpr spot find(const std::uint64_t* directory,
                                               std::uint64_t hash) const noexcept {
        const std::uint64_t g = seeded(hash, seed_word);
        const std::uint64_t* entry = directory;
        std::uint64_t place = g;
        if (shards != 1) { // saves small sets a fifth of the work
            entry += fingerprint_entry_words * mul_high(g, shards);
            place = g * shards;
        }
        return {entry[0], shape.cells(place, offsets_of(g, entry[2]), entry[1]), fingerprint_of(g)};
    }

    // [any-thread] Without a branch: half of all answers are surprises.
    template <class Cell>
    [[gnu::always_inline]] bool holds(const std::uint64_t* words, const spot& at) const noexcept {
        const std::uint64_t* const shard = words + at.first_word;
        auto rest = static_cast<Cell>(at.fingerprint);
        at.cells.each([&](unsigned, std::uint64_t cell) {
            rest = static_cast<Cell>(rest ^ load_cell<Cell>(cell_address<Cell>(shard, cell)));
        });
        return rest == 0;
    }
    [[gnu::always_inline]] bool contains(const std::uint64_t* words, std::uint64_t hash,
                                         std::uint32_t cell_bits) const noexcept {
        const spot at = find(words, hash);
        if (cell_bits == 8) return holds<std::uint8_t>(words, at);
        return cell_bits == 16 ? holds<std::uint16_t>(words, at) : holds<std::uint32_t>(words, at);
    }

    // [any-thread] answers[i] = contains(hashes[i]); returns how many are true. Keys go in blocks: the lines of one are asked
    // for before the block before it is answered, and their addresses kept meanwhile. From `far_words` on, which is about
    // the second cache: nearer lines come as fast without, since a core looks ahead over four or five keys by itself.
    template <class Cell>
    std::size_t contains_each(const std::uint64_t* words, std::uint64_t word_count,
                              const std::uint64_t* hashes, std::size_t count, bool* answers) const noexcept {
        const fingerprint_table by = *this; // answers are bytes, which may alias *this
        std::size_t found = 0;
        if (word_count < far_words) {
            for (std::size_t i = 0; i < count; ++i)
                found += answers[i] = by.template holds<Cell>(words, by.find(words, hashes[i]));
            return found;
        }
        struct block {
            std::array<std::array<const unsigned char*, block_keys>, Shape::arity> cells;
            std::array<Cell, block_keys> fingerprints;
        };
        std::array<block, 2> blocks;
        const auto ask = [words, by](block& out, const std::uint64_t* from, std::size_t keys) {
            for (std::size_t i = 0; i < keys; ++i) {
                const spot where = by.find(words, from[i]);
                const std::uint64_t* const shard = words + where.first_word;
                where.cells.each([&](unsigned c, std::uint64_t cell) {
                    const unsigned char* const at = cell_address<Cell>(shard, cell);
                    out.cells[c][i] = at;
                    __builtin_prefetch(at);
                });
                out.fingerprints[i] = static_cast<Cell>(where.fingerprint);
            }
        };
        std::size_t asked = std::min(count, block_keys);
        ask(blocks[0], hashes, asked);
        for (std::size_t done = 0, b = 0; done < count; b ^= 1) {
            const std::size_t more = std::min(count - asked, block_keys);
            ask(blocks[b ^ 1], hashes + asked, more);
            const block& now = blocks[b];
            for (std::size_t i = 0; done < asked; ++i, ++done) {
                Cell rest = now.fingerprints[i];
                const auto take = [&](unsigned c) {
                    rest = static_cast<Cell>(rest ^ load_cell<Cell>(now.cells[c][i]));
                };
                take(0), take(1), take(2);
                if constexpr (Shape::arity == 4) take(3);
                found += answers[done] = rest == 0;
            }
            asked += more;
        }
        return found;
    }

    static constexpr std::size_t block_keys = 32;
    static constexpr std::uint64_t far_words = std::uint64_t{1} << 16; // 512 KiB
};

} // namespace bouncer::detail
