// How the cells of xor_filter and binary_fuse get their values: one builder for every shape and width.
#pragma once

#include "filters/shards.h"

#include <bouncer/detail/fingerprint_table.h>
#include <bouncer/goal.h>
#include <bouncer/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::detail {

// How many first cells a shard of so many keys gets, before and after `growths` enlargements by a twentieth. Exact
// arithmetic: the same on every machine, as the words of a filter must be.
std::uint64_t starts_for(const fuse_shape<3>& shape, std::uint64_t keys, unsigned growths) noexcept;
std::uint64_t starts_for(const fuse_shape<4>& shape, std::uint64_t keys, unsigned growths) noexcept;
std::uint64_t starts_for(const xor_shape& shape, std::uint64_t keys, unsigned growths) noexcept;

// The segment length for shards of so many keys.
std::uint32_t fuse_segment_length(unsigned arity, std::uint64_t keys_per_shard) noexcept;

// A build that does not come out is tried again with other cells for every key, and after each `tries_per_size` in a
// larger shard. Random hashes need one attempt as a rule, and never 30.
inline constexpr unsigned attempts_most = 256;
inline constexpr unsigned tries_per_size = 16;

// [any-thread] Builds one shard after the other. 17 bytes of scratch memory per cell. `cell_bits`: 8, 16 or 32.
template <class Shape>
std::unique_ptr<shard_builder> make_fingerprint_builder(const Shape& shape, std::uint32_t cell_bits,
                                                        std::uint64_t shards);

// [any-thread] What the words of a whole filter will be, directory and all; within a percent, since the sizes of shards
// vary. (No keys: one line, which nobody reads.)
template <class Shape>
std::uint64_t expected_words(const Shape& shape, std::uint32_t cell_bits, std::uint64_t shards,
                             std::uint64_t keys) noexcept;

// [any-thread] The words of a set; errors as assemble_shards.
template <class Shape>
result<assembled> build_fingerprints(const sorted_hashes& set, const Shape& shape, std::uint32_t cell_bits,
                                     std::uint64_t shards, const build_options& options);

// [any-thread] The queries of a batch, by width.
template <class Shape>
std::size_t contains_by_width(const fingerprint_table<Shape>& table, std::uint32_t cell_bits,
                              const std::uint64_t* words, std::uint64_t word_count,
                              const std::uint64_t* hashes, std::size_t count, bool* answers) noexcept {
    switch (cell_bits) {
    case 8: return table.template contains_each<std::uint8_t>(words, word_count, hashes, count, answers);
    case 16: return table.template contains_each<std::uint16_t>(words, word_count, hashes, count, answers);
    default: return table.template contains_each<std::uint32_t>(words, word_count, hashes, count, answers);
    }
}

// [any-thread] Whether every directory entry leads into the words (corrupt).
template <class Shape>
result<void> check_directory(const Shape& shape, std::uint32_t cell_bits, std::uint64_t shards,
                             const std::uint64_t* words, std::uint64_t word_count);

// [any-thread] The widths of cells that serve a goal, the best first: of a rate one, of a size alone all that should fit
// into it. `bytes_of(width)` is the size to be expected. Errors: invalid_argument (a rate below that of the widest),
// too_large.
result<std::vector<std::uint32_t>> widths_for(std::string_view kind, std::uint64_t keys, const goal& wanted,
                                              const std::function<std::uint64_t(std::uint32_t)>& bytes_of);

// [any-thread] Builds with one width after the other until one fits into the goal's size. `build_width(width)` returns a
// result<built_words<...>>.
template <class BuildWidth>
auto build_first_fitting(std::string_view kind, std::span<const std::uint32_t> widths, const goal& wanted,
                         BuildWidth build_width) -> decltype(build_width(8u)) {
    std::uint64_t bytes = 0;
    for (const std::uint32_t bits : widths) {
        auto made = build_width(bits);
        if (!made) return made;
        bytes = made->params.words * sizeof(std::uint64_t);
        if (!wanted.size_bytes || bytes <= *wanted.size_bytes) return made;
    }
    return failure{error_code::too_large, std::string(kind) + " came out at " + std::to_string(bytes) +
                                              " bytes, above size_bytes, " +
                                              std::to_string(wanted.size_bytes.value_or(0))};
}

// [any-thread] What the two kinds check alike.
result<void> check_fingerprints(std::uint64_t words, std::uint64_t keys, std::uint64_t shards,
                                std::uint32_t cell_bits);

} // namespace bouncer::detail
