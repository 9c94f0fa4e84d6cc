// More hashes than a memory cap holds: parted by their top bits and written to a temporary file, memory by memory, then
// read, sorted and written again range by range, so that any range can be read in order.
#pragma once

#include "filters/hash_sort.h"
#include "filters/spill_file.h"

#include <bouncer/build.h>
#include <bouncer/region.h>
#include <bouncer/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bouncer::detail {

// How a memory cap is shared out.
struct spill_plan {
    std::uint64_t cap = 0;
    std::uint64_t in_memory =
        0;                   // hashes that are sorted without a file: gathered, and parted to a second place
    std::uint64_t run = 0;   // hashes that are parted at a time, when they need not be gathered first
    std::uint64_t index = 0; // bytes for what is kept of the file while hashes come
    unsigned threads = 1;    // at most so many, by the memory that each takes

    static constexpr std::uint64_t least_cap = std::uint64_t{1} << 20;

    // [any-thread] too_large below least_cap. A cap of 0 bounds nothing.
    static result<spill_plan> of(std::uint64_t cap, unsigned threads);
};

// Thread safety: read(), size() and memory_bytes() from any thread once sort() has returned; the rest [exclusive].
//   1. Part i of every run has the hashes with top bits i, so a range of hashes is a few adjacent parts.
//   2. After sort(), the parts i of all runs one after the other begin with the distinct hashes of the range, ascending.
class spilled_hashes {
  public:
    // [any-thread] `expected`: how many hashes will come, or 0. Errors: io.
    static result<spilled_hashes> begin(const spill_plan& plan, const build_options& options,
                                        std::uint64_t expected);

    // [exclusive] Mixes, parts and appends hashes, at most plan.run of them. `from` says what to report.
    // Errors: io, out_of_memory, too_large (too many for the cap), cancelled.
    result<void> append(hash_pieces pieces, const partition_report& from, build_watch& watch);
    // [exclusive] After the last append(). Errors: io, out_of_memory, too_large (a range is too large for the cap), cancelled.
    result<void> sort(build_watch& watch);

    // [immutable]
    std::uint64_t size() const noexcept { return range_starts_.empty() ? 0 : range_starts_.back(); }
    std::uint64_t memory_bytes() const noexcept;
    // [any-thread] The hashes in [low, high), or from `low` up; in `room`. Errors: io, out_of_memory.
    result<std::span<const std::uint64_t>> read(std::uint64_t low, std::optional<std::uint64_t> high,
                                                std::vector<std::uint64_t>& room) const;

  private:
    struct run {
        std::uint64_t first_word = 0;      // in the file
        std::vector<std::uint32_t> starts; // of the parts in the run, and its end
    };
    struct places { // of a hash among those of the file: not before `first`, and not after `last`
        std::uint64_t first;
        std::uint64_t last;
    };

    spilled_hashes(spill_file file, const spill_plan& plan, unsigned bits, std::uint64_t seed_word) noexcept
        : file_(std::move(file)), plan_(plan), bits_(bits), seed_word_(seed_word) {}

    std::size_t ranges() const noexcept { return std::size_t{1} << bits_; }
    std::uint64_t gathered_in(std::size_t range) const noexcept;
    // Reads or writes hashes first.. of a range, which are in the parts of several runs.
    template <class Hash>
    result<void> transfer(std::size_t range, std::uint64_t first, std::span<Hash> hashes) const;
    result<void> sort_range(std::size_t range, std::span<std::uint64_t> memory, sort_scratch* scratch);
    places places_of(std::uint64_t hash) const noexcept;

    spill_file file_;
    spill_plan plan_;
    unsigned bits_;
    std::uint64_t seed_word_;
    std::uint64_t words_ = 0; // in the file
    std::vector<run> runs_;
    region parted_; // of one run
    // After sort():
    std::vector<std::uint64_t> range_starts_;  // how many hashes are in the ranges before
    std::vector<std::uint64_t> sample_starts_; // where the samples of a range are
    std::vector<std::uint64_t> samples_;       // every sample_step-th hash of a range, from its first
};

} // namespace bouncer::detail
