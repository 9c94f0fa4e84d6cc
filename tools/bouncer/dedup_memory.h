// The ways in which `bouncer dedup` remembers what it has seen.
#pragma once

#include "keys.h"

#include <bouncer/any_hasher.h>
#include <bouncer/change_lock.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bouncer::tool {

// What a run may have lost: lines that were new, and seemed seen.
struct lost_lines {
    double expected = 0;
    std::optional<double> bound; // what the promised rate allows in the mean, where there is one
};

// [exclusive] Throws tool_error.
class dedup_memory {
  public:
    virtual ~dedup_memory() = default;

    // seen[i]: whether the key of record i was there before; it is, afterwards. In order.
    virtual void test_and_add(const chunk& records, std::span<const std::uint64_t> hashes,
                              std::span<bool> seen) = 0;
    virtual lost_lines lost() const = 0;
    virtual std::uint64_t size_bytes() const = 0;
    virtual std::string description() const = 0;
    // To a file that replaces the one of the lock as a whole, or is new where that holds none.
    virtual void commit(const std::string& path, const key_form& form, change_lock& lock) const = 0;
};

struct filter_choice {
    double rate = 1e-6;
    std::uint64_t first_keys = 1'000'000;
    bool counted = false;           // first_keys is the number of lines: no growth is to be expected
    std::uint64_t guessed_keys = 0; // the same as a guess: followed where it asks for little memory
};
// A window of time, or of lines.
struct window_choice {
    std::optional<double> seconds;
    std::uint64_t lines = 0;
};

// With `state`, what it holds; a file that was made in another way is an error.
// `distinct`: how many lines there may be that differ, where a guess can be made.
std::unique_ptr<dedup_memory> make_fingerprint_memory(const any_hasher& hasher, std::uint64_t distinct,
                                                      const std::optional<std::string>& state);
std::unique_ptr<dedup_memory> make_exact_memory(const input_options& where, const key_form& form);
std::unique_ptr<dedup_memory> make_filter_memory(const any_hasher& hasher, const filter_choice& how,
                                                 const std::optional<std::string>& state);
std::unique_ptr<dedup_memory> make_window_memory(const any_hasher& hasher, const window_choice& how,
                                                 const std::optional<std::string>& state);

} // namespace bouncer::tool
