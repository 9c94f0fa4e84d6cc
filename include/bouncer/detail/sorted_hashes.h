// The set that a static filter is built from: hashes mixed with a seed, each once, in ascending order. In memory, or in a
// temporary file where a memory cap asks for that.
#pragma once

#include <bouncer/build.h>
#include <bouncer/detail/bits.h>
#include <bouncer/result.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bouncer::detail {

// What a static kind sees of a hash: a bijection for every seed, so distinct hashes stay distinct, and numbers that are
// no good hashes (a counter, 32 bits) become such.
constexpr std::uint64_t seeded(std::uint64_t hash, std::uint64_t seed_word) noexcept {
    return mix64(hash ^ seed_word);
}
// Of the seed as the user gives it.
constexpr std::uint64_t seed_word_of(std::uint64_t seed) noexcept {
    return mix64(seed);
}

class sorted_hashes {
  public:
    // [any-thread] Everything that is in the span, or that the source gives until it returns 0. Errors: the source's, io
    // (the temporary file, with its folder and the system's text), out_of_memory, too_large (a cap too small to sort by),
    // cancelled.
    static result<sorted_hashes> gather(std::span<const std::uint64_t> hashes, const build_options& options);
    static result<sorted_hashes> gather(const hash_source& source, const build_options& options);

    sorted_hashes(sorted_hashes&&) noexcept;
    sorted_hashes& operator=(sorted_hashes&&) noexcept;
    ~sorted_hashes();

    // [immutable] How many there are, all distinct.
    std::uint64_t size() const noexcept;
    // [immutable] What they take of the memory now; shard() needs its room besides, where they are in a file.
    std::uint64_t memory_bytes() const noexcept;
    // [immutable]
    bool in_memory() const noexcept;

    // [any-thread] Those with fast_range(hash, shards) == shard, ascending. They lie in `room` where they come from a
    // file (io), and belong to this object otherwise. Precondition: shard < shards.
    result<std::span<const std::uint64_t>> shard(std::uint64_t shard, std::uint64_t shards,
                                                 std::vector<std::uint64_t>& room) const;

  private:
    struct state;
    explicit sorted_hashes(std::unique_ptr<state> held) noexcept;
    std::unique_ptr<state> held_;
};

} // namespace bouncer::detail
