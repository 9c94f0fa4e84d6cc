#include "filters/spilled_hashes.h"

#include "memory/size_text.h"

#include <bouncer/detail/parallel.h>
#include <bouncer/detail/sorted_hashes.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace bouncer::detail {

namespace {

constexpr unsigned most_bits = 10; // 1024 ranges
constexpr unsigned least_bits = 4;
// A hash in memory for every 4096 in the file: 2 MB for a billion. Reading a range takes up to 32 KiB too much at each end.
constexpr std::uint64_t sample_step = 4096;
constexpr std::size_t written_at_once = std::size_t{1} << 19; // hashes, 4 MiB, between looks at the watch
constexpr std::uint64_t thread_stack_bytes = std::uint64_t{32} << 10; // what a thread touches of it
constexpr std::uint64_t small_things_bytes = std::uint64_t{64} << 10;

// For the fast sort: the hashes of a range, as many in scratch memory, and its groups.
std::uint64_t sorting_bytes(std::uint64_t hashes) noexcept {
    return hashes * sizeof(std::uint64_t) + sort_scratch::bytes_for(hashes) + thread_stack_bytes;
}

std::uint64_t rounded_up_to_mebi(std::uint64_t bytes) noexcept {
    return ((bytes >> 20) + 1) << 20;
}

// The first failure of any thread.
class first_failure {
  public:
    void set(failure why) noexcept {
        const std::lock_guard lock(mutex_);
        if (!why_) why_ = std::move(why);
    }
    const std::optional<failure>& get() const noexcept { return why_; } // when all threads are done

  private:
    std::mutex mutex_;
    std::optional<failure> why_;
};

} // namespace

result<spill_plan> spill_plan::of(std::uint64_t cap, unsigned threads) {
    spill_plan out;
    out.cap = cap;
    out.threads = threads;
    if (cap == 0) {
        out.in_memory = out.run = std::numeric_limits<std::uint64_t>::max();
        return out;
    }
    if (cap < least_cap)
        return failure{error_code::too_large, "a memory cap of " + size_text(cap) +
                                                  " is too small to build a static filter by; the least is " +
                                                  size_text(least_cap)};
    // An eighth for everything but hashes: half of that for threads, a quarter for the index of the file.
    const std::uint64_t reserve = std::max(cap / 8, std::uint64_t{384} << 10);
    constexpr std::uint64_t each = std::uint64_t{200}
                                   << 10; // parting takes 80 KiB of a thread, sorting about 150
    out.threads =
        static_cast<unsigned>(std::clamp<std::uint64_t>(reserve / 2 / each, 1, std::max(threads, 1u)));
    out.index = reserve / 4;
    constexpr std::uint64_t most = std::uint64_t{1} << 31; // places in a run have 32 bits
    // A quarter: the filter, and what it takes to build it, must find room beside the hashes.
    out.in_memory = (cap - reserve) / 4 / sizeof(std::uint64_t);
    out.run = std::min((cap - reserve) / sizeof(std::uint64_t), most);
    return out;
}

result<spilled_hashes> spilled_hashes::begin(const spill_plan& plan, const build_options& options,
                                             std::uint64_t expected) {
    // Few large ranges are read in few large pieces; but each must fit into the memory, for two threads at least.
    unsigned bits = most_bits;
    if (expected != 0)
        while (bits > least_bits && sorting_bytes((expected >> (bits - 1)) * 5 / 4) <= plan.cap / 4) --bits;
    auto file = spill_file::create(options.temporary_folder);
    if (!file) return file.error();
    return spilled_hashes(std::move(*file), plan, bits, seed_word_of(options.seed));
}

result<void> spilled_hashes::append(hash_pieces pieces, const partition_report& from, build_watch& watch) {
    if ((runs_.size() + 1) * (ranges() + 1) * sizeof(std::uint32_t) > plan_.index)
        return failure{error_code::too_large, "a memory cap of " + size_text(plan_.cap) +
                                                  " is too small for more than " + std::to_string(words_) +
                                                  " hashes; twice the cap serves four times as many"};
    std::uint64_t count = 0;
    for (const auto piece : pieces) count += piece.size();
    if (parted_.size_bytes() < count * sizeof(std::uint64_t)) {
        parted_ = {};
        auto memory = allocate_hashes(count);
        if (!memory) return memory.error();
        parted_ = std::move(*memory);
    }
    auto* const hashes = static_cast<std::uint64_t*>(parted_.data());
    auto parts = partition_hashes(pieces, seed_word_, bits_, plan_.threads, hashes, from, watch);
    if (!parts) return parts.error();

    run added;
    added.first_word = words_;
    added.starts.resize(ranges() + 1);
    // Far more in a part than its share: most are repetitions, and would make its range too large for the memory.
    const std::uint64_t suspicious = 4 * (count >> bits_) + 4096;
    std::uint64_t kept = 0;
    for (std::size_t range = 0; range < ranges(); ++range) {
        added.starts[range] = static_cast<std::uint32_t>(kept);
        std::uint64_t* const first = hashes + parts->starts[range];
        auto size = static_cast<std::size_t>(parts->starts[range + 1] - parts->starts[range]);
        if (size > suspicious) size = sort_distinct_in_place({first, size});
        if (first != hashes + kept) std::memmove(hashes + kept, first, size * sizeof *first);
        kept += size;
    }
    added.starts.back() = static_cast<std::uint32_t>(kept);
    for (std::uint64_t at = 0; at < kept; at += written_at_once) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(written_at_once, kept - at));
        if (auto ok = file_.write(words_ + at, {hashes + at, size}); !ok) return ok;
        const std::uint64_t done = from.before + (from.counts ? count : 0);
        if (!watch.report(from.stage, done, from.total, true)) return watch.why();
    }
    words_ += kept;
    runs_.push_back(std::move(added));
    return {};
}

std::uint64_t spilled_hashes::gathered_in(std::size_t range) const noexcept {
    std::uint64_t sum = 0;
    for (const run& each : runs_) sum += each.starts[range + 1] - each.starts[range];
    return sum;
}

template <class Hash>
result<void> spilled_hashes::transfer(std::size_t range, std::uint64_t first, std::span<Hash> hashes) const {
    for (const run& each : runs_) {
        if (hashes.empty()) break;
        const std::uint64_t size = each.starts[range + 1] - each.starts[range];
        if (first >= size) {
            first -= size;
            continue;
        }
        const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(size - first, hashes.size()));
        const std::uint64_t word = each.first_word + each.starts[range] + first;
        if constexpr (std::is_const_v<Hash>) {
            if (auto ok = file_.write(word, hashes.first(now)); !ok) return ok;
        } else {
            if (auto ok = file_.read(word, hashes.first(now)); !ok) return ok;
        }
        hashes = hashes.subspan(now);
        first = 0;
    }
    return {};
}

result<void> spilled_hashes::sort_range(std::size_t range, std::span<std::uint64_t> memory,
                                        sort_scratch* scratch) {
    const auto hashes = memory.first(static_cast<std::size_t>(gathered_in(range)));
    if (auto ok = transfer(range, 0, hashes); !ok) return ok;
    const std::size_t distinct =
        scratch != nullptr ? scratch->sort_distinct(hashes, bits_) : sort_distinct_in_place(hashes);
    if (auto ok = transfer(range, 0, std::span<const std::uint64_t>(hashes.first(distinct))); !ok) return ok;
    range_starts_[range + 1] = distinct; // the sums are taken when all are known
    std::uint64_t* sample = samples_.data() + sample_starts_[range];
    for (std::uint64_t at = 0; at < distinct; at += sample_step) *sample++ = hashes[at];
    return {};
}

result<void> spilled_hashes::sort(build_watch& watch) {
    parted_ = {};
    range_starts_.assign(ranges() + 1, 0);
    sample_starts_.assign(ranges() + 1, 0);
    std::uint64_t largest = 0;
    for (std::size_t range = 0; range < ranges(); ++range) {
        const std::uint64_t here = gathered_in(range);
        largest = std::max(largest, here);
        sample_starts_[range + 1] = sample_starts_[range] + (here + sample_step - 1) / sample_step;
    }
    samples_.resize(static_cast<std::size_t>(sample_starts_.back()));

    const std::uint64_t kept = memory_bytes() + small_things_bytes;
    const std::uint64_t left = plan_.cap > kept ? plan_.cap - kept : 0;
    // Without scratch memory where that helps: slower, but done.
    const bool fast = sorting_bytes(largest) <= left;
    const std::uint64_t in_place = largest * sizeof(std::uint64_t) + thread_stack_bytes;
    if (in_place > left)
        return failure{error_code::too_large,
                       std::to_string(largest) + " hashes that begin with the same " + std::to_string(bits_) +
                           " bits cannot be sorted within a memory cap of " + size_text(plan_.cap) +
                           "; a cap of " + size_text(rounded_up_to_mebi(kept + in_place)) + " would do"};
    const unsigned threads = static_cast<unsigned>(std::min<std::uint64_t>(
        {std::max(plan_.threads, 1u), left / (fast ? sorting_bytes(largest) : in_place),
         static_cast<std::uint64_t>(ranges())}));

    std::vector<region> memory;
    std::vector<sort_scratch> scratch;
    for (unsigned thread = 0; thread < threads; ++thread) {
        auto made = allocate_hashes(largest);
        if (!made) return made.error();
        memory.push_back(std::move(*made));
        if (!fast) continue;
        auto helper = sort_scratch::make(largest);
        if (!helper) return helper.error();
        scratch.push_back(std::move(*helper));
    }
    first_failure failed;
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint64_t> done{0};
    run_parallel(threads, [&](unsigned thread, unsigned) noexcept {
        while (thread == 0
                   ? watch.report(build_stage::sorting, done.load(std::memory_order_relaxed), words_, true)
                   : !watch.stopped()) {
            const std::size_t range = next.fetch_add(1, std::memory_order_relaxed);
            if (range >= ranges()) return;
            const auto room = std::span(static_cast<std::uint64_t*>(memory[thread].data()),
                                        static_cast<std::size_t>(largest));
            const auto ok =
                guarded([&] { return sort_range(range, room, fast ? &scratch[thread] : nullptr); });
            if (!ok) {
                failed.set(ok.error());
                watch.stop();
            }
            done.fetch_add(gathered_in(range), std::memory_order_relaxed);
        }
    });
    if (failed.get()) return *failed.get();
    if (!watch.report(build_stage::sorting, words_, words_, true)) return watch.why();
    for (std::size_t range = 0; range < ranges(); ++range) range_starts_[range + 1] += range_starts_[range];
    return {};
}

std::uint64_t spilled_hashes::memory_bytes() const noexcept {
    return (range_starts_.size() + sample_starts_.size() + samples_.size()) * sizeof(std::uint64_t) +
           runs_.size() * (sizeof(run) + (ranges() + 1) * sizeof(std::uint32_t));
}

spilled_hashes::places spilled_hashes::places_of(std::uint64_t hash) const noexcept {
    const auto range = static_cast<std::size_t>(hash >> (64 - bits_));
    const std::uint64_t here = range_starts_[range + 1] - range_starts_[range];
    const auto first = samples_.begin() + static_cast<std::ptrdiff_t>(sample_starts_[range]);
    const auto last = first + static_cast<std::ptrdiff_t>((here + sample_step - 1) / sample_step);
    const auto smaller = static_cast<std::uint64_t>(std::lower_bound(first, last, hash) - first);
    return {range_starts_[range] + (smaller == 0 ? 0 : (smaller - 1) * sample_step + 1),
            range_starts_[range] + std::min(here, smaller * sample_step)};
}

result<std::span<const std::uint64_t>> spilled_hashes::read(std::uint64_t low,
                                                            std::optional<std::uint64_t> high,
                                                            std::vector<std::uint64_t>& room) const {
    const std::uint64_t first = places_of(low).first;
    const std::uint64_t last = high ? places_of(*high).last : size();
    const auto count = static_cast<std::size_t>(last - first);
    if (room.capacity() < count) { // anew: to grow would copy, and take up to twice as much
        std::vector<std::uint64_t>().swap(room);
        room.reserve(count);
    }
    room.resize(count);
    auto range = static_cast<std::size_t>(low >> (64 - bits_));
    for (std::uint64_t at = first; at < last; ++range) {
        const std::uint64_t end = std::min(last, range_starts_[range + 1]);
        if (end <= at) continue;
        const auto into =
            std::span(room).subspan(static_cast<std::size_t>(at - first), static_cast<std::size_t>(end - at));
        if (auto ok = transfer(range, at - range_starts_[range], into); !ok) return ok.error();
        at = end;
    }
    const auto from = std::lower_bound(room.begin(), room.end(), low);
    const auto to = high ? std::lower_bound(from, room.end(), *high) : room.end();
    return std::span<const std::uint64_t>(from, to);
}

} // namespace bouncer::detail
