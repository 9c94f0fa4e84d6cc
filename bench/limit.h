// The memory limit: how fast random lines of a buffer can be read at all. The loops live in the shared objects of
// subjects, so that the native one has its machine's vector loads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

// Reads line `below(hash, lines)` for every hash and returns something that depends on every line. `answers` has room
// for limit_answers; the loop that stands for the library's own writes one per hash, round and round.
struct limit_loop {
    const char* name;
    std::uint64_t (*run)(const std::uint64_t* words, std::uint64_t lines, const std::uint64_t* hashes,
                         std::size_t count, bool* answers);
};
inline constexpr std::size_t limit_answers = 4096;

struct limit_list {
    const limit_loop* loops;
    std::size_t count;
};
using limits_function = const limit_list* (*)();
inline constexpr const char* limits_symbol = "bouncer_bench_limits";

} // namespace bench
