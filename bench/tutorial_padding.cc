// Shards packed one behind the other, whose locks share cache lines, against shards on lines of their own. The library
// has only the second; the first is here to be seen.
#include "tutorial_support.h"

#include <bouncer/blocked_bloom.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <thread>
#include <utility>

namespace bench::tutorial {

namespace {

// One byte, so that packed locks do lie on one line. (40 bytes of std::mutex share lines too, but futex calls hide it.)
class spin_lock {
  public:
    void lock() noexcept {
        for (unsigned tries = 1; busy_.exchange(true, std::memory_order_acquire); ++tries)
            if (tries % 64 == 0) std::this_thread::yield(); // its owner may be waiting for this core
    }
    void unlock() noexcept { busy_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> busy_ = false;
};

struct packed_slot {
    spin_lock lock;
    std::uint64_t adds = 0;
};
struct alignas(64) padded_slot : packed_slot {};

// Aligned to a line, so that it is known which slots share one: four packed ones do.
template <class Slot>
class shards {
  public:
    static constexpr unsigned most = 256;

    static bouncer::result<std::unique_ptr<shards>> create(std::uint64_t keys, unsigned count) {
        auto made = std::make_unique<shards>();
        for (unsigned i = 0; i < count; ++i) {
            auto filter =
                bouncer::plain_blocked_bloom::create({.keys = keys / count + 1, .false_positive_rate = rate});
            if (!filter) return filter.error();
            made->filters_.push_back(std::move(*filter));
        }
        return made;
    }

    void add(std::size_t shard, std::uint64_t hash) noexcept {
        slots_[shard].lock.lock();
        slots_[shard].adds += filters_[shard].add(hash);
        slots_[shard].lock.unlock();
    }
    void clear() noexcept {
        for (auto& filter : filters_) filter.clear();
    }
    std::uint64_t size_bytes() const noexcept { return filters_.front().size_bytes() * filters_.size(); }

  private:
    alignas(64) Slot slots_[most] = {};
    alignas(64) std::vector<bouncer::plain_blocked_bloom> filters_;
};

enum class spread : std::uint8_t { own_shard, any_shard };

template <class Slot>
void rows_of(sheet& rows, const char* name, spread how, const char* note) {
    row made = row_of(std::string("tutorial.shards.") + (how == spread::own_shard ? "own." : "any.") + name,
                      "blocked_bloom", "add", rows.keys());
    made.threads = rows.threads();
    made.fpr_promised = rate;

    if (!rows.wants(made.name)) return;
    const unsigned count = std::min(shards<Slot>::most, std::bit_ceil(std::max(4u, rows.threads())));
    auto filter = shards<Slot>::create(rows.keys(), count);
    if (!filter) return rows.unmeasured(made, filter.error().message);
    auto& parts = **filter;
    made.bits_per_key = bits_per_key(parts.size_bytes(), rows.keys());
    made.note = std::string(note) + "; spin locks; wall clock times threads";
    const auto fresh = hashes(0, rows.keys());
    const std::uint64_t each = rows.keys() / rows.threads();
    rows.measure(
        made, each * rows.threads(), [&] { parts.clear(); },
        [&] {
            return timed_together(rows.threads(), [&](unsigned thread) {
                for (const std::uint64_t hash : std::span(fresh).subspan(thread * each, each))
                    parts.add((how == spread::own_shard ? thread : hash) % count, hash);
            });
        });
}

} // namespace

void padding_rows(sheet& rows) {
    rows_of<packed_slot>(rows, "unpadded", spread::own_shard,
                         "each thread has its shard, all locks on one line");
    rows_of<padded_slot>(rows, "padded", spread::own_shard, "each thread has its shard, each lock its line");
    rows_of<packed_slot>(rows, "unpadded", spread::any_shard,
                         "threads meet in shards, all locks on one line");
    rows_of<padded_slot>(rows, "padded", spread::any_shard, "threads meet in shards, each lock its line");
}

} // namespace bench::tutorial
