// What the tutorial rows share: repetitions, keys, and the list that rows go to.
#pragma once

#include "clock.h"
#include "row.h"
#include "tutorial.h"

#include <bouncer/region.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::tutorial {

inline constexpr double rate = 0.01; // of filters that are not about rates

// Makes the compiler believe that the value is used.
template <class T>
void use(const T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

// Nothing after it starts before everything before it is done: the next query cannot overlap with this one, not even by
// a guess of the branch predictor, which a dependence on the answer does not stop.
inline void wait_for_all_loads() {
#if defined(__x86_64__)
    asm volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
    asm volatile("dsb ld\n\tisb" : : : "memory");
#endif
}

row row_of(std::string name, std::string kind, std::string op, std::uint64_t keys);

// The rows so far, and what the run was asked for.
class sheet {
  public:
    explicit sheet(const tutorial_options& options);

    bool wants(std::string_view name) const { return !options_.wanted || options_.wanted(name); }
    std::uint64_t keys() const { return options_.keys; }
    unsigned threads() const { return options_.threads; }
    unsigned repeat() const { return options_.repeat; }
    std::uint64_t max_bytes() const { return options_.max_bytes; }

    // Runs `round` (after `before`, untimed) `repeat` times; it returns nanoseconds, for `operations` operations. Fills
    // ns_min, ns_median, mops and rounds, and appends the row.
    void measure(row made, std::uint64_t operations, const std::function<void()>& before,
                 const std::function<double()>& round);
    // A row that could not be made.
    void unmeasured(row made, std::string_view why);

    std::vector<row> take() { return std::move(rows_); }

  private:
    tutorial_options options_;
    std::vector<row> rows_;
};

// work() on this thread, by its CPU clock.
template <class Work>
double timed(Work work) {
    const stopwatch watch;
    work();
    return watch.elapsed_ns();
}

// work(thread) on `threads` threads that start together, by the wall clock, times the number of threads: what one
// operation costs the thread that makes it.
double timed_together(unsigned threads, const std::function<void(unsigned)>& work);

// Keys as texts have them: 16 characters with a running number, "key-000000000042".
class text_keys {
  public:
    text_keys(std::uint64_t first, std::uint64_t count);
    std::span<const std::string_view> all() const { return views_; }
    std::span<const std::string_view> part(unsigned index, unsigned parts) const;

  private:
    std::string letters_;
    std::vector<std::string_view> views_;
};

// Present or absent by the toss of a coin, in the order of both: as many as the shorter has.
std::vector<std::string_view> shuffled(std::span<const std::string_view> present,
                                       std::span<const std::string_view> absent);

// Well mixed 64-bit hashes: number `first` and the following ones of one endless list.
std::vector<std::uint64_t> hashes(std::uint64_t first, std::uint64_t count);

inline double bits_per_key(std::uint64_t bytes, std::uint64_t keys) {
    return static_cast<double>(bytes) * 8 / static_cast<double>(keys);
}
template <class Filter, class Keys>
double rate_of(const Filter& filter, const Keys& absent) {
    std::uint64_t found = 0;
    for (const auto& key : absent) found += filter(key);
    return static_cast<double>(found) / static_cast<double>(absent.size());
}

// "4K" or "2M", by what the kernel did.
std::string page_size_of(const bouncer::region& memory);
std::string size_name(std::uint64_t bytes); // "4KiB", "1GiB"

// One per theme.
void string_rows(sheet& rows);  // tutorial_strings.cc: insert, lookup, mix
void hash_rows(sheet& rows);    // tutorial_hashes.cc
void store_rows(sheet& rows);   // tutorial_store.cc
void layout_rows(sheet& rows);  // tutorial_layouts.cc: flat against blocked, latency by size
void lock_rows(sheet& rows);    // tutorial_locks.cc: the ladder
void padding_rows(sheet& rows); // tutorial_padding.cc
void page_rows(sheet& rows);    // tutorial_pages.cc: first touch, small against huge

} // namespace bench::tutorial
