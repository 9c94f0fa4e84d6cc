#include <bouncer/detail/sorted_hashes.h>

#include "filters/hash_sort.h"
#include "filters/spilled_hashes.h"

#include <bouncer/detail/parallel.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace bouncer::detail {

struct sorted_hashes::state {
    std::variant<sorted_array, spilled_hashes> set;
};

namespace {

using gathered = std::variant<sorted_array, spilled_hashes>;

// The smallest hash with fast_range(hash, shards) >= shard. Precondition: shard < shards.
constexpr std::uint64_t first_of_shard(std::uint64_t shard, std::uint64_t shards) noexcept {
    return static_cast<std::uint64_t>(((static_cast<uint128>(shard) << 64) + (shards - 1)) / shards);
}
static_assert(first_of_shard(0, 1) == 0 && first_of_shard(1, 2) == std::uint64_t{1} << 63);
static_assert(fast_range(first_of_shard(2, 3), 3) == 2 && fast_range(first_of_shard(2, 3) - 1, 3) == 1);

// Hashes as a source gives them: chunks, so that nothing is copied when they grow in number.
class hash_buffer {
  public:
    explicit hash_buffer(std::uint64_t most) noexcept : most_(most) {}

    // Where the next hashes go: up to `asked_at_once`. Empty: as many as it may hold.
    result<std::span<std::uint64_t>> room() {
        if (filled_ == chunks_.size() && allocated_ < most_) {
            const std::uint64_t count = std::min(chunk_hashes, most_ - allocated_);
            auto memory = allocate_hashes(count);
            if (!memory) return memory.error();
            auto* const first = static_cast<std::uint64_t*>(memory->data());
            chunks_.push_back({std::move(*memory), {first, static_cast<std::size_t>(count)}, 0});
            allocated_ += count;
        }
        if (filled_ == chunks_.size()) return std::span<std::uint64_t>();
        chunk& now = chunks_[filled_];
        return now.hashes.subspan(now.used, std::min(asked_at_once, now.hashes.size() - now.used));
    }
    void take(std::size_t count) noexcept {
        chunk& now = chunks_[filled_];
        now.used += count;
        size_ += count;
        if (now.used == now.hashes.size()) ++filled_;
    }
    std::uint64_t size() const noexcept { return size_; }
    std::vector<std::span<const std::uint64_t>> pieces() const {
        std::vector<std::span<const std::uint64_t>> out;
        out.reserve(chunks_.size());
        for (const chunk& each : chunks_)
            if (each.used != 0) out.push_back(each.hashes.first(each.used));
        return out;
    }
    void forget() noexcept { // but not the memory
        for (chunk& each : chunks_) each.used = 0;
        filled_ = 0;
        size_ = 0;
    }

  private:
    static constexpr std::size_t asked_at_once = std::size_t{1} << 16;
    static constexpr std::uint64_t chunk_hashes = std::uint64_t{1} << 19; // 4 MiB
    struct chunk {
        region memory;
        std::span<std::uint64_t> hashes;
        std::size_t used;
    };

    std::uint64_t most_;
    std::uint64_t allocated_ = 0;
    std::uint64_t size_ = 0;
    std::size_t filled_ = 0; // chunks
    std::vector<chunk> chunks_;
};

class gatherer {
  public:
    gatherer(const build_options& options, const spill_plan& plan) noexcept
        : options_(options), plan_(plan), watch_(options) {}

    result<gathered> from(std::span<const std::uint64_t> hashes) {
        const std::span<const std::uint64_t> whole[] = {hashes};
        if (hashes.size() <= plan_.in_memory) return in_memory(whole, {.total = hashes.size()}, nullptr);
        auto file = spilled_hashes::begin(plan_, options_, hashes.size());
        if (!file) return file.error();
        for (std::size_t at = 0; at < hashes.size();) {
            const auto count =
                static_cast<std::size_t>(std::min<std::uint64_t>(plan_.run, hashes.size() - at));
            const std::span<const std::uint64_t> pieces[] = {hashes.subspan(at, count)};
            if (auto ok = file->append(pieces, {.before = at, .total = hashes.size()}, watch_); !ok)
                return ok.error();
            at += count;
        }
        return sorted(std::move(*file));
    }

    result<gathered> from(const hash_source& source) {
        hash_buffer buffer(plan_.in_memory);
        std::optional<spilled_hashes> file;
        std::uint64_t count = 0;
        if (!watch_.report(build_stage::gathering, 0, 0, true)) return watch_.why();
        for (;;) {
            auto room = buffer.room();
            if (!room) return room.error();
            if (room->empty()) {
                if (auto ok = spill(buffer, count, file); !ok) return ok.error();
                continue;
            }
            auto got = ask(source, *room);
            if (!got) return got.error();
            if (*got == 0) break;
            buffer.take(*got);
            count += *got;
            if (!watch_.report(build_stage::gathering, count, 0)) return watch_.why();
        }
        if (!file)
            return in_memory(buffer.pieces(),
                             {.stage = build_stage::sorting, .total = count, .counts = false}, &buffer);
        if (buffer.size() != 0)
            if (auto ok = spill(buffer, count, file); !ok) return ok.error();
        buffer = hash_buffer(0);
        return sorted(std::move(*file));
    }

    // What the source threw, to be passed on when all of the build's own is gone.
    const std::exception_ptr& thrown() const noexcept { return thrown_; }

  private:
    result<gathered> in_memory(hash_pieces pieces, const partition_report& from,
                               hash_buffer* freed_when_parted) {
        auto memory = allocate_hashes(from.total);
        if (!memory) return memory.error();
        auto parts = partition_hashes(pieces, seed_word_of(options_.seed), part_bits_for(from.total),
                                      threads_for(from.total), static_cast<std::uint64_t*>(memory->data()),
                                      from, watch_);
        if (!parts) return parts.error();
        if (freed_when_parted != nullptr) *freed_when_parted = hash_buffer(0);
        auto array = sort_parts(std::move(*memory), *parts, threads_for(from.total), watch_);
        if (!array) return array.error();
        return gathered(std::move(*array));
    }
    unsigned threads_for(std::uint64_t hashes) const noexcept {
        return std::min(plan_.threads, thread_count(options_.threads, static_cast<std::size_t>(hashes)));
    }

    result<void> spill(hash_buffer& buffer, std::uint64_t count, std::optional<spilled_hashes>& file) {
        if (!file) {
            auto made = spilled_hashes::begin(plan_, options_, 0);
            if (!made) return made.error();
            file.emplace(std::move(*made));
        }
        const auto pieces = buffer.pieces();
        const partition_report report{.before = count, .counts = false};
        for (std::size_t first = 0;
             first < pieces.size();) { // all at once, but for a memory of 16 GiB and more
            std::size_t last = first;
            for (std::uint64_t sum = 0; last < pieces.size() && sum + pieces[last].size() <= plan_.run;
                 ++last)
                sum += pieces[last].size();
            if (auto ok = file->append(hash_pieces(pieces).subspan(first, last - first), report, watch_); !ok)
                return ok;
            first = last;
        }
        buffer.forget();
        return {};
    }

    result<gathered> sorted(spilled_hashes file) {
        if (auto ok = file.sort(watch_); !ok) return ok.error();
        return gathered(std::move(file));
    }

    result<std::size_t> ask(const hash_source& source, std::span<std::uint64_t> room) {
        try {
            auto got = source(room);
            if (got && *got > room.size())
                return failure{error_code::io, "the source of hashes was asked for " +
                                                   std::to_string(room.size()) +
                                                   " of them, and says it gave " + std::to_string(*got)};
            return got;
        } catch (...) {
            thrown_ = std::current_exception();
            return failure{error_code::cancelled, {}};
        }
    }

    const build_options& options_;
    const spill_plan& plan_;
    build_watch watch_;
    std::exception_ptr thrown_;
};

template <class From>
result<gathered> gather_all(const From& from, const build_options& options, std::size_t at_most) {
    auto plan = spill_plan::of(options.memory_cap_bytes, thread_count(options.threads, at_most));
    if (!plan) return plan.error();
    gatherer work(options, *plan);
    auto out = work.from(from);
    if (work.thrown()) std::rethrow_exception(work.thrown());
    return out;
}

} // namespace

sorted_hashes::sorted_hashes(std::unique_ptr<state> held) noexcept : held_(std::move(held)) {}
sorted_hashes::sorted_hashes(sorted_hashes&&) noexcept = default;
sorted_hashes& sorted_hashes::operator=(sorted_hashes&&) noexcept = default;
sorted_hashes::~sorted_hashes() = default;

result<sorted_hashes> sorted_hashes::gather(std::span<const std::uint64_t> hashes,
                                            const build_options& options) {
    return guarded([&]() -> result<sorted_hashes> {
        auto set = gather_all(hashes, options, hashes.size());
        if (!set) return set.error();
        return sorted_hashes(std::make_unique<state>(state{std::move(*set)}));
    });
}

result<sorted_hashes> sorted_hashes::gather(const hash_source& source, const build_options& options) {
    return guarded([&]() -> result<sorted_hashes> {
        auto set = gather_all(source, options, std::numeric_limits<std::size_t>::max());
        if (!set) return set.error();
        return sorted_hashes(std::make_unique<state>(state{std::move(*set)}));
    });
}

std::uint64_t sorted_hashes::size() const noexcept {
    if (const auto* const array = std::get_if<sorted_array>(&held_->set)) return array->size;
    return std::get_if<spilled_hashes>(&held_->set)->size();
}

std::uint64_t sorted_hashes::memory_bytes() const noexcept {
    if (const auto* const array = std::get_if<sorted_array>(&held_->set)) return array->words.size_bytes();
    return std::get_if<spilled_hashes>(&held_->set)->memory_bytes();
}

bool sorted_hashes::in_memory() const noexcept {
    return std::holds_alternative<sorted_array>(held_->set);
}

result<std::span<const std::uint64_t>> sorted_hashes::shard(std::uint64_t shard, std::uint64_t shards,
                                                            std::vector<std::uint64_t>& room) const {
    const std::uint64_t low = first_of_shard(shard, shards);
    const std::optional<std::uint64_t> high =
        shard + 1 == shards ? std::nullopt : std::optional(first_of_shard(shard + 1, shards));
    const auto* const array = std::get_if<sorted_array>(&held_->set);
    if (array == nullptr) return std::get_if<spilled_hashes>(&held_->set)->read(low, high, room);
    const auto all = array->hashes();
    const auto first = std::lower_bound(all.begin(), all.end(), low);
    const auto last = high ? std::lower_bound(first, all.end(), *high) : all.end();
    return std::span<const std::uint64_t>(first, last);
}

} // namespace bouncer::detail
