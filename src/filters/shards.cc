#include "filters/shards.h"

#include <bouncer/detail/bits.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/parallel.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace bouncer::detail {

namespace {

constexpr std::uint64_t line_words = 8;

std::uint64_t whole_lines(std::uint64_t words) noexcept {
    return (words + line_words - 1) / line_words * line_words;
}

// Shards of random hashes are alike; a fiftieth more for the largest, and what is read at both ends of it.
std::uint64_t largest_shard(std::uint64_t keys, std::uint64_t shards) noexcept {
    const std::uint64_t mean = keys / shards;
    return mean + mean / 50 + 8192;
}

// What the threads share. Shards are handed out in order and put down in order, so that their places depend on nothing
// but the set; a thread that has finished one waits for the threads that still work on those before it.
class assembly {
  public:
    assembly(const sorted_hashes& set, const shard_plan& plan, const build_options& options,
             region words) noexcept
        : set_(set), plan_(plan), options_(options), words_(std::move(words)),
          used_(directory_words(plan.shards, plan.entry_words)) {}

    // [any-thread]
    void work() noexcept {
        const auto done = guarded([&]() -> result<void> {
            build_shards();
            return {};
        });
        if (!done) fail(0, done.error());
    }

    // On the thread that builds only. False: the user says stop.
    bool report(std::uint64_t done) {
        if (!options_.progress || options_.progress({build_stage::building, done, set_.size()})) return true;
        fail(0, {error_code::cancelled, "the build was cancelled while building"});
        return false;
    }

    // When all threads are done.
    bool failed() const noexcept { return why_.has_value(); }
    result<assembled> finish() {
        if (why_) return *why_;
        return assembled{std::move(words_), used_};
    }

  private:
    // Throws std::bad_alloc.
    void build_shards() {
        const auto builder = plan_.make_builder();
        std::vector<std::uint64_t> room;
        if (!set_.in_memory()) make_room(room, largest_shard(set_.size(), plan_.shards));
        std::vector<std::uint64_t> entry(plan_.entry_words);
        shard_words out{.entry = entry, .words = {}};
        while (true) {
            const std::uint64_t shard = next_.fetch_add(1, std::memory_order_relaxed);
            if (shard >= plan_.shards || stopped_.load(std::memory_order_relaxed)) return;
            std::fill(entry.begin(), entry.end(), 0);
            auto hashes = set_.shard(shard, plan_.shards, room);
            if (!hashes) return fail(shard, hashes.error());
            if (auto ok = builder->build(*hashes, shard, out); !ok) return fail(shard, ok.error());
            if (!put_down(shard, out)) return;
            const std::uint64_t done =
                done_.fetch_add(hashes->size(), std::memory_order_relaxed) + hashes->size();
            // Whichever part is on the thread that builds: more than one, where threads cannot be started.
            if (std::this_thread::get_id() == caller_ && !report(done)) return;
        }
    }

    // False: another shard failed, or this one has no room.
    bool put_down(std::uint64_t shard, const shard_words& out) {
        std::unique_lock lock(mutex_);
        turn_.wait(lock, [&] { return put_down_ == shard || why_; });
        if (why_) return false;
        const std::uint64_t need = used_ + whole_lines(out.words.size());
        if (need > words_.size_bytes() / sizeof(std::uint64_t) && !grow(need)) return false;
        auto* const words = static_cast<std::uint64_t*>(words_.data());
        std::memcpy(words + used_, out.words.data(), out.words.size() * sizeof(std::uint64_t));
        std::uint64_t* const entry = words + shard * plan_.entry_words;
        std::copy(out.entry.begin(), out.entry.end(), entry);
        entry[0] |= used_;
        used_ = need;
        ++put_down_;
        turn_.notify_all();
        return true;
    }

    // The plan expected fewer words. Under the lock.
    bool grow(std::uint64_t need) {
        auto larger = region::allocate((need + need / 16) * sizeof(std::uint64_t), options_.memory);
        if (!larger) {
            why_ = larger.error();
            stopped_.store(true, std::memory_order_relaxed);
            turn_.notify_all();
            return false;
        }
        std::memcpy(larger->data(), words_.data(), used_ * sizeof(std::uint64_t));
        words_ = std::move(*larger);
        return true;
    }

    void fail(std::uint64_t shard, failure why) noexcept {
        const std::scoped_lock lock(mutex_);
        stopped_.store(true, std::memory_order_relaxed);
        if (!why_ || shard < failed_shard_) {
            why_ = std::move(why);
            failed_shard_ = shard;
        }
        turn_.notify_all();
    }

    const sorted_hashes& set_;
    const shard_plan& plan_;
    const build_options& options_;
    const std::thread::id caller_ = std::this_thread::get_id();
    std::atomic<std::uint64_t> next_ = 0;
    std::atomic<std::uint64_t> done_ = 0;
    std::atomic<bool> stopped_ = false;
    std::mutex mutex_; // of all below
    std::condition_variable turn_;
    region words_;
    std::uint64_t used_;
    std::uint64_t put_down_ = 0;
    std::uint64_t failed_shard_ = 0;
    std::optional<failure> why_;
};

} // namespace

result<assembled> assemble_shards(const sorted_hashes& set, const shard_plan& plan,
                                  const build_options& options) {
    const std::uint64_t words = directory_words(plan.shards, plan.entry_words) + plan.expected_words;
    if (words > words_most)
        return failure{error_code::too_large,
                       "a filter has at most 2^44 words, and this one would have " + std::to_string(words)};
    unsigned threads = std::min<unsigned>(thread_count(options.threads, set.size()),
                                          static_cast<unsigned>(std::min<std::uint64_t>(plan.shards, 256)));
    if (options.memory_cap_bytes != 0) {
        const std::uint64_t of_hashes =
            set.in_memory() ? 0 : sizeof(std::uint64_t); // else they are read into memory
        const std::uint64_t scratch =
            largest_shard(set.size(), plan.shards) * (plan.scratch_bytes_per_key + of_hashes);
        const std::uint64_t held = set.memory_bytes() + words * sizeof(std::uint64_t);
        if (held + scratch > options.memory_cap_bytes)
            return failure{error_code::too_large,
                           "the memory cap of " + std::to_string(options.memory_cap_bytes) +
                               " bytes is too small: the filter and what it takes to build it need " +
                               std::to_string(held + scratch)};
        threads = static_cast<unsigned>(
            std::min<std::uint64_t>(threads, (options.memory_cap_bytes - held) / scratch));
    }
    auto memory = region::allocate(words * sizeof(std::uint64_t), options.memory);
    if (!memory) return memory.error();
    assembly all(set, plan, options, std::move(*memory));
    // Told at both ends too: the calling thread may be left without a shard, and would never be asked.
    if (all.report(0)) {
        run_parallel(threads, [&](unsigned, unsigned) { all.work(); });
        if (!all.failed()) all.report(set.size());
    }
    return all.finish();
}

result<void> check_static_goal(const goal& wanted) {
    if (wanted.prefer == prefer::adds)
        return failure{error_code::invalid_argument,
                       "a static filter takes no adds: prefer reads or space, or use a kind that adds, such "
                       "as blocked_bloom"};
    goal some = wanted;
    some.keys = 1;
    return check_goal(some);
}

} // namespace bouncer::detail
