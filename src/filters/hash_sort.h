// Mixed hashes in ascending order, each once: parted by their top bits on all cores, then sorted part by part in the
// cache. About 15 ns per hash on one core; numbers that are no good hashes take longer, never more than O(n log n).
#pragma once

#include <bouncer/build.h>
#include <bouncer/region.h>
#include <bouncer/result.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bouncer::detail {

// Tells the user how far a build is, and all threads whether to go on.
// Thread safety: report() from the thread that builds only, the rest from any.
//   1. Once stopped, it stays so.
class build_watch {
  public:
    static constexpr std::uint64_t step = std::uint64_t{1} << 20; // hashes between two calls, about

    explicit build_watch(const build_options& options) noexcept : progress_(options.progress) {}

    // [single-writer] Asks the user, unless less than a step was done since the last time and not `always`. False: stop.
    bool report(build_stage stage, std::uint64_t done, std::uint64_t total, bool always = false);
    // [any-thread] For a failure elsewhere.
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
    // [single-writer] Whether it was the user who stopped it, and what to say then.
    bool cancelled() const noexcept { return cancelled_; }
    failure why() const;

  private:
    const std::function<bool(const build_progress&)>& progress_;
    build_progress last_;
    std::atomic<bool> stopped_{false};
    bool cancelled_ = false;
};

// What to tell the user while hashes are parted.
struct partition_report {
    build_stage stage = build_stage::gathering;
    std::uint64_t before = 0; // hashes done already
    std::uint64_t total = 0;
    bool counts = true; // whether those that are parted count as done
};

using hash_pieces = std::span<const std::span<const std::uint64_t>>;

// Hashes that were parted by their top bits.
struct hash_parts {
    unsigned bits = 0;                 // of a hash, that say its part
    std::vector<std::uint64_t> starts; // of part i in the array; one more than parts, the last is the end
};

// [any-thread] What partition_hashes takes besides the array, and how much of it is for each thread.
constexpr std::uint64_t partition_bytes_per_thread(unsigned bits) noexcept {
    return (std::uint64_t{64} + 2 * sizeof(std::uint64_t)) << bits; // a line and two places for each part
}

// [any-thread] seeded() of every hash in `pieces`, to `into` (64-byte aligned, as large as all of them), parted by the top
// `bits` <= 16 bits. Errors: cancelled, out_of_memory.
result<hash_parts> partition_hashes(hash_pieces pieces, std::uint64_t seed_word, unsigned bits,
                                    unsigned threads, std::uint64_t* into, const partition_report& from,
                                    build_watch& watch);

// What a thread needs to sort parts of up to most() hashes quickly. [exclusive]
class sort_scratch {
  public:
    // [any-thread] What one for parts of `most` hashes takes.
    static std::uint64_t bytes_for(std::uint64_t most) noexcept;
    // [any-thread] out_of_memory when there is none.
    static result<sort_scratch> make(std::uint64_t most);

    // [exclusive] Sorts hashes that have their top `same_bits` bits in common, and returns how many distinct ones now
    // stand at the start. More than most() are sorted too, at half the speed or less.
    std::size_t sort_distinct(std::span<std::uint64_t> hashes, unsigned same_bits) noexcept;
    std::uint64_t most() const noexcept { return most_; }

  private:
    void order(std::span<const std::uint64_t> from, std::uint64_t* to, unsigned same_bits) noexcept;
    void split(std::span<std::uint64_t> hashes, unsigned same_bits) noexcept;

    std::unique_ptr<std::uint64_t[]> words_;
    std::unique_ptr<std::uint32_t[]> counts_;
    std::uint64_t most_ = 0;
};

// [any-thread] In place, without scratch memory.
std::size_t sort_distinct_in_place(std::span<std::uint64_t> hashes) noexcept;

// Everything in one array.
struct sorted_array {
    region words;
    std::uint64_t size = 0;

    std::span<const std::uint64_t> hashes() const noexcept {
        return {static_cast<const std::uint64_t*>(words.data()), static_cast<std::size_t>(size)};
    }
};

// [any-thread] Memory for hashes, whose pages come when they are touched: by all threads, then.
result<region> allocate_hashes(std::uint64_t count);

// [any-thread] The hashes parted in `into`, sorted, each once and without gaps. `into` has starts.back() of them.
// Errors: cancelled, out_of_memory.
result<sorted_array> sort_parts(region into, const hash_parts& parts, unsigned threads, build_watch& watch);

// [any-thread] How many top bits to part so many hashes by: parts of 4 to 8 thousand fit into a second-level cache, up to
// 2048 of them.
unsigned part_bits_for(std::uint64_t hashes) noexcept;

} // namespace bouncer::detail
