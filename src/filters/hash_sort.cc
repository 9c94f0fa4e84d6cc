#include "filters/hash_sort.h"

#include <bouncer/detail/parallel.h>
#include <bouncer/detail/sorted_hashes.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bouncer::detail {

// ---- progress --------------------------------------------------------------------------------------------------------

bool build_watch::report(build_stage stage, std::uint64_t done, std::uint64_t total, bool always) {
    if (stopped()) return false;
    if (!progress_) return true;
    if (!always && stage == last_.stage && done < last_.done + step) return true;
    last_ = {stage, done, total};
    if (progress_(last_)) return true;
    cancelled_ = true;
    stop();
    return false;
}

failure build_watch::why() const {
    const char* const doing = last_.stage == build_stage::gathering ? "gathering" : "sorting";
    return {error_code::cancelled, "the build was cancelled by its progress callback while " +
                                       std::string(doing) + ", after " + std::to_string(last_.done) +
                                       " hashes"};
}

// ---- parting ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t line_words = 8;
constexpr std::size_t at_once = std::size_t{1} << 16; // hashes between looks at the watch

// Calls work(span) for the hashes first..last of all pieces, in spans of at most `at_once`, while it returns true.
template <class Work>
void for_hashes(hash_pieces pieces, std::uint64_t first, std::uint64_t last, Work work) {
    std::uint64_t before = 0;
    for (const auto piece : pieces) {
        const std::uint64_t from = std::max(first, before);
        const std::uint64_t to = std::min<std::uint64_t>(last, before + piece.size());
        for (std::uint64_t at = from; at < to; at += at_once)
            if (!work(piece.subspan(static_cast<std::size_t>(at - before),
                                    static_cast<std::size_t>(std::min<std::uint64_t>(at_once, to - at)))))
                return;
        before += piece.size();
    }
}

// Writes hashes of one thread to their parts a whole line at a time: single words would fetch the line first and fight for
// the entries of the page tables.
struct line_writer {
    std::uint64_t* into;
    std::uint64_t* lines;        // a line for each part
    std::uint64_t* next;         // where the next hash of a part goes
    const std::uint64_t* starts; // where this thread's first one went
    unsigned shift;

    [[gnu::always_inline]] void put(std::uint64_t hash) const noexcept {
        const std::size_t part = static_cast<std::size_t>(hash >> shift);
        const std::uint64_t at = next[part];
        next[part] = at + 1;
        std::uint64_t* const line = lines + part * line_words;
        line[at % line_words] = hash;
        if (at % line_words == line_words - 1) flush(part, line, at);
    }
    void flush(std::size_t part, const std::uint64_t* line, std::uint64_t at) const noexcept {
        const std::uint64_t first = at - (line_words - 1);
        if (first < starts[part]) [[unlikely]] { // another thread's or part's words are in the line
            const std::uint64_t skipped = starts[part] % line_words;
            std::memcpy(into + starts[part], line + skipped, (line_words - skipped) * sizeof *line);
            return;
        }
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
        for (std::size_t i = 0; i < line_words; i += 2)
            _mm_stream_si128(reinterpret_cast<__m128i*>(into + first + i),
                             _mm_load_si128(reinterpret_cast<const __m128i*>(line + i)));
#else
        std::memcpy(into + first, line, line_words * sizeof *line);
#endif
    }
    void finish(std::size_t parts) const noexcept {
        for (std::size_t part = 0; part < parts; ++part) {
            const std::uint64_t line_start = next[part] / line_words * line_words;
            const std::uint64_t first = std::max(starts[part], line_start);
            if (first < next[part])
                std::memcpy(into + first, lines + part * line_words + first % line_words,
                            static_cast<std::size_t>(next[part] - first) * sizeof *lines);
        }
#if defined(__SSE2__)
        _mm_sfence(); // writes past the cache are not ordered by what the thread's end orders
#endif
    }
};

} // namespace

result<hash_parts> partition_hashes(hash_pieces pieces, std::uint64_t seed_word, unsigned bits,
                                    unsigned threads, std::uint64_t* into, const partition_report& from,
                                    build_watch& watch) {
    std::uint64_t total = 0;
    for (const auto piece : pieces) total += piece.size();
    const std::size_t parts = std::size_t{1} << bits;
    if (threads > 1 && total < std::uint64_t{parts} * threads) threads = 1;
    return guarded([&]() -> result<hash_parts> {
        hash_parts out{bits, {}};
        out.starts.resize(parts + 1);
        std::vector<std::uint64_t> next(parts * threads);
        std::vector<std::uint64_t> starts(parts * threads);
        auto lines =
            region::allocate(parts * threads * line_words * sizeof(std::uint64_t), {.huge_pages = false});
        if (!lines) return lines.error();
        const auto first_of = [&](unsigned part) {
            return static_cast<std::uint64_t>(static_cast<uint128>(total) * part / threads);
        };
        const unsigned shift = 64 - bits; // not used for 0 bits, where all are one part
        std::atomic<std::uint64_t> done{0};
        std::uint64_t told = 0; // of done, by thread 0
        const auto go_on = [&](unsigned thread, std::size_t handled) {
            const std::uint64_t sum = done.fetch_add(handled, std::memory_order_relaxed) + handled;
            if (thread != 0 || sum < told + build_watch::step) return !watch.stopped();
            told = sum;
            // Counting is half of the work.
            return watch.report(from.stage, from.before + (from.counts ? sum / 2 : 0), from.total, true);
        };
        run_parallel(threads, [&](unsigned thread, unsigned) noexcept {
            std::uint64_t* const counts = next.data() + parts * thread;
            for_hashes(pieces, first_of(thread), first_of(thread + 1), [&](auto some) {
                for (const std::uint64_t hash : some)
                    ++counts[bits == 0 ? 0 : seeded(hash, seed_word) >> shift];
                return go_on(thread, some.size());
            });
        });
        if (watch.stopped()) return watch.why();
        std::uint64_t before = 0;
        for (std::size_t part = 0; part < parts; ++part) {
            out.starts[part] = before;
            for (unsigned thread = 0; thread < threads; ++thread) {
                std::uint64_t& each = next[parts * thread + part];
                starts[parts * thread + part] = before;
                before += std::exchange(each, before);
            }
        }
        out.starts[parts] = before;
        run_parallel(threads, [&](unsigned thread, unsigned) noexcept {
            const line_writer writer{into,
                                     static_cast<std::uint64_t*>(lines->data()) + parts * line_words * thread,
                                     next.data() + parts * thread, starts.data() + parts * thread, shift};
            std::uint64_t at = first_of(thread);
            for_hashes(pieces, at, first_of(thread + 1), [&](auto some) {
                if (bits == 0) {
                    for (const std::uint64_t hash : some) into[at++] = seeded(hash, seed_word);
                } else {
                    for (const std::uint64_t hash : some) writer.put(seeded(hash, seed_word));
                }
                return go_on(thread, some.size());
            });
            if (bits != 0) writer.finish(parts);
        });
        if (!watch.report(from.stage, from.before + (from.counts ? total : 0), from.total, true))
            return watch.why();
        return out;
    });
}

// ---- sorting a part --------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t few = 24;                            // sorted by insertion; more by comparisons
constexpr std::size_t ordered_most = std::size_t{1} << 15; // hashes that are ordered in one go
constexpr unsigned group_bits_most = 14;
constexpr unsigned split_bits = 8;

void insertion_sort(std::uint64_t* first, std::uint64_t* last) noexcept {
    if (last - first < 2) return;
    for (std::uint64_t* next = first + 1; next != last; ++next) {
        const std::uint64_t hash = *next;
        std::uint64_t* hole = next;
        for (; hole != first && hole[-1] > hash; --hole) *hole = hole[-1];
        *hole = hash;
    }
}

void sort_few_or_many(std::uint64_t* first, std::uint64_t* last) noexcept {
    if (static_cast<std::size_t>(last - first) <= few)
        insertion_sort(first, last);
    else
        std::sort(first, last);
}

// Without a branch: whether two are equal cannot be foreseen in sets that repeat.
std::size_t copy_distinct(const std::uint64_t* from, std::size_t count, std::uint64_t* to) noexcept {
    if (count == 0) return 0;
    to[0] = from[0];
    std::size_t kept = 1;
    for (std::size_t i = 1; i < count; ++i) {
        const std::uint64_t hash = from[i];
        const std::size_t is_new = hash != to[kept - 1] ? 1 : 0;
        to[kept - 1 + is_new] = hash;
        kept += is_new;
    }
    return kept;
}

} // namespace

std::size_t sort_distinct_in_place(std::span<std::uint64_t> hashes) noexcept {
    std::sort(hashes.begin(), hashes.end());
    return copy_distinct(hashes.data(), hashes.size(), hashes.data());
}

std::uint64_t sort_scratch::bytes_for(std::uint64_t most) noexcept {
    return most * sizeof(std::uint64_t) + (sizeof(std::uint32_t) << group_bits_most);
}

result<sort_scratch> sort_scratch::make(std::uint64_t most) {
    sort_scratch out;
    out.words_.reset(new (std::nothrow) std::uint64_t[std::max<std::uint64_t>(most, 1)]);
    out.counts_.reset(new (std::nothrow) std::uint32_t[std::size_t{1} << group_bits_most]);
    if (!out.words_ || !out.counts_)
        return failure{error_code::out_of_memory, "no memory to sort " + std::to_string(most) + " hashes by"};
    out.most_ = most;
    return out;
}

// To groups of about one by the next bits, so that all are nearly in order. `to` is other memory than `from`. With groups of
// two the whole sort took 16 ns per hash, not 14, with groups of four 19.
void sort_scratch::order(std::span<const std::uint64_t> from, std::uint64_t* to,
                         unsigned same_bits) noexcept {
    unsigned bits = 0;
    while (bits < group_bits_most && (from.size() >> bits) > 1) ++bits;
    bits = std::min(bits, 64 - same_bits);
    if (bits == 0 || from.size() > ordered_most * 2) {
        std::memcpy(to, from.data(), from.size_bytes());
        sort_few_or_many(to, to + from.size());
        return;
    }
    const std::size_t groups = std::size_t{1} << bits;
    const unsigned shift = 64 - bits;
    std::uint32_t* const ends = counts_.get();
    std::memset(ends, 0, groups * sizeof *ends);
    for (const std::uint64_t hash : from) ++ends[(hash << same_bits) >> shift];
    std::uint32_t sum = 0;
    std::uint32_t largest = 0;
    for (std::size_t group = 0; group < groups; ++group) {
        const std::uint32_t count = std::exchange(ends[group], sum);
        largest = std::max(largest, count);
        sum += count;
    }
    for (const std::uint64_t hash : from) to[ends[(hash << same_bits) >> shift]++] = hash;
    if (largest > few) { // repetitions, or no good hashes
        std::uint32_t first = 0;
        for (std::size_t group = 0; group < groups; ++group) {
            if (ends[group] - first > few) std::sort(to + first, to + ends[group]);
            first = ends[group];
        }
    }
    insertion_sort(to, to + from.size()); // none has far to go
}

// By the next bits to the scratch memory, and from there back in order.
void sort_scratch::split(std::span<std::uint64_t> hashes, unsigned same_bits) noexcept {
    constexpr std::size_t pieces = std::size_t{1} << split_bits;
    std::uint64_t ends[pieces] = {};
    for (const std::uint64_t hash : hashes) ++ends[(hash << same_bits) >> (64 - split_bits)];
    std::uint64_t sum = 0;
    for (std::uint64_t& each : ends) sum += std::exchange(each, sum);
    for (const std::uint64_t hash : hashes) words_[ends[(hash << same_bits) >> (64 - split_bits)]++] = hash;
    std::uint64_t first = 0;
    for (const std::uint64_t last : ends) {
        order({words_.get() + first, static_cast<std::size_t>(last - first)}, hashes.data() + first,
              same_bits + split_bits);
        first = last;
    }
}

std::size_t sort_scratch::sort_distinct(std::span<std::uint64_t> hashes, unsigned same_bits) noexcept {
    if (hashes.size() <= few) {
        insertion_sort(hashes.data(), hashes.data() + hashes.size());
        return copy_distinct(hashes.data(), hashes.size(), hashes.data());
    }
    if (hashes.size() > most_ || same_bits + split_bits > 64) return sort_distinct_in_place(hashes);
    if (hashes.size() > ordered_most) {
        split(hashes, same_bits);
        return copy_distinct(hashes.data(), hashes.size(), hashes.data());
    }
    order(hashes, words_.get(), same_bits);
    return copy_distinct(words_.get(), hashes.size(), hashes.data());
}

// ---- the whole in memory ---------------------------------------------------------------------------------------------

result<region> allocate_hashes(std::uint64_t count) {
    if (count > (std::uint64_t{1} << 59))
        return failure{error_code::too_large,
                       std::to_string(count) + " hashes are more than a machine holds"};
    return region::allocate(std::max<std::uint64_t>(count, 1) * sizeof(std::uint64_t), {.prefault = false});
}

unsigned part_bits_for(std::uint64_t hashes) noexcept {
    constexpr std::uint64_t in_part = 8192;
    unsigned bits = 0;
    while (bits < 11 && (hashes >> bits) > in_part) ++bits;
    return bits;
}

result<sorted_array> sort_parts(region into, const hash_parts& parts, unsigned threads, build_watch& watch) {
    auto* const words = static_cast<std::uint64_t*>(into.data());
    const std::size_t count = parts.starts.size() - 1;
    const std::uint64_t total = parts.starts.back();
    std::vector<std::uint64_t> kept;
    std::vector<sort_scratch> scratch;
    const auto ready = guarded([&]() -> result<void> {
        kept.resize(count);
        threads = static_cast<unsigned>(std::min<std::size_t>(threads, count));
        // A part of more than its share by a quarter is none of good hashes.
        const std::uint64_t most = total / count + total / count / 4 + 1024;
        for (unsigned thread = 0; thread < threads; ++thread) {
            auto made = sort_scratch::make(most);
            if (!made) return made.error();
            scratch.push_back(std::move(*made));
        }
        return {};
    });
    if (!ready) return ready.error();
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint64_t> done{0};
    run_parallel(threads, [&](unsigned thread, unsigned) noexcept {
        for (;;) {
            if (thread == 0 ? !watch.report(build_stage::sorting, done.load(std::memory_order_relaxed), total)
                            : watch.stopped())
                return;
            const std::size_t part = next.fetch_add(1, std::memory_order_relaxed);
            if (part >= count) return;
            const std::uint64_t first = parts.starts[part];
            const auto size = static_cast<std::size_t>(parts.starts[part + 1] - first);
            kept[part] = scratch[thread].sort_distinct({words + first, size}, parts.bits);
            done.fetch_add(size, std::memory_order_relaxed);
        }
    });
    if (!watch.report(build_stage::sorting, total, total, true)) return watch.why();
    std::uint64_t size = 0;
    for (std::size_t part = 0; part < count; ++part) {
        if (size != parts.starts[part])
            std::memmove(words + size, words + parts.starts[part],
                         static_cast<std::size_t>(kept[part]) * sizeof *words);
        size += kept[part];
    }
    if (size > total / 2) return sorted_array{std::move(into), size};
    // Mostly repetitions: they need not stay while the filter is built.
    auto smaller = allocate_hashes(size);
    if (!smaller) return smaller.error();
    std::memcpy(smaller->data(), words, static_cast<std::size_t>(size) * sizeof *words);
    return sorted_array{std::move(*smaller), size};
}

} // namespace bouncer::detail
