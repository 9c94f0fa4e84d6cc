// What a filter in a file says of itself, and what its bits say: what info prints and doctor judges.
#pragma once

#include <bouncer/any_filter.h>

#include <cstdint>
#include <optional>
#include <string>

namespace bouncer::tool {

// Nothing where a kind does not know, or the file was not told.
struct file_report {
    std::string path;
    snapshot_info info;
    std::uint64_t file_bytes = 0;
    std::string kind;
    std::string parameters; // in words
    std::optional<std::uint64_t> keys_design;
    std::optional<std::uint64_t> keys_added;
    std::optional<double> keys_estimated;       // infinite when every bit is set
    std::optional<std::uint64_t> keys_capacity; // the most at the promised rate
    std::optional<double> fill_ratio;
    std::optional<double> fill_designed; // with as many keys as it was made for
    bool can_overfill = false;           // its fill tells whether it has too many keys
    std::optional<double> fpr_promised;
    std::optional<double> fpr_expected;
    std::optional<double>
        bits_per_key; // of the design; of the keys that are there if they are more, or it is not told
    std::optional<std::uint64_t> epoch;     // of a windowed_bloom
    std::optional<std::uint64_t> epoch_now; // that the clock says, of one that knows its window
    bool overfull = false;                  // more keys than the promised rate allows, beyond chance
    std::optional<std::uint64_t> checksum;  // the footer's, which covers all others; a live file has none
};

// O(m), on one core. Throws tool_error.
file_report report_of(const std::string& path, const snapshot_info& info, const any_filter& filter);

std::string hash_name(const hash_spec& spec); // "xxh3"
bool is_keyed(const hash_spec& spec) noexcept;
std::string id_text(const snapshot_info& info); // 32 hexadecimal digits
std::string time_text(std::int64_t seconds);    // 2026-11-16T12:00:00Z
std::string hex_text(std::uint64_t value);      // 16 digits

} // namespace bouncer::tool
