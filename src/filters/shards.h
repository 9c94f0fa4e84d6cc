// The words of a static filter, shard by shard, on all cores, in the same order whatever their number.
#pragma once

#include <bouncer/build.h>
#include <bouncer/detail/sorted_hashes.h>
#include <bouncer/goal.h>
#include <bouncer/region.h>
#include <bouncer/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bouncer::detail {

// A shard as one thread builds it.
struct shard_words {
    // What the kind says of the shard; as many as the plan's entry_words. Word 0 has its low 48 bits for the index of the
    // shard's first word in the filter, which is written into them later: leave them 0.
    std::span<std::uint64_t> entry;
    std::vector<std::uint64_t> words; // its old content is of the shard before
};

// [any-thread] Room for n values, old ones lost: a vector that grows by itself holds old and new values for a moment, and
// twice as many as it needs, which no memory cap has counted. Shards differ by less than a percent.
template <class T>
void make_room(std::vector<T>& values, std::size_t n) {
    values.clear();
    if (values.capacity() >= n) return;
    std::vector<T>().swap(values);
    values.reserve(n + n / 32);
}

// What a kind supplies: one for each thread, which keeps its scratch memory from shard to shard.
class shard_builder {
  public:
    virtual ~shard_builder() = default;
    // [exclusive] `hashes` are those of the shard, distinct and ascending. Must depend on nothing else.
    virtual result<void> build(std::span<const std::uint64_t> hashes, std::uint64_t shard,
                               shard_words& out) = 0;
};

struct shard_plan {
    std::uint64_t shards = 1;
    std::uint64_t entry_words = 2;
    std::uint64_t expected_words = 0; // of all shards together, rather a little too many
    std::uint64_t scratch_bytes_per_key =
        0; // of a builder, for each key of its largest shard; hashes not counted
    std::function<std::unique_ptr<shard_builder>()> make_builder; // may throw std::bad_alloc
};

struct assembled {
    region words;             // at least `used` words
    std::uint64_t used_words; // directory and shards, a multiple of a line
};

// The low bits of a directory entry's first word, which say where the shard's words begin.
inline constexpr unsigned shard_place_bits = 48;

// [any-thread] How many words the directory takes: whole lines.
constexpr std::uint64_t directory_words(std::uint64_t shards, std::uint64_t entry_words) noexcept {
    return (shards * entry_words + 7) / 8 * 8;
}

// [any-thread] The directory, then the shards. Errors: what a builder says of the first shard that failed, io,
// out_of_memory, too_large (the memory cap), cancelled.
result<assembled> assemble_shards(const sorted_hashes& set, const shard_plan& plan,
                                  const build_options& options);

// [any-thread] Whether the goal is one for static filters; its number of keys is not looked at, and may be 0.
result<void> check_static_goal(const goal& wanted);

// [any-thread] How many shards of `keys_per_shard` keys or up to twice as many.
constexpr std::uint64_t shards_for(std::uint64_t keys, std::uint64_t keys_per_shard) noexcept {
    return keys < keys_per_shard ? 1 : keys / keys_per_shard;
}

// [any-thread] Whether a rate is within the one that is wanted, but for what nobody can measure: 2^-8 is kept by a
// fingerprint of 8 bits, though collisions of hashes add 10^-13.
constexpr bool keeps_rate(double rate, double wanted) noexcept {
    return rate <= wanted * (1 + 1e-6);
}

} // namespace bouncer::detail
